//! `Beginning`: creates the summary of a run from its first record.

use jiff::Timestamp;
use ralph_run::model::RunState;
use ralph_run::{FORMAT_VERSION, Open, RunKind};
use serde::Deserialize;

use crate::summary::RunSummary;
use ralph_run::RecordHead;
use ralph_run::epoch_of;

/// The message of a run whose first record cannot be read.
const NOT_KNOWN: &str = "the first record of its journal cannot be read: how it was started is not known";

/// The name and the journal of a run, kept until its first record is read.
#[derive(Debug, Default)]
pub(super) struct Beginning {
    /// The name of its directory, which takes precedence over the journal.
    name: Option<String>,
    /// The epoch of the journal, known once its first line was read.
    epoch: Option<String>,
    is_newer: bool,
}

impl Beginning {
    pub(super) fn of(name: String) -> Self {
        Self {
            name: Some(name),
            ..Self::default()
        }
    }

    /// Takes the epoch from the first line, whether or not it is a record.
    pub(super) fn note(&mut self, line: &[u8]) {
        self.epoch.get_or_insert_with(|| epoch_of(line));
    }

    pub(super) fn is_newer(&self) -> bool {
        self.is_newer
    }

    /// The summary after the first record. If that record is lost, a run with a name is created from the next one.
    pub(super) fn begin(&mut self, line: &[u8], head: &RecordHead<'_>, at: Timestamp) -> Option<RunSummary> {
        self.note(line);
        let begun: Option<Begun> = (head.event.kind == "run_started").then(|| head.data()).flatten();
        let version = begun.as_ref().map_or(0, |begun| begun.format_version);
        self.is_newer = version > FORMAT_VERSION;
        let message = match &begun {
            None => Some(NOT_KNOWN.to_owned()),
            Some(_) if self.is_newer => Some(newer_format(version)),
            Some(_) => None,
        };
        let begun = begun.or_else(|| self.name.is_some().then(Begun::default))?;
        Some(RunSummary {
            id: self.name.take().unwrap_or(begun.run_id),
            epoch: self.epoch.take().unwrap_or_default(),
            kind: begun.kind,
            workspace: begun.workspace,
            backend: begun.backend,
            display_name: begun.display_name,
            model: begun.model,
            mode: begun.mode,
            task: begun.task,
            permission_mode: begun.permission_mode,
            title: String::new(),
            tags: Vec::new(),
            started_at: at,
            ended_at: None,
            updated_at: at,
            activity: RunState::Starting,
            reason: None,
            exit_code: None,
            message,
            iteration: 0,
            attempt: 0,
            totals: ralph_run::Totals::default(),
            max_cost_micro_usd: begun.max_cost,
            context: None,
            session_ids: Vec::new(),
            started_by: begun.by,
            resumed_from: begun.resumed_from,
            is_ephemeral: begun.is_ephemeral,
            pending: 0,
            errors: 0,
            head_seq: 0,
        })
    }
}

/// The message of a run whose journal format this version cannot read.
fn newer_format(found: u32) -> String {
    format!(
        "the journal has format {found}; this version of ralph reads up to {FORMAT_VERSION}. Upgrade ralph to read it."
    )
}

/// The first record, read tolerantly: a run of another version is listed, too.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Begun {
    format_version: u32,
    run_id: String,
    workspace: String,
    backend: String,
    display_name: String,
    model: Option<String>,
    mode: Option<String>,
    task: Option<String>,
    permission_mode: Option<String>,
    max_cost: Option<u64>,
    kind: Open<RunKind>,
    by: Option<String>,
    resumed_from: Option<String>,
    is_ephemeral: bool,
}
