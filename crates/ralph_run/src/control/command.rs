//! What can be said to a run.

use agent_api::{GrantId, MicroUsd, PermissionMode, RequestId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::refusal::{Refusal, RefusalCode};
use crate::machine::SendMode;
use crate::reason::LimitKind;

/// Longer ids are refused: they are kept for a while, and they stand in the journal.
const MAX_ID_BYTES: usize = 128;

/// One line from a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ControlRequest {
    /// The client's own name for it, unique within the run: at most 128 of `A-Z a-z 0-9 . _ : -`.
    pub id: String,
    /// Who asks, for people: what the journal and later clients are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What is wanted.
    #[serde(flatten)]
    pub command: ControlCommand,
}

/// What can be said to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum ControlCommand {
    /// Say something to the agent.
    Send {
        /// The message.
        text: String,
        /// When the agent is to see it.
        #[serde(default)]
        mode: SendMode,
    },
    /// Change a message that the agent was not given yet.
    EditMessage {
        /// The message, as its receipt named it.
        message_id: String,
        /// The new words.
        text: String,
    },
    /// Take back a message that the agent was not given yet.
    WithdrawMessage {
        /// The message, as its receipt named it.
        message_id: String,
    },
    /// Answer a request of the agent. The first answer counts.
    Answer {
        /// The request.
        request: RequestId,
        /// The answer.
        answer: AnswerChoice,
    },
    /// End the turn.
    Interrupt,
    /// End the run in good order.
    Stop,
    /// End the run at once.
    Kill,
    /// Nothing more will be said: the agent finishes what it does.
    CloseInput,
    /// Another model from now on.
    SetModel {
        /// The model; none is the agent's default.
        #[serde(default)]
        model: Option<String>,
    },
    /// Change what may happen without asking.
    SetPermissionMode {
        /// The mode.
        mode: PermissionChoice,
    },
    /// Raise limits of the run. If it waits for that, it continues.
    TopUp(TopUp),
    /// How is it going?
    Status,
}

/// How much is added to each limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TopUp {
    /// Micro-dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(as = "Option<u64>"))]
    pub cost: Option<MicroUsd>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
    /// Of the time limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

impl TopUp {
    /// The limits that it names, and by how much each is raised.
    pub fn iter(&self) -> impl Iterator<Item = (LimitKind, u64)> + use<> {
        [
            (LimitKind::Cost, self.cost.map(MicroUsd::as_micro_usd)),
            (LimitKind::Tokens, self.tokens),
            (LimitKind::Iterations, self.iterations.map(u64::from)),
            (LimitKind::Runtime, self.seconds),
        ]
        .into_iter()
        .filter_map(|(limit, amount)| Some((limit, amount?)))
    }
}

/// An answer to a request. It names nothing that a redacted journal could have changed: grants and questions are the
/// ones that the runner holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AnswerChoice {
    /// It may run this once; a plan is approved.
    Allow {
        /// The lasting permissions that are given with it, from the request's list. None by default.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "ts", ts(as = "Option<Vec<GrantId>>", optional))]
        grants: Vec<GrantId>,
    },
    /// From older clients, which could not say what they grant. Accepted only if the request offers exactly one grant
    /// and that is a rule.
    AllowAlways,
    /// It may run with these arguments instead.
    AllowChanged {
        /// The arguments.
        #[cfg_attr(feature = "ts", ts(type = "unknown"))]
        input: Value,
    },
    /// It may not run.
    Deny {
        /// What the model is told.
        reason: String,
    },
    /// It may not run, and the turn ends.
    DenyAndInterrupt {
        /// What the model is told.
        reason: String,
    },
    /// Answers to the questions, one for each, in their order.
    Answers {
        /// The answers.
        answers: Vec<String>,
    },
}

impl AnswerChoice {
    /// Allows this call and grants nothing that lasts.
    #[must_use]
    pub fn allow_once() -> Self {
        Self::Allow { grants: Vec::new() }
    }
}

/// What may happen without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum PermissionChoice {
    /// The agent asks.
    Ask,
    /// Edits need no asking.
    AcceptEdits,
    /// Nothing changes before a plan is approved.
    Plan,
    /// What would be asked is refused.
    Refuse,
    /// Everything is allowed.
    Bypass,
}

