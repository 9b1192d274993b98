//! The same story without a guard, as on systems that have none.

mod story;

fn main() {
    story::conclude(agent_process::GuardKind::None)
}
