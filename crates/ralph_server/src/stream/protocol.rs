//! The messages of the WebSocket.

use ralph_run::control::{ControlCommand, Receipt};
use serde::{Deserialize, Serialize};

use crate::problem::ProblemCode;

/// The version of the protocol; told in `hello`. Clients of version 1 are still served.
pub const PROTOCOL_VERSION: u32 = 2;
/// All that a client can say.
pub const FROM_CLIENT: &[&str] = &["subscribe", "unsubscribe", "command"];
/// All that the server says.
pub const TO_CLIENT: &[&str] = &[
    "hello",
    "subscribed",
    "records",
    "reset",
    "lagged",
    "runs",
    "runs_changed",
    "inbox",
    "closed",
    "heartbeat",
    "receipt",
    "error",
];

/// What a client says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum FromClient {
    /// Tell me about this.
    Subscribe {
        /// The client's name for this request.
        #[serde(default)]
        id: Option<String>,
        /// What.
        #[serde(flatten)]
        topic: Topic,
        /// The last record that the client has; the end if absent.
        #[serde(default)]
        after: Option<u64>,
        /// The journal it had it from.
        #[serde(default)]
        epoch: Option<String>,
        /// The version of the protocol that the client knows; 1 if absent. From 2 on, the list `runs` is told as
        /// `runs_changed` after the first message.
        #[serde(default)]
        protocol: Option<u32>,
    },
    /// Not any more.
    Unsubscribe {
        /// What.
        #[serde(flatten)]
        topic: Topic,
    },
    /// Tell a run something.
    Command {
        /// The client's name for it, unique in the run: the same again is done once.
        id: String,
        /// The run.
        run: String,
        /// What.
        command: ControlCommand,
    },
}

/// What can be watched: a run, or a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub(super) enum Topic {
    /// One run.
    Run(String),
    /// A list.
    Feed(FeedName),
}

/// A list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub(super) enum FeedName {
    /// All runs that go on.
    Runs,
    /// Everything that waits for a person.
    Inbox,
}

/// What the server says, but for what is encoded once for everybody.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ToClient<'a> {
    /// The first thing.
    Hello { protocol: u32, server: &'a str },
    /// The request was understood.
    Subscribed {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        #[serde(flatten)]
        topic: &'a Topic,
        /// Which journal it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epoch: Option<&'a str>,
        /// Records after this one will come.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<u64>,
        /// The last record there is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<u64>,
    },
    /// The journal is another one: forget what you have.
    Reset {
        run: &'a str,
        epoch: &'a str,
        /// Records after this one will come; fetch the others.
        after: u64,
    },
    /// These records will not come this way: fetch them.
    Lagged { run: &'a str, from: u64, to: u64 },
    /// A run is not watched any more, because it was deleted.
    Closed {
        run: &'a str,
        #[serde(flatten)]
        problem: ErrorMessage,
    },
    /// Still there; the last records of the runs that are watched.
    Heartbeat { heads: Vec<(&'a str, u64)> },
    /// What became of a command.
    Receipt {
        id: &'a str,
        run: &'a str,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        receipt: Option<&'a Receipt>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<ErrorMessage>,
    },
    /// A request was not understood, or cannot be done.
    Error {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        #[serde(flatten)]
        problem: ErrorMessage,
    },
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Problem"))]
pub(super) struct ErrorMessage {
    /// For programs.
    #[cfg_attr(feature = "ts", ts(type = "string"))]
    pub(super) code: ProblemCode,
    /// For people.
    pub(super) message: String,
}

impl ErrorMessage {
    /// A run was deleted while it was watched.
    pub(super) fn run_deleted(run: &str) -> Self {
        Self {
            code: ProblemCode::RunDeleted,
            message: format!("the run `{run}` was deleted"),
        }
    }
}

/// What the API would answer: a code has one meaning, whoever says it.
impl<E: Into<crate::problem::Problem>> From<E> for ErrorMessage {
    fn from(error: E) -> Self {
        let problem: crate::problem::Problem = error.into();
        Self {
            code: problem.code(),
            message: problem.detail().to_owned(),
        }
    }
}

impl ToClient<'_> {
    pub(super) fn encode(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{FeedName, FromClient, Topic};

    fn parse(text: &str) -> FromClient {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_run_or_a_list_can_be_watched() {
        let run = parse(r#"{"type":"subscribe","id":"1","run":"r","after":7,"epoch":"e"}"#);
        assert!(
            matches!(run, FromClient::Subscribe { topic: Topic::Run(run), after: Some(7), .. } if run == "r")
        );
        let runs = parse(r#"{"type":"subscribe","feed":"runs"}"#);
        assert!(matches!(
            runs,
            FromClient::Subscribe {
                topic: Topic::Feed(FeedName::Runs),
                after: None,
                ..
            }
        ));
    }

    #[test]
    fn a_command_is_the_one_of_the_control_socket() {
        let command =
            parse(r#"{"type":"command","id":"1","run":"r","command":{"command":"send","text":"x"}}"#);
        assert!(matches!(command, FromClient::Command { .. }));
    }
}
