//! `armed_at()`: when keys may answer what has just appeared. Console and terminal UI use it.

use std::time::{Duration, Instant};

/// Keys answer a request after this long without a key press, so that text that is being typed does not.
const QUIET_TIME: Duration = Duration::from_millis(425);

/// When keys begin to act on something that was shown at `shown_at`.
#[must_use]
pub fn armed_at(shown_at: Instant, last_key_at: Option<Instant>) -> Instant {
    let quiet_since = last_key_at.map_or(shown_at, |last| last.max(shown_at));
    quiet_since + QUIET_TIME
}
