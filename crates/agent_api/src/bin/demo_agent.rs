//! The demo agent as a program of its own: `demo_agent -p --output-format=stream-json --verbose`, prompt by stdin.

use std::process::ExitCode;

fn main() -> ExitCode {
    agent_api::backends::demo::play(std::env::args_os().skip(1))
}
