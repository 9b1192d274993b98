//! `armed_at()`: when keys may answer what has just appeared. The keyboard and the terminal UI share it.

use std::time::{Duration, Instant};

/// Keys answer a request after this long without a key press, so that text that is being typed does not.
const QUIET_TIME: Duration = Duration::from_millis(425);

/// When keys get the meaning that what was shown at `shown_at` gives them.
pub fn armed_at(shown_at: Instant, last_key_at: Option<Instant>) -> Instant {
    let quiet_since = last_key_at.map_or(shown_at, |last| last.max(shown_at));
    quiet_since + QUIET_TIME
}
