//! What a runner says on its socket.

use agent_api::RequestId;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::error::ControlError;
use super::refusal::{Refusal, RefusalCode};
use crate::machine::SendMode;
use crate::model::RunState;
use crate::open::Open;
use crate::record::{RunKind, Totals};

/// The newest version of the protocol that this version speaks.
///
/// 2: `edit_message`, `withdraw_message`, `by`, and the queue in a status report.
pub const PROTOCOL: u32 = 2;

/// The oldest version of the protocol that this version speaks.
pub const OLDEST_PROTOCOL: u32 = 1;

/// Longer lines are refused, in both directions.
pub const MAX_LINE_BYTES: usize = 1024 * 1024;

/// The first line of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// The runner's version of ralph.
    pub ralph: String,
    /// The newest version of the protocol that the runner speaks.
    pub protocol: u32,
    /// The oldest one, where that is not the first.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub oldest_protocol: u32,
    /// Names the run.
    pub run_id: String,
    #[serde(flatten)]
    pub state: RunState,
}

fn first() -> u32 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde asks for"
)]
fn is_first(version: &u32) -> bool {
    *version == 1
}

impl Greeting {
    /// The greeting of a runner of this version.
    pub fn new(run_id: impl Into<String>, state: RunState) -> Self {
        Self {
            ralph: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: PROTOCOL,
            oldest_protocol: OLDEST_PROTOCOL,
            run_id: run_id.into(),
            state,
        }
    }

    /// The version that both sides speak: the newest of them.
    pub fn agree(&self, oldest: u32, newest: u32) -> Result<u32, ControlError> {
        let agreed = newest.min(self.protocol);
        if agreed < oldest || agreed < self.oldest_protocol {
            return Err(ControlError::Incompatible {
                ralph: self.ralph.clone(),
                theirs: self.protocol,
                ours: newest,
            });
        }
        Ok(agreed)
    }
}

/// The answer to one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// The request, where it said.
    pub id: Option<String>,
    /// Whether it is done, or will be.
    pub ok: bool,
    /// What came of it so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
    /// Why it is not done.
    #[serde(flatten)]
    pub refusal: Option<Refusal>,
}

impl Response {
    pub(super) fn new(id: Option<String>, result: Result<Receipt, Refusal>) -> Self {
        let ok = result.is_ok();
        let (receipt, refusal) = match result {
            Ok(receipt) => (Some(receipt), None),
            Err(refusal) => (None, Some(refusal)),
        };
        Self {
            id,
            ok,
            receipt,
            refusal,
        }
    }

    pub(super) fn into_result(self) -> Result<Receipt, Refusal> {
        if self.ok {
            return Ok(self.receipt.unwrap_or_default());
        }
        let unexplained = || {
            Refusal::new(
                RefusalCode::Other,
                "the runner does not do it, and does not say why",
            )
        };
        Err(self.refusal.unwrap_or_else(unexplained))
    }
}

/// One line as it is sent.
pub(super) fn line_of(value: &impl Serialize) -> Bytes {
    // What is sent has no maps with keys that are no strings, and so cannot fail to be written.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line.into()
}

/// A command was taken. What comes of it is in the journal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default)]
pub struct Receipt {
    /// The message's id, which later receipts in the journal carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Whether it was being done already, as a second `stop`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_already_done: bool,
    /// More, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The answer to `status`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<StatusReport>,
}

/// How a run is going.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default)]
pub struct StatusReport {
    #[serde(flatten)]
    pub state: RunState,
    /// Which prompt of the loop, from 1.
    pub iteration: u32,
    /// Which process of the iteration, from 1.
    pub attempt: u32,
    /// The last record of the journal.
    pub seq: u64,
    /// What it cost, and what it used.
    pub totals: Totals,
    /// The requests that wait for an answer, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<RequestId>,
    /// Whether it works by itself or waits for messages.
    #[cfg_attr(feature = "ts", ts(as = "RunKind"))]
    pub kind: Open<RunKind>,
    /// The messages that the agent was not given yet, the next one first; the first of them where there are many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<QueuedReport>,
    /// How many messages wait.
    pub queue_length: usize,
}

/// A message that the agent was not given yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct QueuedReport {
    /// Names it.
    pub message_id: String,
    /// When it is to be delivered.
    pub mode: SendMode,
    /// The beginning of it, redacted.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::{Greeting, Receipt, Response, StatusReport};
    use crate::control::{Refusal, RefusalCode};
    use crate::model::{RunState, WaitingFor};

    #[test]
    fn lines_look_as_documented() {
        let greeting =
            serde_json::to_string(&Greeting::new("r1", RunState::tool("Bash", Some("ls")))).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            greeting,
            format!(
                r#"{{"ralph":"{version}","protocol":2,"run_id":"r1","state":"tool","name":"Bash","subject":"ls"}}"#
            )
        );
        let done = Response::new(Some("7".into()), Ok(Receipt::default()));
        let line = serde_json::to_string(&done).unwrap();
        assert_eq!(line, r#"{"id":"7","ok":true,"receipt":{}}"#);
        assert_eq!(serde_json::from_str::<Response>(&line).unwrap(), done);
        let refused = Response::new(None, Err(Refusal::new(RefusalCode::TooLong, "x")));
        let line = serde_json::to_string(&refused).unwrap();
        assert_eq!(line, r#"{"id":null,"ok":false,"code":"too_long","message":"x"}"#);
        assert_eq!(serde_json::from_str::<Response>(&line).unwrap(), refused);
    }

    #[test]
    fn what_older_runners_say_is_understood() {
        let greeting = r#"{"ralph":"0.1.0","protocol":2,"run_id":"r1","state":"running"}"#;
        let greeting: Greeting = serde_json::from_str(greeting).unwrap();
        assert_eq!(greeting.state, RunState::Thinking);
        let status = r#"{"state":"running","activity":"Bash: cargo test","iteration":2,"attempt":1,"seq":9,"totals":{"tokens":{},"turns":1,"duration_ms":5},"kind":"loop","queue_length":0}"#;
        let status: StatusReport = serde_json::from_str(status).unwrap();
        assert_eq!(status.state, RunState::tool("Bash", Some("cargo test")));
        assert_eq!((status.iteration, status.seq), (2, 9));
        let idle = r#"{"state":"idle","activity":"waiting for a message","kind":"session"}"#;
        let idle: StatusReport = serde_json::from_str(idle).unwrap();
        let what = WaitingFor::Message;
        assert_eq!(idle.state, RunState::Waiting { what });
    }

    #[test]
    fn a_code_of_a_newer_runner_is_still_a_refusal() {
        let line = r#"{"id":"1","ok":false,"code":"moon_phase","message":"not today","until":3}"#;
        let response: Response = serde_json::from_str(line).unwrap();
        assert_eq!(response.into_result().unwrap_err().code, RefusalCode::Other);
    }

    #[test]
    fn the_newest_version_that_both_speak_is_spoken() {
        let runner = |oldest_protocol, protocol| Greeting {
            protocol,
            oldest_protocol,
            ..Greeting::new("r", RunState::Thinking)
        };
        // Of a newer client to an older runner, of an older client to a newer runner, and without a common one.
        assert_eq!(runner(1, 1).agree(1, 3).ok(), Some(1));
        assert_eq!(runner(1, 4).agree(1, 2).ok(), Some(2));
        assert_eq!(runner(2, 4).agree(1, 1).ok(), None);
        assert_eq!(runner(1, 1).agree(2, 3).ok(), None);
    }
}
