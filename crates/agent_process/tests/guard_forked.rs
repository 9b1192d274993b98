//! The trials with guards that are forked from the zygote.

#[cfg(target_os = "linux")]
mod story;

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    agent_process::guard_main();
    story::run_trials(agent_process::GuardKind::Forked)
}
