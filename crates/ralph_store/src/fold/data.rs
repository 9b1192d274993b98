//! What the fold reads of a record's data. Everything is optional: a record of another version is still a record.

use std::borrow::Cow;

use ralph_run::Totals;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Begun {
    pub(super) run_id: String,
    pub(super) workspace: String,
    pub(super) backend: String,
    pub(super) display_name: String,
    pub(super) model: Option<String>,
    pub(super) mode: Option<String>,
    pub(super) task: Option<String>,
    pub(super) permission_mode: Option<String>,
    pub(super) max_cost: Option<u64>,
    pub(super) kind: Option<String>,
    pub(super) resumed_from: Option<String>,
    pub(super) is_ephemeral: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Over<'a> {
    #[serde(borrow)]
    pub(super) reason: Option<&'a RawValue>,
    pub(super) exit_code: u8,
    pub(super) message: Option<String>,
    pub(super) totals: Totals,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct AttemptOver {
    pub(super) totals: Totals,
    pub(super) session_id: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Prompted<'a> {
    #[serde(borrow)]
    pub(super) prompt: Cow<'a, str>,
}

#[derive(Deserialize)]
pub(super) struct Forked {
    pub(super) actual: String,
}

/// The greeting of a session, or what has changed about it.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Session<'a> {
    #[serde(borrow)]
    pub(super) session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) permission_mode: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
pub(super) struct Tool<'a> {
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
    #[serde(default)]
    pub(super) subject: Option<String>,
    #[serde(borrow)]
    pub(super) state: Cow<'a, str>,
}

#[derive(Deserialize)]
pub(super) struct Changed<'a> {
    #[serde(borrow)]
    pub(super) status: Cow<'a, str>,
}

#[derive(Deserialize)]
pub(super) struct Asked {
    pub(super) request: String,
}

#[derive(Deserialize)]
pub(super) struct Closed<'a> {
    #[serde(borrow)]
    pub(super) request: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) reason: Cow<'a, str>,
}

#[derive(Deserialize)]
pub(super) struct Command<'a> {
    #[serde(borrow)]
    pub(super) command_id: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) command: Cow<'a, str>,
    #[serde(default)]
    pub(super) text: Option<String>,
    #[serde(borrow, default)]
    pub(super) mode: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) message_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) refused: Option<Cow<'a, str>>,
}

/// A message was given to the agent, or the agent says how far it is.
#[derive(Deserialize)]
pub(super) struct MessageNews<'a> {
    #[serde(borrow)]
    pub(super) message_id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) state: Cow<'a, str>,
}

/// A report of usage. What it says about itself (`tokens`, `scope`) is not needed: the run's total has it all.
#[derive(Deserialize)]
pub(super) struct Used<'a> {
    #[serde(borrow, default)]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) context: Option<agent_api::ContextUse>,
    pub(super) run: agent_api::RunUsage,
}
