//! `ralph`: run coding agents in a loop that people can watch, trust and stop.

use std::process::ExitCode;

fn main() -> ExitCode {
    agent_process::guard_main();
    ExitCode::SUCCESS
}
