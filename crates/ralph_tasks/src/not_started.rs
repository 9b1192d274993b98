//! `NotStarted`: why nobody works on a task, for `ralph tasks --why` and for the board.

use std::fmt;

use serde::Serialize;

use crate::id::TaskId;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NotStarted {
    /// Its links to other tasks are wrong.
    Invalid {
        message: String,
    },
    /// Only tasks without children are worked on.
    HasChildren {
        open: usize,
    },
    /// A person has blocked it, or a task above it.
    Blocked {
        /// The task above it that is blocked, unless it is this one.
        ancestor: Option<TaskId>,
        reason: Option<String>,
    },
    /// It has failed as often as is allowed.
    Failed {
        attempts: usize,
        evidence: Option<String>,
    },
    /// A worktree is cut from the base commit, which does not have the task.
    NotCommitted,
    WaitsFor {
        tasks: Vec<Dependency>,
    },
    /// It would change the same files as one that is being worked on or not merged yet.
    Overlaps {
        task: TaskId,
        touches: String,
        other_touches: String,
    },
    /// As many tasks wait for review, or soon will, as are allowed.
    ReviewLimit {
        limit: usize,
    },
    /// Several tasks have failed with the same error.
    SameFailure {
        tasks: Vec<TaskId>,
    },
}

/// A task that another one waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dependency {
    pub id: TaskId,
    /// It is done in the working tree, but not in the base commit.
    pub is_uncommitted: bool,
}

impl fmt::Display for NotStarted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { message } => formatter.write_str(message),
            Self::HasChildren { open: 1 } => formatter.write_str("done when its last open subtask is"),
            Self::HasChildren { open } => write!(formatter, "done when its {open} open subtasks are"),
            Self::Blocked { ancestor, reason } => match (ancestor, reason) {
                (None, Some(reason)) => formatter.write_str(reason),
                (None, None) => formatter.write_str("blocked without a reason"),
                (Some(ancestor), Some(reason)) => {
                    write!(formatter, "{ancestor} above it is blocked: {reason}")
                }
                (Some(ancestor), None) => write!(formatter, "{ancestor} above it is blocked"),
            },
            Self::Failed { attempts, evidence } => {
                let times = match attempts {
                    1 => "failed once".to_owned(),
                    attempts => format!("failed {attempts} times"),
                };
                let last_line = evidence
                    .as_deref()
                    .and_then(|text| text.lines().rev().find(|line| !line.trim().is_empty()));
                match last_line {
                    Some(line) => write!(formatter, "{times}, last with: {}", line.trim()),
                    None => formatter.write_str(&times),
                }
            }
            Self::NotCommitted => formatter.write_str("not committed yet: commit its file"),
            Self::WaitsFor { tasks } => {
                formatter.write_str("waits for ")?;
                for (place, dependency) in tasks.iter().enumerate() {
                    let comma = if place == 0 { "" } else { ", " };
                    let note = if dependency.is_uncommitted {
                        " (done, but not committed)"
                    } else {
                        ""
                    };
                    write!(formatter, "{comma}{}{note}", dependency.id)?;
                }
                Ok(())
            }
            Self::Overlaps {
                task,
                touches,
                other_touches,
            } => match touches == other_touches {
                true => write!(formatter, "{task} changes `{touches}` too and is not merged yet"),
                false => write!(
                    formatter,
                    "`{touches}` overlaps with `{other_touches}` of {task}, which is not merged yet"
                ),
            },
            Self::ReviewLimit { limit } => write!(
                formatter,
                "{limit} tasks are in review or on their way there, which is the limit"
            ),
            Self::SameFailure { tasks } => {
                let tasks: Vec<&str> = tasks.iter().map(TaskId::as_str).collect();
                write!(
                    formatter,
                    "paused: {} failed with the same error; repair it, then run `ralph tasks unblock` for them",
                    tasks.join(", ")
                )
            }
        }
    }
}
