//! `Input`: everything that can happen to a run.

use std::time::Duration;

use agent_api::{ErrorInfo, Event, ExitInfo, Outcome, RunUsage};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::effect::Timer;
use crate::control::ControlCommand;
use crate::watchdog::Finding;

/// When an input happens. The machine has no clock and no chance of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// By the wall clock, which can be set, and which jumps when the computer was suspended.
    pub at: Timestamp,
    /// Since the run began, by the run's own clock: it stands still while the run is suspended.
    pub elapsed: Duration,
    /// A random number that spreads the retries of several runs.
    pub random: u8,
}

#[derive(Debug)]
pub enum Input<'a> {
    Begin,
    /// An event of the agent, except for deltas.
    Event(&'a Event),
    /// The agent could not be started; the message is for people.
    SpawnFailed(String),
    AttemptEnded(AttemptReport),
    Verified {
        is_ok: bool,
        /// The command and the end of its output.
        summary: String,
    },
    Timer(Timer),
    /// A command that [`Machine::accept`](super::Machine::accept) has accepted.
    Command(CommandInput),
    Signal(Signal),
    OutputClosed,
    /// Whether the run's files can be written.
    Storage(StorageStatus),
    /// The watchdog found something.
    Finding {
        finding: Finding,
        /// The id that a message to the agent gets.
        message_id: String,
    },
}

#[derive(Debug, Clone)]
pub struct AttemptReport {
    pub outcome: Outcome,
    pub error: Option<ErrorInfo>,
    pub final_text: Option<String>,
    /// The agent gave no final text: it is what was streamed.
    pub is_degraded: bool,
    pub session_id: Option<String>,
    pub exit: ExitInfo,
    /// The last figures; `None` if the process was lost, so that what was seen counts.
    pub usage: Option<RunUsage>,
    pub duration: Duration,
}

#[derive(Debug, Clone)]
pub struct CommandInput {
    pub command: ControlCommand,
    /// The id that a message gets if this command sends one.
    pub message_id: String,
    pub by: Option<String>,
}

/// When a message is delivered to the agent.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C. The second one kills.
    Interrupt,
    Terminate,
    HangUp,
    /// Ctrl-Z. The driver suspends everything; for the machine no time passes.
    Suspend,
}

/// The strings name the directory and the error, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StorageStatus {
    Writable,
    /// Nothing can be written now; what is to be written waits in memory.
    Failing(String),
    /// Something that was to be written is lost.
    Lost(String),
}
