//! The story of a child, behind guards forked from a process without threads.

mod story;

fn main() {
    agent_process::guard_main();
    story::conclude(agent_process::GuardKind::Forked)
}
