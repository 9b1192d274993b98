//! The same story, behind guards that are new runs of this executable.

mod story;

fn main() {
    agent_process::guard_main_reexec();
    story::conclude(agent_process::GuardKind::Reexec)
}
