//! `Task`: what a task file says.

use std::fmt;
use std::time::Duration;

use agent_api::MicroUsd;
use serde::Serialize;
use yaml_tree::Position;

use crate::id::TaskId;

/// What people decide about a task. What happens while it is worked on is in its claim.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    Todo,
    Blocked,
    Done,
}

impl Status {
    pub const ALL: [Self; 3] = [Self::Todo, Self::Blocked, Self::Done];

    pub fn word(self) -> &'static str {
        match self {
            Self::Todo => "todo",
            Self::Blocked => "blocked",
            Self::Done => "done",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub id: TaskId,
    pub title: String,
    pub status: Status,
    /// Why it is blocked, in the words of the person who said so.
    pub blocked_reason: Option<String>,
    pub parent: Option<Link>,
    pub depends_on: Vec<Link>,
    /// 0 is the most urgent.
    pub priority: u8,
    /// Globs of the files that it will probably change, relative to the top of the repository.
    pub touches: Vec<String>,
    /// As they are in this file. What counts is what the base commit has: see [`Board`](crate::Board).
    pub permissions: Permissions,
    pub body: String,
    /// Relative to the top of the repository.
    pub file: String,
    /// Where its id is.
    pub at: Position,
}

impl Task {
    pub const DEFAULT_PRIORITY: u8 = 2;
    /// The least urgent.
    pub const MAX_PRIORITY: u8 = 4;
}

/// Another task, and where the file names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub id: TaskId,
    pub at: Position,
}

/// The fields that execute or permit something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Commands that must succeed before the task counts as done.
    pub verify: Vec<String>,
    /// A mode of `ralph.yml`.
    pub mode: Option<String>,
    pub limits: RunLimits,
    /// A backend or a named agent.
    pub agent: Option<String>,
}

/// The limits of a task's run. `None` is the setting of the workspace, 0 is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunLimits {
    pub cost: Option<MicroUsd>,
    pub iterations: Option<u32>,
    pub runtime: Option<Duration>,
}
