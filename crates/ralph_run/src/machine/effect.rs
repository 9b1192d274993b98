//! `Effect`: what the machine decides and the driver performs.

use std::time::Duration;

use agent_api::{Answer, PermissionMode, RequestId, SessionChoice};
use jiff::Timestamp;

use super::queue::QueuedMessage;
use crate::record::{RunBody, RunEnded};

/// Effects are performed in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    Record(Box<RunBody>),
    /// Bring the journal and `run.json` to disk soon: people wait for what just happened.
    SaveSoon,
    Spawn {
        /// Counts from 1.
        iteration: u32,
        /// Counts from 1 in each iteration.
        attempt: u32,
        session: SessionChoice,
        prompt: SpawnPrompt,
        /// The role that works, if the loop has roles. The driver has its options.
        role: Option<String>,
    },
    Interrupt,
    /// Stop the agent: interrupt, terminate, kill.
    Stop,
    Kill,
    /// Close the agent's input: it exits when it is done.
    CloseInput,
    Say {
        id: String,
        text: String,
    },
    Answer {
        request: RequestId,
        answer: Answer,
    },
    SetModel(Option<String>),
    SetPermissionMode(PermissionMode),
    /// Run the verify command with this index.
    Verify {
        index: usize,
    },
    /// Stop the running verify command: interrupt, terminate, kill.
    StopVerify,
    KillVerify,
    Arm(Timer, Duration),
    /// Arm a timer for a moment of the wall clock. It goes off on time after the computer was suspended, and no later
    /// than the time until then takes now, in case the clock is set back.
    ArmAt(Timer, Timestamp),
    Disarm(Timer),
    /// The run has ended. Always the last effect.
    End(RunEnded),
}

/// The first input of a new process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpawnPrompt {
    /// The prompt of a loop's iteration, and what went wrong in the one before.
    Iteration {
        last_failure: Option<String>,
        handover: Option<Handover>,
    },
    /// The run's prompt as the first message of a conversation.
    Task,
    Message(QueuedMessage),
}

/// What a role leaves to the one after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handover {
    /// The role that wrote it.
    pub from: String,
    /// Its last message.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Timer {
    /// `--max-runtime`: 80% or all of it may be used.
    Runtime,
    /// `--iteration-timeout`.
    Iteration,
    /// The pause, backoff or wait for a usage limit before the next iteration.
    Cooldown,
    /// The limit that the run waits for was not raised in time.
    Raise,
    /// An interrupted agent must have ended its turn by now.
    Grace,
    /// A request of the agent was not answered in time.
    Ask(RequestId),
    /// A conversation has waited long enough for a message.
    Idle,
    /// The run's files could not be written for too long.
    Storage,
}
