//! Real agents against a scripted model on loopback, each through its backend: one table of agents and scenarios.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

#[cfg(target_os = "linux")]
mod doors;
#[cfg(target_os = "linux")]
mod ends;
#[cfg(target_os = "linux")]
mod questions;
#[cfg(target_os = "linux")]
mod stage;
#[cfg(target_os = "linux")]
mod work;

#[cfg(target_os = "linux")]
use std::io::Write as _;
#[cfg(target_os = "linux")]
use test_support::real_cli::RealCli;

/// Tests of an agent that cannot run on this machine count as ignored, and the reason is printed.
#[cfg(target_os = "linux")]
fn main() {
    agent_process::guard_main();
    let mut trials = Vec::new();
    for door in &doors::DOORS {
        let cannot_run = RealCli::reason_to_skip(door.agent, door.agent.current_version());
        if let Some(reason) = &cannot_run {
            // Without stderr, the count of ignored tests still tells.
            let _ = writeln!(std::io::stderr(), "SKIPPED: {}: {reason}", door.name);
        }
        let of_door = [work::trials(door), ends::trials(door), questions::trials(door)];
        let of_door = of_door.into_iter().flatten();
        trials.extend(of_door.map(|trial| trial.with_ignored_flag(cannot_run.is_some())));
    }
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials).exit()
}

/// Processes are looked up in `/proc`.
#[cfg(not(target_os = "linux"))]
fn main() {}
