//! `WorkSource`: where workers without a prompt get tasks from. The backlog implements it.

use std::path::PathBuf;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::agent::Agent;

/// What a run works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// The agent's own prompt.
    Prompt,
    /// A task, by its id.
    Task(String),
}

/// A task that an agent could take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    pub task: String,
    /// For people.
    pub title: String,
}

/// What an agent does for a claimed task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    pub prompt: String,
    /// Where the work happens; the agent's workspace if absent.
    pub workspace: Option<PathBuf>,
}

/// How an agent gives a task back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkEnding {
    /// The run ended by itself.
    Finished,
    Failed,
    /// The agent was stopped.
    GivenUp,
    /// No run of it was started.
    NotStarted,
}

/// A task could not be claimed or given back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct WorkError {
    pub message: String,
}

/// Tasks. Only the reconciler claims and releases them, and it releases a task only after the runner is proven dead.
#[async_trait]
pub trait WorkSource: Send + Sync + 'static {
    /// Tasks for these idle agents, at most one for each, as pairs of the agent's index and its task. No task is offered
    /// twice.
    async fn offers(&self, idle: &[&Agent]) -> Result<Vec<(usize, Offer)>, WorkError>;

    /// Reserves a task for a run. Claiming a task again for the same agent, under a new run, continues it.
    ///
    /// # Errors
    /// If it is not ready any more or another agent has it.
    async fn claim(&self, task: &str, agent: &Agent, run: &str) -> Result<Claimed, WorkError>;

    /// Gives a task back. Nothing happens if the agent does not have it, so that a release can be repeated.
    async fn release(&self, task: &str, agent: &Agent, ending: WorkEnding) -> Result<(), WorkError>;
}

/// Without a backlog, there is nothing to take.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWork;

#[async_trait]
impl WorkSource for NoWork {
    async fn offers(&self, _idle: &[&Agent]) -> Result<Vec<(usize, Offer)>, WorkError> {
        Ok(Vec::new())
    }

    async fn claim(&self, task: &str, _agent: &Agent, _run: &str) -> Result<Claimed, WorkError> {
        Err(WorkError {
            message: format!("there is no backlog with a task `{task}`"),
        })
    }

    async fn release(&self, task: &str, _agent: &Agent, _ending: WorkEnding) -> Result<(), WorkError> {
        Err(WorkError {
            message: format!("there is no backlog with a task `{task}`"),
        })
    }
}