impl From<PermissionChoice> for PermissionMode {
    fn from(choice: PermissionChoice) -> Self {
        match choice {
            PermissionChoice::Ask => Self::Ask,
            PermissionChoice::AcceptEdits => Self::AcceptEdits,
            PermissionChoice::Plan => Self::Plan,
            PermissionChoice::Refuse => Self::Refuse,
            PermissionChoice::Bypass => Self::Bypass,
        }
    }
}

impl ControlCommand {
    /// The names of all commands.
    pub const NAMES: &[&str] = &[
        "send",
        "edit_message",
        "withdraw_message",
        "answer",
        "interrupt",
        "stop",
        "kill",
        "close_input",
        "set_model",
        "set_permission_mode",
        "top_up",
        "status",
    ];

    /// The name of the command, as in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Send { .. } => "send",
            Self::EditMessage { .. } => "edit_message",
            Self::WithdrawMessage { .. } => "withdraw_message",
            Self::Answer { .. } => "answer",
            Self::Interrupt => "interrupt",
            Self::Stop => "stop",
            Self::Kill => "kill",
            Self::CloseInput => "close_input",
            Self::SetModel { .. } => "set_model",
            Self::SetPermissionMode { .. } => "set_permission_mode",
            Self::TopUp(_) => "top_up",
            Self::Status => "status",
        }
    }

    /// Whether it changes nothing. A repeated query is answered again.
    pub fn is_query(&self) -> bool {
        matches!(self, Self::Status)
    }

    /// Whether the agent of the run may give it. It may end its own run, but not speak in its user's name.
    pub(super) fn is_open_to_agents(&self) -> bool {
        match self {
            Self::Interrupt | Self::Stop | Self::Kill | Self::Status => true,
            Self::Send { .. }
            | Self::EditMessage { .. }
            | Self::WithdrawMessage { .. }
            | Self::Answer { .. }
            | Self::CloseInput
            | Self::SetModel { .. }
            | Self::SetPermissionMode { .. }
            | Self::TopUp(_) => false,
        }
    }
}

/// What can be told of any line, of a newer client too.
#[derive(Deserialize)]
struct Head {
    id: String,
    #[serde(default)]
    by: Option<String>,
    command: String,
}

impl ControlRequest {
    /// Reads one line.
    ///
    /// # Errors
    /// The refusal, and the id it answers where there is one. Never quotes the line.
    pub fn parse(line: &[u8]) -> Result<Self, (Option<String>, Refusal)> {
        let head: Head = serde_json::from_slice(line).map_err(|error| {
            let what = format!(
                "not a command: {} at column {}; send {{\"id\":…,\"command\":…}}",
                fault(&error),
                error.column()
            );
            (None, Refusal::new(RefusalCode::Malformed, what))
        })?;
        if !is_id(&head.id) {
            let what = "the id needs 1 to 128 of the characters `A-Z a-z 0-9 . _ : -`";
            return Err((None, Refusal::new(RefusalCode::Malformed, what)));
        }
        if head.by.is_some_and(|by| by.len() > MAX_ID_BYTES) {
            let what = "`by` is too long: at most 128 bytes";
            return Err((Some(head.id), Refusal::new(RefusalCode::Invalid, what)));
        }
        if !ControlCommand::NAMES.contains(&head.command.as_str()) {
            let what = format!(
                "no such command in this version: choose one of {}",
                ControlCommand::NAMES.join(", ")
            );
            return Err((Some(head.id), Refusal::new(RefusalCode::UnknownCommand, what)));
        }
        serde_json::from_slice(line).map_err(|error| {
            let what = format!("`{}` cannot be read: {}", head.command, error);
            (Some(head.id), Refusal::new(RefusalCode::Invalid, what))
        })
    }
}

fn is_id(id: &str) -> bool {
    (1..=MAX_ID_BYTES).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte))
}

fn fault(error: &serde_json::Error) -> &'static str {
    match error.classify() {
        serde_json::error::Category::Data => "a field is missing or has the wrong type",
        serde_json::error::Category::Eof => "the JSON is incomplete",
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => "no valid JSON",
    }
}

#[cfg(test)]
mod tests {
    use super::{AnswerChoice, ControlCommand, ControlRequest, PermissionChoice, TopUp};
    use crate::control::RefusalCode;
    use crate::machine::SendMode;
    use agent_api::RequestId;

    fn parse(line: &str) -> Result<ControlRequest, (Option<String>, RefusalCode)> {
        ControlRequest::parse(line.as_bytes()).map_err(|(id, refusal)| (id, refusal.code))
    }

