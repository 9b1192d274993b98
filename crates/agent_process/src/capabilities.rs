//! What protects children in this process, on this system.

/// How far the protection of a child reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardKind {
    /// Guards are forked from a process that [`guard_main`](crate::guard_main) set up: nothing outlives us.
    Forked,
    /// Guards are new runs of this executable: the same protection for some more memory.
    Reexec,
    /// No guard: stopping ends the child's process group (on Windows: its job). Descendants that left the group
    /// survive, and on Unix so does everything when we are killed.
    None,
}

/// What is in force; see [`capabilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// How children are guarded.
    pub guard: GuardKind,
    /// Whether [`Isolation::PidNamespace`](crate::Isolation::PidNamespace) can be had.
    pub pid_namespace: bool,
}

/// Says what would protect a child that is spawned now.
#[must_use]
pub fn capabilities() -> Capabilities {
    #[cfg(target_os = "linux")]
    {
        use crate::guard::{Source, source};
        let guard = match source() {
            Source::Forked => GuardKind::Forked,
            Source::Reexec => GuardKind::Reexec,
            Source::Nowhere => GuardKind::None,
        };
        Capabilities {
            guard,
            pid_namespace: guard != GuardKind::None && namespaces_allowed(),
        }
    }
    #[cfg(not(target_os = "linux"))]
    Capabilities {
        guard: GuardKind::None,
        pid_namespace: false,
    }
}

/// A privileged process may always; others need unprivileged user namespaces, which systems switch off in
/// different ways.
#[cfg(target_os = "linux")]
fn namespaces_allowed() -> bool {
    const SYS_ADMIN: u64 = 1 << 21;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .map(str::trim);
    if effective
        .and_then(|mask| u64::from_str_radix(mask, 16).ok())
        .is_some_and(|mask| mask & SYS_ADMIN != 0)
    {
        return true;
    }
    let setting = |path: &str| {
        std::fs::read_to_string(path)
            .ok()
            .and_then(|text| text.trim().parse::<u64>().ok())
    };
    setting("/proc/sys/user/max_user_namespaces") != Some(0)
        && setting("/proc/sys/kernel/unprivileged_userns_clone") != Some(0)
        && setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") != Some(1)
}
