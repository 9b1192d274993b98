//! `measured`: how long something keeps this thread busy. Other programs on the machine do not count, so that figures
//! from a busy machine can be compared.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Runs `work` and says how much processor time it took.
pub fn measured<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = now();
    let done = work();
    (now().saturating_sub(start), done)
}

fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}
