//! `lineage`: which process started another one, for programs that must not take orders from the agents they run.

use crate::spec::Marker;

/// Where a process comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lineage {
    /// It, or a process that started it, is below the ancestor or has the marker in its environment.
    Descendant,
    /// It comes from elsewhere.
    Unrelated,
    /// The process has ended.
    Gone,
}

/// Whether a process descends from `ancestor`, at any depth, or carries the marker.
///
/// Processes whose parent has died are found as long as the ancestor's guard lives, because they become its children.
/// The marker is looked for in the environment of the process and of everything above it, so removing it from one
/// process hides nothing. The ancestor itself is not its own descendant.
///
/// Linux only; elsewhere every process is [`Lineage::Unrelated`].
#[must_use]
pub fn lineage(pid: u32, ancestor: u32, marker: &Marker) -> Lineage {
    #[cfg(target_os = "linux")]
    {
        linux::lineage(pid, ancestor, marker)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (pid, ancestor, marker);
        Lineage::Unrelated
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;

    use rustix::process::Pid;

    use super::Lineage;
    use crate::guard::process_info;
    use crate::spec::Marker;

    pub(super) fn lineage(pid: u32, ancestor: u32, marker: &Marker) -> Lineage {
        let entry = format!("{}={}", marker.variable(), marker.value()).into_bytes();
        let Ok(mut current) = i32::try_from(pid) else {
            return Lineage::Gone;
        };
        if process_info(current).is_none() && !exists_unseen(current) {
            return Lineage::Gone;
        }
        if pid == ancestor {
            return Lineage::Unrelated;
        }
        while current > 0 {
            if has_variable(current, &entry) {
                return Lineage::Descendant;
            }
            let Some(process) = process_info(current) else {
                break;
            };
            if u32::try_from(process.parent) == Ok(ancestor) {
                return Lineage::Descendant;
            }
            current = process.parent;
        }
        Lineage::Unrelated
    }

    /// Whether a process is there that `/proc` does not show, because it belongs to another user or `/proc` is missing.
    fn exists_unseen(pid: i32) -> bool {
        let found = Pid::from_raw(pid).map(rustix::process::test_kill_process);
        matches!(found, Some(Ok(()) | Err(rustix::io::Errno::PERM)))
    }

    fn has_variable(pid: i32, entry: &[u8]) -> bool {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == entry)
    }
}
