//! What happens.

use agent_api::{Answer, ErrorInfo, Event, ExitInfo, Outcome, PermissionMode, RequestId};
use serde::{Deserialize, Serialize};

use super::effect::Timer;
use crate::reason::{EndReason, LimitKind};
use crate::record::Totals;

/// Something that happened.
#[derive(Debug)]
pub enum Input<'a> {
    /// The run begins.
    Begin,
    /// In the agent.
    Event(&'a Event),
    /// The agent could not be started.
    NotStarted(StartFailure),
    /// The agent's process has ended.
    AttemptEnded(AttemptReport),
    /// A verify command has ended.
    Verified {
        /// Whether it agrees.
        is_ok: bool,
        /// What it was, and the end of what it wrote.
        summary: String,
    },
    /// Time has passed.
    Timer(Timer),
    /// A limit of the account is reached.
    Limit(LimitKind),
    /// Somebody said something.
    Command(RunCommand),
    /// The system said something.
    Signal(Signal),
    /// Nobody reads our output any more.
    OutputClosed,
    /// The run's own files cannot be written.
    StorageFailed,
}

/// Why an agent could not be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartFailure {
    /// What the run ends with.
    pub reason: EndReason,
    /// For people, with what to do.
    pub message: String,
}

/// How a process ended.
#[derive(Debug, Clone)]
pub struct AttemptReport {
    /// How.
    pub outcome: Outcome,
    /// What went wrong.
    pub error: Option<ErrorInfo>,
    /// The agent's last word.
    pub final_text: Option<String>,
    /// Whether the last word is what was streamed, because the agent gave none.
    pub is_degraded: bool,
    /// The session.
    pub session_id: Option<String>,
    /// How the process ended.
    pub exit: ExitInfo,
    /// What it cost, and what it used.
    pub totals: Totals,
}

/// What a person can say to a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunCommand {
    /// A message for the agent.
    Send {
        /// Names it.
        id: String,
        /// The message.
        text: String,
        /// When it is delivered.
        mode: SendMode,
    },
    /// Other words for a message that waits.
    EditMessage {
        /// The message.
        id: String,
        /// The words.
        text: String,
    },
    /// Takes back a message that waits.
    WithdrawMessage {
        /// The message.
        id: String,
    },
    /// An answer to the agent.
    Answer {
        /// The request.
        request: RequestId,
        /// The answer.
        answer: Answer,
    },
    /// End the turn; a loop ends with it.
    Interrupt,
    /// Nothing more will be said: a session ends when all is done.
    CloseInput,
    /// End the run.
    Stop,
    /// End the run at once.
    Kill,
    /// Another model from now on.
    SetModel(Option<String>),
    /// Another permission mode from now on.
    SetPermissionMode(PermissionMode),
}

/// When the agent is to see a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SendMode {
    /// As soon as it can take one, in the middle of its work.
    #[default]
    Steer,
    /// When it is done with what it does.
    Queue,
}

/// What the system says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C. The second one ends everything at once.
    Interrupt,
    /// Please end.
    Terminate,
    /// The terminal is gone.
    HangUp,
}
