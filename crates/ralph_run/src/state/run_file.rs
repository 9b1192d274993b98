//! `RunFile`: `run.json`, the request and the status of a run. Lists and clients read it instead of the journal.

use std::io::{self, Read as _};
use std::path::Path;

use agent_api::{AgentKind, MicroUsd};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::atomic::{Durability, write_atomic};
use super::json_file::StateError;
use super::runner::{Liveness, Runner};
use crate::home::open_regular_file;
use crate::model::RunState;
use crate::open::Open;
use crate::reason::EndReason;
use crate::record::{RunKind, Totals};

/// A run at a glance. The journal has everything; this is for lists, and for finding out who is in charge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFile {
    /// The version of this file's format.
    pub version: u32,
    pub run_id: String,
    pub workspace: String,
    pub backend: AgentKind,
    pub display_name: String,
    /// The model: as asked for, then as the agent says.
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub agent_version: Option<String>,
    #[serde(default)]
    pub permission_mode: Option<String>,
    /// Where the agent says it works.
    #[serde(default)]
    pub cwd: Option<String>,
    #[serde(default)]
    pub tools: Vec<String>,
    #[serde(default)]
    pub mcp_servers: Vec<String>,
    /// The agent's conversations, in order.
    #[serde(default)]
    pub session_ids: Vec<String>,
    /// Planner, coder, or a mode of the user's.
    #[serde(default)]
    pub mode: Option<String>,
    #[serde(default)]
    pub task: Option<String>,
    /// Whether it works by itself or waits for messages.
    #[serde(default)]
    pub kind: Open<RunKind>,
    /// Who started it through a server, for people: `token ci`, `session 1f2e3d4c`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The run whose session this one continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed_from: Option<String>,
    /// Whether the agent does not save the session, so that it cannot be resumed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ephemeral: bool,
    /// The start of the prompt, redacted.
    #[serde(default)]
    pub prompt: String,
    pub started_at: Timestamp,
    #[serde(default)]
    pub ended_at: Option<Timestamp>,
    pub status: RunStatus,
    #[serde(default)]
    pub reason: Option<Open<EndReason>>,
    #[serde(default)]
    pub exit_code: Option<u8>,
    pub runner: Runner,
    /// The version of ralph that runs it.
    pub ralph_version: String,
    /// What other versions of ralph keep here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunStatus {
    #[serde(flatten)]
    pub state: RunState,
    /// Since when the run is in this state; for a tool, since when the call runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_since: Option<Timestamp>,
    /// Which prompt of the loop, from 1.
    pub iteration: u32,
    /// Which process of the iteration, from 1.
    pub attempt: u32,
    /// Which role works, in a loop of roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// What it cost, and what it used.
    pub totals: Totals,
    /// How much of the cost is in the task's account already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accounted_cost: Option<MicroUsd>,
    /// What earlier runs of the task had cost when this one started. The cost limit counts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent_before: Option<MicroUsd>,
    /// The limits, as they were raised since the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<MicroUsd>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// How many warnings there were.
    #[serde(skip_serializing_if = "is_zero")]
    pub warnings: u32,
    /// What other versions of ralph keep here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl RunFile {
    /// The version of this file's format.
    pub const VERSION: u32 = 1;

    /// Reads a run's file.
    pub fn load(path: &Path) -> Result<Self, StateError> {
        let text = read(path).map_err(|source| StateError::io(path, source))?;
        let mut file: Self = serde_json::from_slice(&text).map_err(|source| StateError::Corrupt {
            path: path.to_owned(),
            source,
        })?;
        // Earlier versions wrote the reason only beside the state.
        if let (RunState::Ended { reason }, Some(known)) = (&mut file.status.state, &file.reason) {
            reason.clone_from(known);
        }
        Ok(file)
    }

    /// Replaces a run's file.
    ///
    /// # Errors
    /// When it cannot be written; the old one is still there then.
    pub fn save(&self, path: &Path, durability: Durability) -> Result<(), StateError> {
        let mut text = serde_json::to_vec_pretty(self).map_err(|source| StateError::Corrupt {
            path: path.to_owned(),
            source,
        })?;
        text.push(b'\n');
        write_atomic(path, &text, durability).map_err(|source| StateError::io(path, source))
    }

    pub fn is_ended(&self) -> bool {
        self.status.state.has_ended()
    }

    /// Whether the run has not ended and its runner is alive.
    pub fn is_live(&self) -> bool {
        !self.is_ended() && !self.is_lost()
    }

    /// Whether the runner of a run that has not ended is gone.
    pub fn is_lost(&self) -> bool {
        match self.runner.liveness() {
            Liveness::Gone | Liveness::Replaced | Liveness::OtherBoot => !self.is_ended(),
            Liveness::Alive | Liveness::Unknown => false,
        }
    }

    pub fn ended_why(&self) -> String {
        let reason = self.reason.as_ref();
        reason.map_or_else(|| "reason unknown".to_owned(), |reason| reason.describe())
    }
}

impl RunStatus {
    /// What counts against the cost limit, as [`RunModel::spent_of_limit`](crate::model::RunModel::spent_of_limit).
    pub fn spent_of_limit(&self) -> MicroUsd {
        self.spent_before.unwrap_or_default() + self.totals.cost.unwrap_or_default()
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Larger files are not ours.
const MAX_BYTES: u64 = 16 << 20;

/// An agent of the same user can put anything here: neither a pipe nor a giant may keep `ralph runs` or `ralph stop` from
/// working.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    open_regular_file(path)?.take(MAX_BYTES).read_to_end(&mut text)?;
    Ok(text)
}
