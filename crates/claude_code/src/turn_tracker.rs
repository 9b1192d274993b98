//! `TurnTracker`: which turns and background tasks of a process are open.
//!
//! A process can write several results: background work that ends wakes another turn, and both results may come at the
//! end. Each turn begins with an `init`, so a result without a turn of its own is not one: some versions add an error
//! after a success.

use std::collections::HashSet;

use crate::event::{Event, Kind, System, TaskStatus, TurnResult};

/// Tracks turns and background tasks. Pass it every event.
#[derive(Debug, Default)]
pub struct TurnTracker {
    /// Turns that have begun and have no result yet.
    open: u32,
    open_tasks: HashSet<String>,
    queued: u64,
    has_result: bool,
}

/// How an event changes the open turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnChange {
    /// A turn started.
    TurnStarted,
    /// A turn ended: the event is its result.
    TurnEnded,
    /// A result that belongs to no turn.
    SpuriousResult,
    /// No change.
    None,
}

impl TurnTracker {
    /// A tracker for one process.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next event into account.
    pub fn observe(&mut self, event: &Event) -> TurnChange {
        match event.kind() {
            Kind::System(system) => self.observe_system(system),
            // Old versions and other programs may continue without another `init`.
            Kind::Assistant(_) | Kind::StreamEvent(_)
                if self.open == 0 && event.parent_tool_use_id().is_none() =>
            {
                self.open = 1;
                TurnChange::TurnStarted
            }
            Kind::Result(result) => self.observe_result(result),
            _ => TurnChange::None,
        }
    }

    /// Whether there was a result and nothing is left to do: the process should exit by itself, once its input has
    /// ended.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.is_between_turns() && self.open_tasks.is_empty()
    }

    /// Whether there was a result and no turn is open. Background tasks may be.
    #[must_use]
    pub fn is_between_turns(&self) -> bool {
        self.has_result && self.open_turns() == 0
    }

    /// Turns that are running or waiting to run.
    #[must_use]
    pub fn open_turns(&self) -> u64 {
        u64::from(self.open).saturating_add(self.queued)
    }

    /// Background tasks that are running.
    #[must_use]
    pub fn open_tasks(&self) -> usize {
        self.open_tasks.len()
    }

    fn observe_system(&mut self, system: &System) -> TurnChange {
        match system {
            System::Init(_) => {
                self.open += 1;
                return TurnChange::TurnStarted;
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
        TurnChange::None
    }

    fn end_task(&mut self, task_id: Option<&str>) {
        if let Some(task_id) = task_id {
            self.open_tasks.remove(task_id);
        }
    }

    fn observe_result(&mut self, result: &TurnResult) -> TurnChange {
        if self.open == 0 && self.has_result {
            return TurnChange::SpuriousResult;
        }
        // The first result may come without a turn, for example when there is nothing to resume.
        self.open = self.open.saturating_sub(1);
        self.queued = result.queued_turn_count.unwrap_or_default();
        self.has_result = true;
        TurnChange::TurnEnded
    }
}

/// A status that this library does not know, such as `pending`, may be that of a running task.
fn has_ended(status: &TaskStatus) -> bool {
    match status {
        TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Stopped | TaskStatus::Killed => true,
        TaskStatus::Running | TaskStatus::Other(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::TurnTracker;
    use crate::parse_line;

    const INIT: &str = r#"{"type":"system","subtype":"init"}"#;
    const SAID: &str = r#"{"type":"assistant","message":{"content":[]},"parent_tool_use_id":null}"#;
    const DONE: &str = r#"{"type":"result","subtype":"success"}"#;
    const STARTED: &str =
        r#"{"type":"system","subtype":"task_started","task_id":"b1","is_backgrounded":true}"#;
    const ENDED: &str =
        r#"{"type":"system","subtype":"task_notification","task_id":"b1","status":"completed"}"#;
    const NO_TASKS: &str = r#"{"type":"system","subtype":"background_tasks_changed","tasks":[]}"#;
    const TWO_QUEUED: &str = r#"{"type":"result","subtype":"success","queued_turn_count":2}"#;

    fn track(lines: &[&str]) -> TurnTracker {
        let mut tracker = TurnTracker::new();
        for line in lines {
            tracker.observe(&parse_line(line.as_bytes()).unwrap());
        }
        tracker
    }

    #[test]
    fn a_process_is_idle_after_a_result_when_every_turn_and_task_has_ended() {
        for (lines, turns, tasks) in [
            (vec![INIT, SAID, DONE], 0, 0),
            (vec![INIT, STARTED, SAID, DONE], 0, 1),
            (vec![INIT, STARTED, SAID, DONE, ENDED], 0, 0),
            (vec![INIT, STARTED, SAID, DONE, ENDED, INIT], 1, 0),
            (vec![INIT, STARTED, SAID, DONE, NO_TASKS], 0, 0),
            (vec![INIT, SAID, TWO_QUEUED], 2, 0),
        ] {
            let tracker = track(&lines);
            assert_eq!(
                (tracker.open_turns(), tracker.open_tasks()),
                (turns, tasks),
                "{lines:?}"
            );
            assert_eq!(tracker.is_idle(), turns == 0 && tasks == 0, "{lines:?}");
        }
        assert!(!track(&[INIT, SAID]).is_idle(), "no result yet");
        assert!(!track(&[]).is_idle(), "nothing happened yet");
    }

    #[test]
    fn only_a_final_status_ends_a_task() {
        for (status, is_idle) in [
            ("running", false),
            ("pending", false),
            ("paused", false),
            ("completed", true),
            ("failed", true),
            ("stopped", true),
            ("killed", true),
        ] {
            let updated = format!(
                r#"{{"type":"system","subtype":"task_updated","task_id":"b1","patch":{{"status":"{status}"}}}}"#
            );
            let notified = ENDED.replace("completed", status);
            for line in [updated, notified] {
                let tracker = track(&[INIT, STARTED, SAID, DONE, &line]);
                assert_eq!(tracker.is_idle(), is_idle, "{line}");
            }
        }
    }
}
