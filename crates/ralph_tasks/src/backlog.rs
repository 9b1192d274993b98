//! `Backlog`: all tasks of a repository, and whether they fit together.

use std::collections::{BTreeMap, BTreeSet};

use crate::cycle::{Cycle, find_cycles};
use crate::id::{FindTaskError, TaskId};
use crate::parse::ParsedFile;
use crate::problem::Problem;
use crate::task::{Link, Status, Task};

/// The tasks, by id. A file with an error has no task here, but its problems are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Backlog {
    tasks: BTreeMap<TaskId, Task>,
    children: BTreeMap<TaskId, Vec<TaskId>>,
    problems: Vec<Problem>,
    /// Tasks that cannot be worked on because of how they are linked.
    invalid: BTreeMap<TaskId, String>,
    /// Ids of files with errors.
    broken: BTreeMap<TaskId, String>,
    /// Tasks that a file with errors is a part of, and that file.
    incomplete: BTreeMap<TaskId, String>,
}

impl Backlog {
    pub fn new(files: impl IntoIterator<Item = ParsedFile>) -> Self {
        let mut backlog = Self::default();
        let mut by_id: BTreeMap<TaskId, Vec<Task>> = BTreeMap::new();
        for file in files {
            backlog.problems.extend(file.problems);
            match (file.task, file.id) {
                (Some(task), _) => by_id.entry(task.id.clone()).or_default().push(task),
                (None, id) => {
                    for parent in file.parents {
                        backlog.incomplete.insert(parent, file.file.clone());
                    }
                    if let Some(id) = id {
                        backlog.broken.insert(id, file.file);
                    }
                }
            }
        }
        for (id, mut tasks) in by_id {
            match (tasks.pop(), tasks.as_slice()) {
                (Some(task), []) => drop(backlog.tasks.insert(id, task)),
                (Some(last), others) => {
                    for task in others.iter().chain([&last]) {
                        if let Some(parent) = &task.parent {
                            backlog.incomplete.insert(parent.id.clone(), task.file.clone());
                        }
                        let elsewhere = others.iter().chain([&last]).find(|other| other.file != task.file);
                        let message = format!(
                            "`{id}` is also the id of `{}`; give one of them another id",
                            elsewhere.map_or("", |other| other.file.as_str())
                        );
                        backlog
                            .problems
                            .push(Problem::error(&task.file, task.at, message));
                    }
                    backlog.broken.insert(id, last.file);
                }
                (None, _) => {}
            }
        }
        backlog.link();
        backlog.problems.sort_by(|first, second| {
            (&first.file, first.line, first.column).cmp(&(&second.file, second.line, second.column))
        });
        backlog
    }

    /// Finds children, unknown ids and cycles.
    fn link(&mut self) {
        let mut found: Vec<(TaskId, Problem)> = Vec::new();
        for task in self.tasks.values() {
            let mut missing = |key: &str, link: &Link| {
                let message = if let Some(file) = self.broken.get(&link.id) {
                    format!("`{key}` names `{}`, but `{file}` has errors", link.id)
                } else {
                    format!("`{key}` names `{}`, but there is no such task", link.id)
                };
                found.push((task.id.clone(), Problem::error(&task.file, link.at, message)));
            };
            if let Some(parent) = &task.parent {
                match self.tasks.contains_key(&parent.id) {
                    true => self
                        .children
                        .entry(parent.id.clone())
                        .or_default()
                        .push(task.id.clone()),
                    false => missing("parent", parent),
                }
            }
            for link in task
                .depends_on
                .iter()
                .filter(|link| !self.tasks.contains_key(&link.id))
            {
                missing("depends_on", link);
            }
        }
        for cycle in find_cycles(&self.tasks, &self.children) {
            let Cycle { ids, at, is_parents } = cycle;
            let path: Vec<&str> = ids.iter().chain(ids.first()).map(TaskId::as_str).collect();
            let message = match is_parents {
                true => format!("a task is its own ancestor: {}", path.join(" → ")),
                false => format!("these tasks wait for each other: {}", path.join(" → ")),
            };
            for id in &ids {
                self.invalid.entry(id.clone()).or_insert_with(|| message.clone());
            }
            let first = ids.first().and_then(|id| self.tasks.get(id));
            self.problems
                .extend(first.map(|task| Problem::error(&task.file, at, message)));
        }
        for task in self.tasks.values() {
            if task.status == Status::Done && self.children.contains_key(&task.id) {
                let is_open = |id: &TaskId| {
                    self.tasks
                        .get(id)
                        .is_some_and(|child| child.status != Status::Done)
                };
                if self.leaves(&task.id).iter().any(is_open) {
                    let message = "`status: done` is ignored: a task with children is done when they are";
                    self.problems.push(Problem::warning(&task.file, task.at, message));
                }
            }
        }
        for (id, problem) in found {
            self.invalid.entry(id).or_insert_with(|| problem.message.clone());
            self.problems.push(problem);
        }
        for children in self.children.values_mut() {
            children.sort_by(|first, second| order(&self.tasks, first).cmp(&order(&self.tasks, second)));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.problems.is_empty()
    }

    pub fn task(&self, id: &TaskId) -> Option<&Task> {
        self.tasks.get(id)
    }

    /// By id.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.values()
    }

