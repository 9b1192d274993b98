//! Which `result` counts.

use crate::event::{Event, Kind, TurnResult};
use crate::turns::{Noticed, TurnTracker};

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

/// Follows turns and keeps their results.
#[derive(Debug, Default)]
pub(super) struct Turns {
    tracker: TurnTracker,
    counted: Option<Box<TurnResult>>,
    earlier: Vec<TurnResult>,
    spurious: u32,
}

impl Turns {
    /// Takes the next event into account.
    pub(super) fn notice(&mut self, event: &Event) -> Noticed {
        let noticed = self.tracker.notice(event);
        match (noticed, event.kind()) {
            (Noticed::TurnEnded, Kind::Result(result)) => {
                let earlier = self.counted.replace(result.clone());
                self.earlier.extend(earlier.map(|result| *result));
            }
            (Noticed::SpuriousResult, _) => self.spurious += 1,
            _ => {}
        }
        noticed
    }

    /// Whether there was a result and nothing is left to do: the process should exit by itself.
    pub(super) fn is_idle(&self) -> bool {
        self.tracker.is_idle()
    }

    /// All results.
    pub(super) fn into_results(self) -> Results {
        Results {
            left: Left {
                turns: self.tracker.open_turns(),
                tasks: self.tracker.open_tasks(),
            },
            counted: self.counted,
            earlier: self.earlier,
            spurious: self.spurious,
        }
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
