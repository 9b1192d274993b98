//! Runs the scenarios of a table on the real CLIs, isolated, against the scripted model, and keeps what they wrote.
//! `capture --help` says how.

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
#[cfg(unix)]
use test_support::real_cli::{Agent, RealCli};

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
const HELP: &str = "\
capture list [AGENT|all]              what can be recorded
capture install [AGENT|all]           the pinned versions, into the cache folder
capture record AGENT [SCENARIO...]    runs the scenarios (all of them) and keeps what the CLI wrote
capture run [--only=SCENARIO]         the same for claude

AGENT is claude (where none is named), codex, gemini or qwen.
--version=V records one version only; --out=DIR writes elsewhere than to the package's fixtures.
";

#[cfg(unix)]
fn command() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let verb = arguments.next().unwrap_or_default();
    let mut words = Vec::new();
    let (mut version, mut directory) = (None, None);
    let mut names = Vec::new();
    while let Some(argument) = arguments.next() {
        if !argument.starts_with("--") {
            words.push(argument);
            continue;
        }
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (argument, arguments.next().unwrap_or_default()),
        };
        match name.as_str() {
            "--version" => version = Some(value),
            "--only" => names.push(value),
            "--out" => directory = Some(value.into()),
            _ => {
                return Err(io::Error::other(format!(
                    "unknown option `{name}`; see `capture --help`"
                )));
            }
        }
    }
    let mut words = words.into_iter();
    let agents = agents(words.next())?;
    names.extend(words);
    let record = |agent| {
        run::run(&run::Selection {
            agent,
            version,
            names,
            directory,
        })
    };
    match (verb.as_str(), agents.as_slice()) {
        ("list", agents) => agents.iter().try_for_each(|agent| list(*agent)),
        ("install", agents) => agents.iter().try_for_each(|agent| install(*agent)),
        ("record" | "run", [agent]) => record(*agent),
        ("--help" | "-h" | "help", _) => write!(io::stdout(), "{HELP}"),
        _ => Err(io::Error::other("see `capture --help`")),
    }
}

/// Claude Code alone where none is named: it is what the tests need.
#[cfg(unix)]
fn agents(word: Option<String>) -> io::Result<Vec<Agent>> {
    match word.as_deref() {
        None => Ok(vec![Agent::Claude]),
        Some("all") => Ok(Agent::ALL.to_vec()),
        Some(name) => Agent::named(name)
            .map(|agent| vec![agent])
            .ok_or_else(|| io::Error::other(format!("no agent is called `{name}`; see `capture --help`"))),
    }
}

#[cfg(unix)]
fn list(agent: Agent) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    for scenario in table::of(agent) {
        writeln!(
            stdout,
            "{:6} {:28} {:32} {}",
            agent.name(),
            scenario.name,
            scenario.versions.join(" "),
            scenario.what
        )?;
    }
    Ok(())
}

#[cfg(unix)]
fn install(agent: Agent) -> io::Result<()> {
    for version in agent.versions() {
        let cli = RealCli::install(agent, version).map_err(io::Error::other)?;
        writeln!(
            io::stdout(),
            "{} {version} {}",
            agent.name(),
            cli.path().display()
        )?;
    }
    Ok(())
}
