//! Which `result` counts, and whether the CLI has anything left to do.
//!
//! A process can write several: background work that ends wakes another turn, and both results may come at the end.
//! Each turn begins with an `init`, so a result without a turn of its own is not one: some versions add an error
//! after a success.

use std::collections::HashSet;

use crate::event::{Event, Kind, System, TaskStatus, TurnResult};

/// What an event turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noticed {
    /// Part of the run.
    Event,
    /// A result that no turn belongs to.
    SpuriousResult,
}

/// The results of a process.
#[derive(Debug)]
pub(super) struct Results {
    /// The last one that ends a turn.
    pub(super) counted: Option<Box<TurnResult>>,
    /// Those of the turns before, in order.
    pub(super) earlier: Vec<TurnResult>,
    /// How many there were that end no turn.
    pub(super) spurious: u32,
    /// What had not ended.
    pub(super) left: Left,
}

/// What a process had not finished when it ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Left {
    /// Turns that had begun, or that waited to begin.
    pub(super) turns: u64,
    /// Background tasks.
    pub(super) tasks: usize,
}

/// Follows turns and background tasks.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Turns that have begun and have no result yet.
    open: u32,
    open_tasks: HashSet<String>,
    queued: u64,
    counted: Option<Box<TurnResult>>,
    earlier: Vec<TurnResult>,
    spurious: u32,
}

impl Turns {
    /// Takes the next event into account.
    pub(super) fn notice(&mut self, event: &Event) -> Noticed {
        match event.kind() {
            Kind::System(system) => self.notice_system(system),
            // Old versions and other programs may go on without a further `init`.
            Kind::Assistant(_) | Kind::StreamEvent(_) if event.parent_tool_use_id().is_none() => {
                self.open = self.open.max(1);
            }
            Kind::Result(result) => return self.notice_result(result),
            _ => {}
        }
        Noticed::Event
    }

