//! `wait_until` and `wait_for`: the only way in which a test waits for something that it cannot block on.

use std::thread;
use std::time::{Duration, Instant};

/// Only reached by a test that fails.
const DEADLINE: Duration = Duration::from_secs(60);
const INTERVAL: Duration = Duration::from_millis(2);

/// Waits until the condition holds.
///
/// # Panics
/// After a minute, with `what` in the message.
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    wait_for(what, || condition().then_some(()));
}

/// Waits until there is a value.
///
/// # Panics
/// After a minute, with `what` in the message.
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < DEADLINE, "timed out waiting for {what}");
        thread::sleep(INTERVAL);
    }
}
