//! Whether the CLI has anything left to do.
//!
//! A process can write several results: background work that ends wakes another turn, and both results may come at the
//! end. Each turn begins with an `init`, so a result without a turn of its own is not one: some versions add an error
//! after a success.

use std::collections::HashSet;

use crate::event::{Event, Kind, System, TaskStatus, TurnResult};

/// Follows turns and background tasks. Feed it every event.
#[derive(Debug, Default)]
pub struct TurnTracker {
    /// Turns that have begun and have no result yet.
    open: u32,
    open_tasks: HashSet<String>,
    queued: u64,
    has_result: bool,
}

/// What an event means for the turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noticed {
    /// A turn has begun.
    TurnStarted,
    /// A turn has ended: the event is its result.
    TurnEnded,
    /// A result that no turn belongs to.
    SpuriousResult,
    /// Nothing.
    Nothing,
}

impl TurnTracker {
    /// For one process.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next event into account.
    pub fn notice(&mut self, event: &Event) -> Noticed {
        match event.kind() {
            Kind::System(system) => self.notice_system(system),
            // Old versions and other programs may go on without a further `init`.
            Kind::Assistant(_) | Kind::StreamEvent(_)
                if self.open == 0 && event.parent_tool_use_id().is_none() =>
            {
                self.open = 1;
                Noticed::TurnStarted
            }
            Kind::Result(result) => self.notice_result(result),
            _ => Noticed::Nothing,
        }
    }

    /// Whether there was a result and nothing is left to do: the process should exit by itself, once its input has
    /// ended.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.has_result && self.open_turns() == 0 && self.open_tasks.is_empty()
    }

    /// Turns that have begun, or that wait to begin.
    #[must_use]
    pub fn open_turns(&self) -> u64 {
        u64::from(self.open).saturating_add(self.queued)
    }

    /// Background tasks that have not ended.
    #[must_use]
    pub fn open_tasks(&self) -> usize {
        self.open_tasks.len()
    }

    fn notice_system(&mut self, system: &System) -> Noticed {
        match system {
            System::Init(_) => {
                self.open += 1;
                return Noticed::TurnStarted;
            }
            System::TaskStarted(task) => {
                self.open_tasks
                    .extend(task.task_id.as_ref().map(ToString::to_string));
            }
            System::TaskNotification(task) if task.status.as_ref().is_none_or(has_ended) => {
                self.end_task(task.task_id.as_deref());
            }
            System::TaskUpdated(task) => {
                let status = task.patch.as_ref().and_then(|patch| patch.status.as_ref());
                if status.is_some_and(has_ended) {
                    self.end_task(task.task_id.as_deref());
                }
            }
            // The whole list, so it corrects whatever was missed.
            System::BackgroundTasksChanged(changed) => {
                let ids = changed.tasks.iter().filter_map(|task| task.task_id.as_ref());
                self.open_tasks = ids.map(ToString::to_string).collect();
            }
            _ => {}
        }
        Noticed::Nothing
    }

    fn end_task(&mut self, task_id: Option<&str>) {
        if let Some(task_id) = task_id {
            self.open_tasks.remove(task_id);
        }
    }

    fn notice_result(&mut self, result: &TurnResult) -> Noticed {
        if self.open == 0 && self.has_result {
            return Noticed::SpuriousResult;
        }
        // The first result may come without a turn, for example when there is nothing to resume.
        self.open = self.open.saturating_sub(1);
        self.queued = result.queued_turn_count.unwrap_or_default();
        self.has_result = true;
        Noticed::TurnEnded
    }
}

/// A word that this library does not know, such as `pending`, may be one for a task that goes on.
fn has_ended(status: &TaskStatus) -> bool {
    match status {
        TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Stopped | TaskStatus::Killed => true,
        TaskStatus::Running | TaskStatus::Other(_) => false,
    }
}
