//! `Pace`: when `ralph replay` shows the next record.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use agent_api::Body;
use jiff::Timestamp;
use ralph_run::{Record, RunEvent};
use tokio::time::Instant;

/// Longer pauses are shortened.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// How often the status line moves during a pause.
const FRAME_INTERVAL: Duration = Duration::from_millis(100);

/// Pauses for recordings without times: after a piece of text, and after anything else that is shown.
const DELTA_PAUSE: Duration = Duration::from_millis(30);
const STEP_PAUSE: Duration = Duration::from_millis(400);

/// The current time in the recording.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock(Arc<AtomicI64>);

impl Clock {
    pub(super) fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(self.0.load(Ordering::Relaxed)).unwrap_or_default()
    }

    fn set(&self, at: Timestamp) {
        self.0.store(at.as_microsecond(), Ordering::Relaxed);
    }
}

#[derive(Debug)]
pub(super) struct Pace {
    /// `None` skips all pauses.
    speed: Option<f64>,
    has_times: bool,
    clock: Clock,
    /// The time of the last record, and when it was due here.
    last: Option<(Timestamp, Instant)>,
    /// The time of the next record.
    at: Timestamp,
    due: Instant,
}

impl Pace {
    pub(super) fn new(speed: Option<f64>, has_times: bool) -> Self {
        Self {
            speed,
            has_times,
            clock: Clock::default(),
            last: None,
            at: Timestamp::UNIX_EPOCH,
            due: Instant::now(),
        }
    }

    pub(super) fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// Sets the next record.
    pub(super) fn begin(&mut self, record: &Record) {
        self.at = record.at;
        let (Some(speed), Some((last_at, last_due))) = (self.speed, self.last) else {
            self.due = Instant::now();
            self.last = Some((record.at, self.due));
            return;
        };
        let gap = if self.has_times {
            // No pause where the clock was set back.
            Duration::try_from(record.at.duration_since(last_at)).unwrap_or_default()
        } else {
            typical(&record.event)
        };
        let gap = Duration::try_from_secs_f64(gap.min(MAX_PAUSE).as_secs_f64() / speed).unwrap_or(MAX_PAUSE);
        // From when the last one was due, so that the time to show it does not add up.
        self.due = last_due + gap;
        self.last = Some((record.at, self.due));
    }

    /// Waits for at most one frame. Whether the record is not due yet.
    pub(super) async fn pause(&mut self) -> bool {
        let now = Instant::now();
        if now >= self.due {
            self.clock.set(self.at);
            return false;
        }
        let left = (self.due - now).mul_f64(self.speed.unwrap_or(1.0).min(1_000.0));
        self.clock.set(self.at.checked_sub(left).unwrap_or(self.at));
        tokio::time::sleep_until(self.due.min(now + FRAME_INTERVAL)).await;
        true
    }
}

fn typical(event: &RunEvent) -> Duration {
    match event {
        RunEvent::Agent(event) => match &event.body {
            Body::Delta(_) => DELTA_PAUSE,
            Body::ToolStarted(_) | Body::ToolFinished(_) | Body::TextBlock(_) | Body::TurnFinished(_) => {
                STEP_PAUSE
            }
            _ => Duration::ZERO,
        },
        RunEvent::Run(_) | RunEvent::Unknown(_) => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use ralph_run::{Record, RunBody, RunEvent, VerifyStarted};
    use tokio::time::Instant;

    use super::Pace;

    fn record(at_ms: i64) -> Record {
        Record {
            seq: 1,
            at: Timestamp::from_millisecond(at_ms).unwrap(),
            iteration: 1,
            attempt: 1,
            event: RunEvent::Run(RunBody::VerifyStarted(VerifyStarted {
                command: String::new(),
            })),
        }
    }

    /// How long it takes to play records of these times.
    fn length_ms(speed: Option<f64>, times: &[i64]) -> u128 {
        let mut pace = Pace::new(speed, true);
        let mut first = None;
        for at in times {
            pace.begin(&record(*at));
            first.get_or_insert(pace.due);
        }
        (pace.due - first.unwrap()).as_millis()
    }

    #[test]
    fn pauses_are_as_recorded_but_none_is_endless_or_negative() {
        let times = [1_000, 1_500, 3_000, 2_000, 3_000];
        assert_eq!(length_ms(Some(1.0), &times), 3_000);
        assert_eq!(length_ms(Some(2.0), &times), 1_500);
        assert_eq!(length_ms(Some(1.0), &[0, 3_600_000]), 10_000);
        assert_eq!(length_ms(Some(1e-300), &[0, 1]), 10_000);
    }

    #[test]
    fn without_a_speed_every_record_is_due_at_once() {
        let mut pace = Pace::new(None, true);
        for at in [0, 3_600_000] {
            pace.begin(&record(at));
            assert!(pace.due <= Instant::now());
        }
    }
}
