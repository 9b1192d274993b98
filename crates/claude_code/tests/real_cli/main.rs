//! The client against the real Claude Code CLI and a scripted model on loopback.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod conversations;
mod host;
mod one_shot;
mod sessions;
mod stage;
mod stopping;
mod versions;

use libtest_mimic::Arguments;

fn main() {
    agent_process::guard_main();
    let mut trials = one_shot::trials();
    trials.extend(sessions::trials());
    trials.extend(conversations::trials());
    trials.extend(host::trials());
    trials.extend(stopping::trials());
    trials.extend(versions::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit()
}
