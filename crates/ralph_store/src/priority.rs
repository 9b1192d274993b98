//! `lower`: gives a thread less of the processor, for background work that no request waits for.

/// How much less the thread that writes the index gets, as a nice value. Requests that must be remembered wait for it.
pub(crate) const INDEX: i32 = 5;
/// How much less the text index gets.
pub(crate) const TEXT_INDEX: i32 = 10;

/// Lowers the priority of the calling thread. Where the system cannot do that for one thread, nothing happens.
pub(crate) fn lower(nice: i32) {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(nice) {
        tracing::debug!(%error, "the priority of a thread could not be lowered");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = nice;
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{TEXT_INDEX, lower};

    #[test]
    fn only_the_calling_thread_is_slower() {
        let before = rustix::process::nice(0).unwrap();
        let lowered = std::thread::spawn(|| {
            lower(TEXT_INDEX);
            rustix::process::nice(0).unwrap()
        });
        assert_eq!(lowered.join().unwrap(), (before + TEXT_INDEX).min(19));
        assert_eq!(rustix::process::nice(0).unwrap(), before);
    }
}
