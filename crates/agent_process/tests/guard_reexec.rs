//! The trials with guards that are new runs of this executable.

#[cfg(target_os = "linux")]
mod story;

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    agent_process::guard_main_reexec();
    story::run_trials(agent_process::GuardKind::Reexec)
}
