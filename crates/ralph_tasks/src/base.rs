//! `Base`: what the base commit says about the tasks. It decides what a task may run and whether a task is done, because
//! an agent in a worktree cannot change it. One that works in the main checkout can commit, and so can whoever switches
//! branches there: the commit alone is no permission.

use std::collections::BTreeMap;

use crate::backlog::Backlog;
use crate::id::TaskId;
use crate::parse::parse_task;
use crate::task::{Permissions, Status};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    /// There is no commit. Then the files in the working tree decide what is done, and no task may run anything.
    Missing,
    /// The tasks that the commit has, by id.
    Commit(BTreeMap<TaskId, BaseTask>),
}

/// What counts from the base commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseTask {
    pub status: Status,
    pub permissions: Permissions,
}

impl Base {
    /// Reads the tasks of a backlog from a commit. `read` gives the text of a file there, if the commit has it.
    pub fn of_commit(backlog: &Backlog, mut read: impl FnMut(&str) -> Option<String>) -> Self {
        let tasks = backlog.tasks().filter_map(|task| {
            let text = read(&task.file)?;
            let base = parse_task(&task.file, &text).task?;
            // A file that had another id is another task.
            (base.id == task.id).then(|| {
                let base = BaseTask {
                    status: base.status,
                    permissions: base.permissions,
                };
                (task.id.clone(), base)
            })
        });
        Self::Commit(tasks.collect())
    }

    pub(crate) fn task(&self, id: &TaskId) -> Option<&BaseTask> {
        match self {
            Self::Missing => None,
            Self::Commit(tasks) => tasks.get(id),
        }
    }
}
