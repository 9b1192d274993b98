//! The common contract against the real Claude Code CLI and a scripted model on loopback.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod conversations;
mod one_shot;
mod stage;

use libtest_mimic::Arguments;

fn main() {
    agent_process::guard_main();
    let mut trials = one_shot::trials();
    trials.extend(conversations::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit()
}
