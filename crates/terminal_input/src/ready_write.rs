//! `write_if_ready()`: control sequences for a terminal that may be on hold.

/// Writes a short sequence to stdout, unless that would wait: a terminal may be on hold. The keyboard switches modes of
/// the terminal with it.
pub fn write_if_ready(sequence: &str) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = rustix::stdio::stdout();
    let mut descriptors = [PollFd::new(&stdout, PollFlags::OUT)];
    let no_wait = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let is_ready =
        poll(&mut descriptors, Some(&no_wait)).is_ok_and(|_| descriptors[0].revents() == PollFlags::OUT);
    if is_ready {
        let _ = rustix::io::write(stdout, sequence.as_bytes());
    }
}
