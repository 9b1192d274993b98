//! `Dependents`: which tasks wait for a task, directly or through others.

use std::collections::{BTreeMap, BTreeSet};

use crate::backlog::Backlog;
use crate::id::TaskId;
use crate::task::Task;

pub(crate) struct Dependents<'a> {
    direct: BTreeMap<TaskId, Vec<&'a Task>>,
}

impl<'a> Dependents<'a> {
    pub(crate) fn new(backlog: &'a Backlog) -> Self {
        let mut direct: BTreeMap<TaskId, Vec<&Task>> = BTreeMap::new();
        for task in backlog.tasks() {
            for dependency in backlog.dependencies(&task.id) {
                for leaf in backlog.leaves(&dependency) {
                    direct.entry(leaf).or_default().push(task);
                }
                direct.entry(dependency).or_default().push(task);
            }
        }
        Self { direct }
    }

    /// Each task that waits for this one, once. Found anew for each task: a long chain would need much memory.
    pub(crate) fn of(&self, id: &TaskId) -> Vec<&'a Task> {
        let mut seen: BTreeSet<&TaskId> = BTreeSet::from([id]);
        let mut found: Vec<&'a Task> = Vec::new();
        let mut open: Vec<&TaskId> = vec![id];
        while let Some(next) = open.pop() {
            for waiting in self.direct.get(next).into_iter().flatten() {
                if seen.insert(&waiting.id) {
                    found.push(waiting);
                    open.push(&waiting.id);
                }
            }
        }
        found
    }
}
