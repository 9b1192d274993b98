//! `AgentRecord`: one line of an agent's journal. Only the reconciler writes them.

use agent_api::MicroUsd;
use jiff::Timestamp;
use ralph_run::{EndReason, Open};
use serde::{Deserialize, Serialize};

use crate::outcome::RunOutcome;
use crate::runs::StartFailureKind;
use crate::work::WorkEnding;

/// Something that happened to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentRecord {
    pub at: Timestamp,
    #[serde(flatten)]
    pub event: AgentEvent,
}

/// What happened. As JSON it is flat: `{"at":"…","type":"started","run":"…"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AgentEvent {
    /// A start is about to be tried. It counts as a failure until it turns out otherwise, so that neither a crash of the
    /// reconciler nor one of the machine can lose it.
    StartCounted(StartCount),
    /// The runner has begun the run.
    Started {
        run: String,
    },
    /// The run was not started.
    StartFailed {
        run: String,
        #[serde(rename = "failure")]
        kind: StartFailureKind,
        message: String,
    },
    /// A run that an earlier reconciler started is alive.
    Adopted {
        run: String,
    },
    /// The run was asked to end when the agent has ended its turn. `iteration` is the one that was running.
    PauseRequested {
        run: String,
        iteration: u32,
    },
    /// The run was asked to end.
    StopRequested {
        run: String,
    },
    /// The run has worked long enough to take earlier failures back.
    Recovered {
        run: String,
    },
    RunEnded(RunConclusion),
    /// The task was given back, with this ending.
    TaskReleased {
        task: String,
        ending: WorkEnding,
    },
    /// The reconciler could not do what it had decided.
    ReconcileFailed {
        message: String,
    },
    /// Of a newer version.
    #[serde(other)]
    Unknown,
}

/// A start that is about to be tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartCount {
    pub run: String,
    /// Which request for the agent's work this is about; see [`Agent::start_number`](crate::Agent::start_number).
    pub start_number: u64,
    /// The task, if the work is not the agent's own prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The run whose session is continued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes: Option<String>,
    /// Why, in plain words.
    pub why: String,
}

/// How a run ended, and what follows for the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunConclusion {
    pub run: String,
    pub outcome: RunOutcome,
    /// Why the run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Open<EndReason>>,
    /// More about it, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What it cost, in micro-dollars.
    #[serde(default)]
    pub cost: MicroUsd,
    /// The last session of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// When the usage limit of the account resets, if that is why the run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_until: Option<Timestamp>,
}
