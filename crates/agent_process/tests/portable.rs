//! The trials without a guard, as on macOS and Windows.

mod story;

fn main() {
    story::run_trials(agent_process::GuardKind::None)
}
