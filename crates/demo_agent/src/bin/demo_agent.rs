//! The demo agent as a program: `demo_agent -p --output-format=stream-json --verbose`, with the prompt on stdin.

use std::process::ExitCode;

fn main() -> ExitCode {
    demo_agent::run(std::env::args_os().skip(1))
}
