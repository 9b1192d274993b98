//! `bench parser`: measures ralph against its peers, in one run, on this machine.

mod arguments;
mod parser;

use std::process::ExitCode;

const USAGE: &str = "usage: bench parser [--fixtures DIR] [--megabytes N] [--rounds N] [--only NAME] [--corpus NAME]";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let outcome = match arguments.next().as_deref() {
        Some("parser") => parser::run(arguments),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
