//! What to do.

use std::time::Duration;

use agent_api::{Answer, PermissionMode, RequestId, SessionChoice};
use serde::{Deserialize, Serialize};

use super::queue::QueuedMessage;
use crate::reason::EndReason;
use crate::record::RunBody;

/// Something to do, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Write it down.
    Record(Box<RunBody>),
    /// The run is this far now; a change that must survive a crash.
    Finality(Finality),
    /// Start the agent.
    Spawn {
        /// Which prompt, from 1.
        iteration: u32,
        /// Which process of it, from 1.
        attempt: u32,
        /// Which conversation.
        session: SessionChoice,
        /// What went wrong before: part of the prompt.
        last_failure: Option<String>,
        /// What a session says instead of the run's prompt.
        message: Option<QueuedMessage>,
    },
    /// End the agent's turn.
    Interrupt,
    /// Stop the agent: interrupt, terminate, kill.
    Stop,
    /// Kill the agent.
    Kill,
    /// End the agent's input: it has nothing left to do.
    CloseInput,
    /// Say something to the agent.
    Say {
        /// Names it.
        id: String,
        /// The message.
        text: String,
    },
    /// Answer the agent.
    Answer {
        /// The request.
        request: RequestId,
        /// The answer.
        answer: Answer,
    },
    /// Use another model.
    SetModel(Option<String>),
    /// Use another permission mode.
    SetPermissionMode(PermissionMode),
    /// Run a verify command.
    Verify {
        /// Which, from 0.
        index: usize,
    },
    /// Stop the verify command that runs.
    StopVerify,
    /// Say so after a while.
    Arm(Timer, Duration),
    /// Not any more.
    Disarm(Timer),
    /// The run is over.
    End {
        /// Why.
        reason: EndReason,
        /// More about it.
        message: Option<String>,
    },
}

/// What time was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Timer {
    /// The run's time.
    Runtime,
    /// The iteration's time.
    Iteration,
    /// The pause between iterations.
    Cooldown,
    /// An interrupted agent should have ended its turn.
    Grace,
    /// Somebody should have answered.
    Ask(RequestId),
    /// Somebody should have said something.
    Idle,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finality {
    /// The agent is being started.
    Starting,
    /// It works.
    Running,
    /// It gave a result; more may come.
    ResultSeen,
    /// It has nothing left to do and should exit.
    Draining,
    /// Its work is being verified.
    Verifying,
    /// Between two iterations.
    Cooling,
    /// It waits for a message.
    Idle,
    /// The run is over.
    Ended,
}
