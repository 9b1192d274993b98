//! `ralph run` as a user meets it: the built program, a scripted agent, every exit code and every reason to end.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]

mod asking;
mod background;
mod bad_input;
mod custom_agents;
mod disk;
mod endings;
mod files;
mod hostile;
mod keyboard;
mod memory;
mod naming;
mod notifying;
mod other_agents;
mod planning;
mod prompts;
mod queue;
mod recorder;
mod roles;
mod sessions;
mod stage;
mod stalled_output;
mod starting;
mod stopping;
mod suspending;
mod terminal;
mod terminal_ui;
mod terminal_ui_bad_input;
mod terminal_ui_story;
mod top_ups;
mod trust;
mod waits;
mod watching;
mod worktrees;