    /// By file and line.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Why the task cannot be worked on, if its links are wrong.
    pub fn invalid(&self, id: &TaskId) -> Option<&str> {
        self.invalid.get(id).map(String::as_str)
    }

    /// A file with errors that is a part of this task, so that nobody knows whether the task is done.
    pub fn broken_part(&self, id: &TaskId) -> Option<&str> {
        let is_below = |parent: &TaskId| parent == id || self.ancestors(parent).contains(id);
        let found = self.incomplete.iter().find(|(parent, _)| is_below(parent));
        found.map(|(_, file)| file.as_str())
    }

    /// The ids of files with errors, and the files.
    pub(crate) fn broken(&self) -> impl Iterator<Item = (&TaskId, &String)> {
        self.broken.iter()
    }

    /// Whether a file has this id, with or without errors.
    pub fn is_taken(&self, id: &TaskId) -> bool {
        self.tasks.contains_key(id) || self.broken.contains_key(id)
    }

    /// The tasks whose parent this is, the most urgent first.
    pub fn children(&self, id: &TaskId) -> &[TaskId] {
        self.children.get(id).map_or(&[], Vec::as_slice)
    }

    /// The tasks without a parent, the most urgent first. All that is left of a tree with a cycle counts as well.
    pub fn roots(&self) -> Vec<&TaskId> {
        let has_parent = |task: &&Task| match &task.parent {
            Some(parent) => {
                self.tasks.contains_key(&parent.id) && !self.ancestors(&task.id).contains(&task.id)
            }
            None => false,
        };
        let roots = self.tasks.values().filter(|task| !has_parent(task));
        let mut roots: Vec<&TaskId> = roots.map(|task| &task.id).collect();
        roots.sort_by(|first, second| order(&self.tasks, first).cmp(&order(&self.tasks, second)));
        roots
    }

    /// The parent, its parent, and so on. With a cycle each of them once.
    pub fn ancestors(&self, id: &TaskId) -> Vec<TaskId> {
        let mut ancestors: Vec<TaskId> = Vec::new();
        let mut task = self.tasks.get(id);
        while let Some(parent) = task.and_then(|task| task.parent.as_ref()) {
            if ancestors.contains(&parent.id) || !self.tasks.contains_key(&parent.id) {
                break;
            }
            ancestors.push(parent.id.clone());
            task = self.tasks.get(&parent.id);
        }
        ancestors
    }

    /// The tasks below this one that have no children; itself if it has none.
    pub fn leaves(&self, id: &TaskId) -> Vec<TaskId> {
        let mut leaves = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![id.clone()];
        while let Some(id) = open.pop() {
            if !seen.insert(id.clone()) {
                continue;
            }
            match self.children(&id) {
                [] => leaves.push(id),
                children => open.extend(children.iter().cloned()),
            }
        }
        leaves
    }

    /// What a task waits for: its own dependencies and those of its ancestors.
    pub fn dependencies(&self, id: &TaskId) -> Vec<TaskId> {
        let ancestors = self.ancestors(id);
        let tasks = std::iter::once(id)
            .chain(&ancestors)
            .filter_map(|id| self.tasks.get(id));
        let mut ids: Vec<TaskId> = Vec::new();
        for link in tasks.flat_map(|task| &task.depends_on) {
            if !ids.contains(&link.id) {
                ids.push(link.id.clone());
            }
        }
        ids
    }

    /// The task that is meant by an id or the beginning of one.
    pub fn find(&self, typed: &str) -> Result<&Task, FindTaskError> {
        if let Some(task) = typed.parse().ok().and_then(|id| self.tasks.get(&id)) {
            return Ok(task);
        }
        let mut fitting = self.tasks.values().filter(|task| task.id.starts_with(typed));
        match (fitting.next(), fitting.next()) {
            (Some(task), None) => Ok(task),
            (None, _) => Err(match self.broken().find(|(id, _)| id.starts_with(typed)) {
                Some((id, file)) => FindTaskError::Broken {
                    id: id.clone(),
                    file: file.clone(),
                },
                None => FindTaskError::Unknown {
                    typed: run_view::excerpt(typed),
                },
            }),
            (Some(_), Some(_)) => Err(FindTaskError::Ambiguous {
                typed: run_view::excerpt(typed),
                candidates: self
                    .tasks
                    .keys()
                    .filter(|id| id.starts_with(typed))
                    .take(10)
                    .cloned()
                    .collect(),
            }),
        }
    }
}

/// How siblings are listed.
fn order<'a>(tasks: &'a BTreeMap<TaskId, Task>, id: &'a TaskId) -> (u8, &'a str, &'a TaskId) {
    let task = tasks.get(id);
    (
        task.map_or(u8::MAX, |task| task.priority),
        task.map_or("", |task| task.title.as_str()),
        id,
    )
}
