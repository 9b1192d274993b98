//! `clock`: the time that deadlines and durations of children are measured in. It stands still during a [`Suspension`],
//! so that nothing expires while this process is stopped.
//!
//! [`Suspension`]: crate::Suspension

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

struct Clock {
    stopped_at: Option<Instant>,
    /// How long it stood still so far, apart from now.
    stood_still: Duration,
}

static CLOCK: Mutex<Clock> = Mutex::new(Clock {
    stopped_at: None,
    stood_still: Duration::ZERO,
});

static RESUMED: Notify = Notify::const_new();

fn clock() -> MutexGuard<'static, Clock> {
    CLOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The current time of this clock. Monotonic, and independent of the system's date.
#[must_use]
pub fn now() -> Instant {
    let clock = clock();
    let now = clock.stopped_at.unwrap_or_else(Instant::now);
    now.checked_sub(clock.stood_still).unwrap_or(now)
}

/// Waits until this clock shows `at`. Cancel-safe.
pub async fn sleep_until(at: Instant) {
    loop {
        let mut resumed = pin!(RESUMED.notified());
        resumed.as_mut().enable();
        let wake_at = {
            let clock = clock();
            match clock.stopped_at {
                Some(_) => None,
                None => Some(at.checked_add(clock.stood_still).unwrap_or(at)),
            }
        };
        match wake_at {
            Some(wake_at) => {
                tokio::time::sleep_until(wake_at).await;
                if now() >= at {
                    return;
                }
            }
            None => resumed.await,
        }
    }
}

/// Waits for a time of this clock. Cancel-safe.
pub async fn sleep(duration: Duration) {
    match now().checked_add(duration) {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Waits for a future, at most this long by this clock; `None` if it took longer.
pub async fn timeout<F: Future>(limit: Duration, future: F) -> Option<F::Output> {
    tokio::select! {
        biased;
        output = future => Some(output),
        () = sleep(limit) => None,
    }
}

/// How long ago `at` was, by this clock.
#[must_use]
pub fn elapsed_since(at: Instant) -> Duration {
    now().saturating_duration_since(at)
}

/// Stops the clock, until [`resume`].
pub(crate) fn stop() {
    clock().stopped_at.get_or_insert_with(Instant::now);
}

/// Returns how long the clock stood still.
pub(crate) fn resume() -> Duration {
    let mut clock = clock();
    let duration = clock.stopped_at.take().map(|at| at.elapsed()).unwrap_or_default();
    clock.stood_still += duration;
    drop(clock);
    RESUMED.notify_waiters();
    duration
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{elapsed_since, now, resume, sleep_until, stop, timeout};

    #[tokio::test]
    async fn it_stands_still_until_it_is_resumed_and_deadlines_move_along() {
        let started = now();
        let limit = Duration::from_millis(30);
        let waiting = tokio::spawn(sleep_until(started + limit));
        stop();
        let stopped_at = now();
        // By the system's clock the deadline passes here.
        tokio::time::sleep(10 * limit).await;
        assert_eq!(now(), stopped_at);
        assert!(!waiting.is_finished());
        let stood_still = resume();
        assert!(stood_still >= 10 * limit, "{stood_still:?}");
        waiting.await.unwrap();
        let elapsed = elapsed_since(started);
        assert!(elapsed >= limit, "{elapsed:?}");
        assert!(started.elapsed() >= elapsed + stood_still);
    }

    #[tokio::test]
    async fn a_limit_does_not_pass_while_it_stands_still() {
        let limit = Duration::from_millis(30);
        assert_eq!(timeout(limit, std::future::pending::<()>()).await, None);
        let (answer, answered) = tokio::sync::oneshot::channel();
        let waiting = tokio::spawn(timeout(limit, answered));
        stop();
        // By the system's clock the limit passes here.
        tokio::time::sleep(10 * limit).await;
        answer.send("late, and in time").unwrap();
        assert_eq!(waiting.await.unwrap(), Some(Ok("late, and in time")));
        resume();
    }
}
