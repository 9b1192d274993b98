//! `capabilities`: how well children of this process are protected, on this system.

/// How children are supervised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardKind {
    /// Each child has a guard process, forked from the zygote that [`guard_main`](crate::guard_main) started. No
    /// descendant outlives this process.
    Forked,
    /// Each child has a guard process that is a new run of this executable: the same protection, more memory.
    Reexec,
    /// No guard. Stopping ends the child's process group (on Windows: its job). Descendants that left the group
    /// survive; on Unix, all of them survive if this process is killed.
    None,
}

/// The protection in force; see [`capabilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// How children are supervised.
    pub guard: GuardKind,
    /// Whether [`Isolation::PidNamespace`](crate::Isolation::PidNamespace) is likely to be allowed.
    pub pid_namespace: bool,
}

/// Returns the protection that a child spawned now would have.
#[must_use]
pub fn capabilities() -> Capabilities {
    #[cfg(target_os = "linux")]
    {
        use crate::guard::{GuardSource, guard_source};
        let guard = match guard_source() {
            GuardSource::Forked => GuardKind::Forked,
            GuardSource::Reexec => GuardKind::Reexec,
            GuardSource::None => GuardKind::None,
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

/// Does nothing: there are no guards on this system, as [`capabilities`] reports.
#[cfg(not(target_os = "linux"))]
pub fn guard_main() {}

/// Does nothing: there are no guards on this system, as [`capabilities`] reports.
#[cfg(not(target_os = "linux"))]
pub fn guard_main_reexec() {}

/// Checks for CAP_SYS_ADMIN, then for the settings with which distributions disable unprivileged user namespaces.
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
