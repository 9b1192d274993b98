//! Runs the scenarios of a table on the real CLI, isolated, against the scripted model, and keeps what it wrote.
//!
//!     capture list
//!     capture install
//!     capture run [--version=V] [--only=NAME] [--out=DIR]

#[cfg(unix)]
mod conversation;
#[cfg(unix)]
mod index;
#[cfg(unix)]
mod keep;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod scenario;
#[cfg(unix)]
mod table;

use std::io::{self, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    match command() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody else to tell.
            let _ = writeln!(io::stderr(), "capture: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(unix))]
fn command() -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "fixtures are captured on Unix systems",
    ))
}

#[cfg(unix)]
fn command() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let verb = arguments.next().unwrap_or_default();
    let mut selection = run::Selection::default();
    while let Some(argument) = arguments.next() {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (argument, arguments.next().unwrap_or_default()),
        };
        match name.as_str() {
            "--version" => selection.version = Some(value),
            "--only" => selection.name = Some(value),
            "--out" => selection.directory = Some(value.into()),
            _ => return Err(io::Error::other(format!("unknown option `{name}`"))),
        }
    }
    match verb.as_str() {
        "list" => list(),
        "install" => install(),
        "run" => run::run(&selection),
        _ => Err(io::Error::other(
            "use `capture list`, `capture install` or `capture run`",
        )),
    }
}

#[cfg(unix)]
fn list() -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    for scenario in table::all() {
        writeln!(
            stdout,
            "{:28} {:32} {}",
            scenario.name,
            scenario.versions.join(" "),
            scenario.what
        )?;
    }
    Ok(())
}

#[cfg(unix)]
fn install() -> io::Result<()> {
    for version in test_support::real_cli::VERSIONS {
        let claude = test_support::real_cli::RealClaude::install(version).map_err(io::Error::other)?;
        writeln!(io::stdout(), "{version} {}", claude.path().display())?;
    }
    Ok(())
}
