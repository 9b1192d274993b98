//! `write_if_ready()` and `write_within()`: control sequences for a terminal that may be on hold.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Writes a short sequence to stdout, unless that would wait: a terminal may be on hold. The keyboard switches modes of
/// the terminal with it.
pub fn write_if_ready(sequence: &str) {
    if is_ready(Duration::ZERO) {
        let _ = rustix::io::write(rustix::stdio::stdout(), sequence.as_bytes());
    }
}

/// Writes a short sequence to stdout as soon as it can be written. Gives up after `limit`, and where the terminal is gone.
pub(crate) fn write_within(sequence: &str, limit: Duration) {
    let deadline = Instant::now() + limit;
    let mut rest = sequence.as_bytes();
    while !rest.is_empty() && is_ready(deadline.saturating_duration_since(Instant::now())) {
        match rustix::io::write(rustix::stdio::stdout(), rest) {
            Ok(written @ 1..) => rest = rest.get(written..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Ok(_) | Err(_) => return,
        }
    }
}

fn is_ready(limit: Duration) -> bool {
    let stdout = rustix::stdio::stdout();
    let mut descriptors = [PollFd::new(&stdout, PollFlags::OUT)];
    let limit = Timespec::try_from(limit).ok();
    poll(&mut descriptors, limit.as_ref()).is_ok_and(|_| descriptors[0].revents() == PollFlags::OUT)
}