    fn notice_system(&mut self, system: &System) {
        match system {
            System::Init(_) => self.open += 1,
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
    }

    fn end_task(&mut self, task_id: Option<&str>) {
        if let Some(task_id) = task_id {
            self.open_tasks.remove(task_id);
        }
    }

    fn notice_result(&mut self, result: &TurnResult) -> Noticed {
        if self.open == 0 && self.counted.is_some() {
            self.spurious += 1;
            return Noticed::SpuriousResult;
        }
        // The first result may come without a turn, for example when there is nothing to resume.
        self.open = self.open.saturating_sub(1);
        self.queued = result.queued_turn_count.unwrap_or_default();
        let earlier = self.counted.replace(Box::new(result.clone()));
        self.earlier.extend(earlier.map(|result| *result));
        Noticed::Event
    }

    /// Whether there was a result and nothing is left to do: the process should exit by itself.
    pub(super) fn is_idle(&self) -> bool {
        self.counted.is_some() && self.left() == Left::default()
    }

    fn left(&self) -> Left {
        Left {
            turns: u64::from(self.open).saturating_add(self.queued),
            tasks: self.open_tasks.len(),
        }
    }

    /// All results.
    pub(super) fn into_results(self) -> Results {
        Results {
            left: self.left(),
            counted: self.counted,
            earlier: self.earlier,
            spurious: self.spurious,
        }
    }
}

/// A word that this library does not know, such as `pending`, may be one for a task that goes on.
fn has_ended(status: &TaskStatus) -> bool {
    match status {
        TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Stopped | TaskStatus::Killed => true,
        TaskStatus::Running | TaskStatus::Other(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Left, Results, Turns};
    use crate::parse_line;

    const INIT: &str = r#"{"type":"system","subtype":"init"}"#;
    const SAID: &str = r#"{"type":"assistant","message":{"content":[]},"parent_tool_use_id":null}"#;
    const SUBAGENT_SAID: &str =
        r#"{"type":"assistant","message":{"content":[]},"parent_tool_use_id":"toolu_1"}"#;
    const STARTED: &str =
        r#"{"type":"system","subtype":"task_started","task_id":"b1","is_backgrounded":true}"#;
    const ENDED: &str =
        r#"{"type":"system","subtype":"task_notification","task_id":"b1","status":"completed"}"#;

    fn result(text: &str) -> String {
        format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{text}"}}"#)
    }

    fn follow(lines: &[&str]) -> Turns {
        let mut turns = Turns::default();
        for line in lines {
            turns.notice(&parse_line(line.as_bytes()).unwrap());
        }
        turns
    }

    fn counted(lines: &[&str]) -> (Option<String>, u32) {
        let Results {
            counted: result,
            spurious,
            ..
        } = follow(lines).into_results();
        (
            result
                .and_then(|result| result.result)
                .map(|text| text.to_string()),
            spurious,
        )
    }

    #[test]
    fn the_last_result_with_a_turn_counts() {
        let (one, two) = (result("one"), result("two"));
        assert_eq!(counted(&[INIT, SAID, &one]), (Some("one".into()), 0));
        assert_eq!(
            counted(&[INIT, SAID, &one, INIT, SAID, &two]),
            (Some("two".into()), 0)
        );
        assert_eq!(
            counted(&[INIT, SAID, INIT, SAID, &one, &two]),
            (Some("two".into()), 0),
            "both at the end"
        );
        assert_eq!(
            counted(&[INIT, SAID, &one, SAID, &two]),
            (Some("two".into()), 0),
            "a turn without init"
        );
        assert_eq!(counted(&[&one]), (Some("one".into()), 0), "nothing to resume");
        assert_eq!(counted(&[INIT, SAID]), (None, 0));
    }

    #[test]
    fn a_result_without_a_turn_is_ignored_and_noted() {
        let (one, two) = (result("one"), result("two"));
        assert_eq!(counted(&[INIT, SAID, &one, &two]), (Some("one".into()), 1));
        assert_eq!(
            counted(&[INIT, SAID, &one, SUBAGENT_SAID, &two]),
            (Some("one".into()), 1)
        );
    }

    #[test]
    fn a_run_is_idle_when_every_turn_and_task_has_ended() {
        let done = result("done");
        assert!(!follow(&[INIT, SAID]).is_idle());
        assert!(follow(&[INIT, SAID, &done]).is_idle());
        assert!(
            !follow(&[INIT, STARTED, SAID, &done]).is_idle(),
            "background work goes on"
        );
        assert!(follow(&[INIT, STARTED, SAID, &done, ENDED]).is_idle());
        assert!(
            !follow(&[INIT, STARTED, SAID, &done, ENDED, INIT]).is_idle(),
            "it wakes another turn"
        );
        let none = r#"{"type":"system","subtype":"background_tasks_changed","tasks":[]}"#;
        assert!(follow(&[INIT, STARTED, SAID, &done, none]).is_idle());
        let queued = r#"{"type":"result","subtype":"success","queued_turn_count":1}"#;
        assert!(!follow(&[INIT, SAID, queued]).is_idle());
    }

    #[test]
    fn only_an_end_ends_a_task() {
        let done = result("done");
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
                let turns = follow(&[INIT, STARTED, SAID, &done, &line]);
                assert_eq!(turns.is_idle(), is_idle, "{line}");
            }
        }
    }

    #[test]
    fn what_was_not_finished_is_told() {
        let done = result("done");
        let left = |lines: &[&str]| follow(lines).into_results().left;
        assert_eq!(left(&[INIT, SAID, &done]), Left::default());
        assert_eq!(left(&[INIT, SAID, &done, INIT]), Left { turns: 1, tasks: 0 });
        assert_eq!(left(&[INIT, STARTED, SAID, &done]), Left { turns: 0, tasks: 1 });
        let queued = r#"{"type":"result","subtype":"success","queued_turn_count":2}"#;
        assert_eq!(left(&[INIT, SAID, queued]), Left { turns: 2, tasks: 0 });
    }
}
