//! Systems without a subreaper: the same calls, with nothing behind them.

/// There is no guard on this system; [`capabilities`](crate::capabilities) says so.
pub fn guard_main() {}

/// There is no guard on this system either way.
pub fn guard_main_reexec() {}

/// Nothing can be found by its marker on this system.
#[must_use = "says how many processes were killed"]
pub fn sweep(_marker: &str) -> u32 {
    0
}

/// This system keeps what it maps of a program.
pub fn release_code_pages() {}
