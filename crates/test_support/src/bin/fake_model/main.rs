//! The scripted model API as a process: `fake_model [--port=N]`, `fake_model --list`.
//!
//! Prints its address and serves until stdin ends.

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;
use test_support::fake_model::{FakeModel, scenario_names};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody else to tell.
            let _ = writeln!(io::stderr(), "fake_model: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    let mut port = 0;
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("--port", number)) => port = number.parse().map_err(io::Error::other)?,
            None if argument == "--list" => return list(),
            _ => {
                return Err(io::Error::other(format!(
                    "unknown argument `{argument}`; use --port=N or --list"
                )));
            }
        }
    }
    let model = FakeModel::start_blocking(port, None)?;
    writeln!(io::stdout(), "listening on {}", model.base_url())?;
    io::stdin().lock().read_to_end(&mut Vec::new()).map(drop)
}

fn list() -> io::Result<()> {
    scenario_names().try_for_each(|name| writeln!(io::stdout(), "{name}"))
}
