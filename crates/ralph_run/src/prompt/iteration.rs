//! `IterationPrompt`: the prompt of an iteration, from the plan of its loop. The driver sends it, `--dry-run` shows it.

use super::compose::{PromptParts, RoleParts, compose};
use super::notes::Notes;
use crate::machine::{Handover, LoopPlan, RoleSession};

/// Everything that decides what an iteration is told.
#[derive(Debug, Clone, Copy)]
pub struct IterationPrompt<'a> {
    pub plan: &'a LoopPlan,
    /// Counts from 1.
    pub iteration: u32,
    /// 0 means no limit.
    pub max_iterations: u32,
    /// One of the plan's roles.
    pub role: Option<&'a str>,
    /// The prompt of the mode.
    pub instructions: Option<&'a str>,
    /// What the user wants.
    pub task: &'a str,
    /// What earlier iterations wrote down, if the plan has a memory. `None` if there is no place for it.
    pub notes: Option<&'a Notes>,
    pub last_failure: Option<&'a str>,
    pub handover: Option<&'a Handover>,
}

impl IterationPrompt<'_> {
    /// The text.
    pub fn compose(&self) -> String {
        let plan = self.plan;
        let notes = self.notes.filter(|_| plan.has_memory);
        let role = self
            .role
            .and_then(|name| plan.roles.iter().find(|role| role.name == name));
        compose(&PromptParts {
            instructions: self.instructions,
            task: self.task,
            iteration: if plan.is_once { 0 } else { self.iteration },
            max_iterations: self.max_iterations,
            role: role.map(|role| RoleParts {
                name: &role.name,
                keeps_session: role.session == RoleSession::Keep,
                handover: self
                    .handover
                    .map(|handover| (handover.from.as_str(), handover.text.as_str())),
            }),
            memory: notes.map(Notes::memory),
            completion_promise: (!plan.is_once).then_some(plan.promise.as_str()),
            verify: &plan.verify,
            last_failure: self.last_failure,
        })
    }
}
