//! `sweep`: finds processes by their marker and kills them, after both the guard and its owner were killed.

use crate::spec::Marker;

/// Kills every process that was started with this marker in its environment. Returns how many were killed.
///
/// Use it for children whose owner is known to be dead. It cannot find processes that cleared their environment or
/// belong to another user. It spares the caller and its ancestors, so that a process can sweep after a run that it was
/// started by, and all guards: they end by themselves, with everything they guard, once their owner is gone.
///
/// Linux only; elsewhere it finds nothing. It reads all of `/proc`, so call it where blocking is allowed.
#[must_use = "returns how many processes were killed"]
pub fn sweep(marker: &Marker) -> u32 {
    #[cfg(target_os = "linux")]
    {
        linux::sweep(marker)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = marker;
        0
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashSet;
    use std::fs;
    use std::path::PathBuf;
    use std::time::Duration;

    use rustix::process::Signal;

    use crate::guard::{GUARD_NAME, ProcessInfo, ZYGOTE_NAME, all_processes, process_info, signal_process};
    use crate::spec::Marker;

    /// A process may be forked between the scan and the kill of its parent, so scan again until none is found.
    const MAX_ROUNDS: usize = 20;
    /// How long a round waits for programs that are being started.
    const START_PAUSE: Duration = Duration::from_millis(2);
    /// The parent of all kernel threads, which never have an environment.
    const KERNEL_THREADS: i32 = 2;

    pub(super) fn sweep(marker: &Marker) -> u32 {
        let entry = format!("{}={}", marker.variable(), marker.value()).into_bytes();
        let spared = self_and_ancestors();
        let mut killed = HashSet::new();
        for _ in 0..MAX_ROUNDS {
            let mut is_starting = false;
            let marked: Vec<_> = all_processes()
                .into_iter()
                .filter(|process| {
                    if spared.contains(&process.pid) {
                        return false;
                    }
                    let is_marked = has_variable(process, &entry);
                    is_starting |= !is_marked && is_being_started(process);
                    is_marked && !is_guard(process.pid)
                })
                .collect();
            if marked.is_empty() {
                if !is_starting {
                    break;
                }
                std::thread::sleep(START_PAUSE);
            }
            for process in marked {
                if signal_process(&process, Signal::KILL) {
                    killed.insert((process.pid, process.started_ticks));
                }
            }
            std::thread::yield_now();
        }
        u32::try_from(killed.len()).unwrap_or(u32::MAX)
    }

    fn has_variable(process: &ProcessInfo, entry: &[u8]) -> bool {
        let has_entry = |path: PathBuf| {
            fs::read(path).is_ok_and(|environment| {
                environment
                    .split(|byte| *byte == 0)
                    .any(|variable| variable == entry)
            })
        };
        let folder = PathBuf::from(format!("/proc/{}", process.pid));
        if !process.leader_ended {
            return has_entry(folder.join("environ"));
        }
        // The environment is no longer shown for the process, but still for its other threads.
        let threads = fs::read_dir(folder.join("task")).into_iter().flatten().flatten();
        threads.map(|thread| thread.path().join("environ")).any(has_entry)
    }

    /// In the middle of `exec`, a process has neither arguments nor an environment, and it may have our marker soon.
    fn is_being_started(process: &ProcessInfo) -> bool {
        let is_empty = |name: &str| {
            fs::read(format!("/proc/{}/{name}", process.pid)).is_ok_and(|bytes| bytes.is_empty())
        };
        !process.leader_ended
            && ![process.pid, process.parent].contains(&KERNEL_THREADS)
            && is_empty("cmdline")
            && is_empty("environ")
    }

    /// A guard has the environment of the process it was forked from, so also the marker of an enclosing run.
    fn is_guard(pid: i32) -> bool {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        [GUARD_NAME, ZYGOTE_NAME]
            .iter()
            .any(|guard| guard.to_str() == Ok(name.trim_end()))
    }

    fn self_and_ancestors() -> Vec<i32> {
        let mut pids = vec![rustix::process::getpid().as_raw_nonzero().get()];
        while let Some(parent) = pids
            .last()
            .copied()
            .and_then(process_info)
            .map(|process| process.parent)
            && parent > 0
        {
            pids.push(parent);
        }
        pids
    }
}