    #[test]
    fn every_command_survives_json_under_its_own_name() {
        let commands = [
            ControlCommand::Send {
                text: "hello\n".into(),
                mode: SendMode::Queue,
            },
            ControlCommand::EditMessage {
                message_id: "m".into(),
                text: "hi".into(),
            },
            ControlCommand::WithdrawMessage {
                message_id: "m".into(),
            },
            ControlCommand::Answer {
                request: RequestId::new("toolu_1"),
                answer: AnswerChoice::Answers {
                    answers: vec!["blue".into()],
                },
            },
            ControlCommand::Interrupt,
            ControlCommand::Stop,
            ControlCommand::Kill,
            ControlCommand::CloseInput,
            ControlCommand::SetModel { model: None },
            ControlCommand::SetPermissionMode {
                mode: PermissionChoice::Plan,
            },
            ControlCommand::TopUp(TopUp {
                cost: Some(agent_api::MicroUsd::new(5_000_000)),
                seconds: Some(60),
                ..TopUp::default()
            }),
            ControlCommand::Status,
        ];
        assert_eq!(
            commands.iter().map(ControlCommand::name).collect::<Vec<_>>(),
            ControlCommand::NAMES
        );
        for command in commands {
            let request = ControlRequest {
                id: "a-1".into(),
                by: Some("browser".into()),
                command,
            };
            let line = serde_json::to_string(&request).unwrap();
            assert!(
                line.contains(&format!("\"command\":\"{}\"", request.command.name())),
                "{line}"
            );
            assert_eq!(parse(&line), Ok(request));
        }
    }

    #[test]
    fn answers_of_older_clients_are_read_and_grant_nothing_by_themselves() {
        let answer = |answer: &str| {
            let line = format!(r#"{{"id":"1","command":"answer","request":"r","answer":{answer}}}"#);
            match parse(&line).unwrap().command {
                ControlCommand::Answer { answer, .. } => answer,
                other => unreachable!("{other:?}"),
            }
        };
        assert_eq!(answer(r#"{"kind":"allow"}"#), AnswerChoice::allow_once());
        assert_eq!(answer(r#"{"kind":"allow_always"}"#), AnswerChoice::AllowAlways);
        let grants = vec![agent_api::GrantId::new("a")];
        assert_eq!(
            answer(r#"{"kind":"allow","grants":["a"]}"#),
            AnswerChoice::Allow { grants }
        );
    }

    #[test]
    fn a_message_steers_unless_it_is_to_wait_its_turn() {
        let request = parse(r#"{"id":"1","command":"send","text":"x"}"#).unwrap();
        assert_eq!(
            request.command,
            ControlCommand::Send {
                text: "x".into(),
                mode: SendMode::Steer
            }
        );
    }

    #[test]
    fn what_cannot_be_read_is_refused_by_kind() {
        use RefusalCode::{Invalid, Malformed, UnknownCommand};
        let one = Some("1".to_owned());
        for (line, id, code) in [
            ("", None, Malformed),
            ("{", None, Malformed),
            ("[]", None, Malformed),
            ("\u{1b}[2J", None, Malformed),
            (r#"{"command":"stop"}"#, None, Malformed),
            (r#"{"id":1,"command":"stop"}"#, None, Malformed),
            (r#"{"id":"","command":"stop"}"#, None, Malformed),
            (r#"{"id":"a b","command":"stop"}"#, None, Malformed),
            (r#"{"id":"1","command":"fly"}"#, one.clone(), UnknownCommand),
            (r#"{"id":"1","command":"send"}"#, one.clone(), Invalid),
            (
                r#"{"id":"1","command":"send","text":"","mode":"x"}"#,
                one.clone(),
                Invalid,
            ),
            (
                r#"{"id":"1","command":"set_permission_mode","mode":"all"}"#,
                one,
                Invalid,
            ),
        ] {
            assert_eq!(parse(line), Err((id, code)), "{line}");
        }
        let long = format!(r#"{{"id":"{}","command":"stop"}}"#, "x".repeat(129));
        assert_eq!(parse(&long), Err((None, Malformed)));
    }

    #[test]
    fn fields_of_a_newer_client_are_ignored() {
        assert!(parse(r#"{"id":"1","command":"stop","because":{"of":["you"]}}"#).is_ok());
    }
}
