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
use std::time::Instant;
#[cfg(unix)]
use test_support::real_cli::{Agent, InstallError, RealCli};

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
capture install [--agents=LIST]       the pinned versions, into the cache folder (LIST: claude,codex,... or all)
capture record AGENT [SCENARIO...]    runs the scenarios (all of them) and keeps what the CLI wrote
capture run [--only=SCENARIO]         the same for claude

AGENT is claude (the default), codex, gemini, qwen, opencode or copilot.
--version=V records one version only; --out=DIR writes to another folder than the package's fixtures.
`install` takes agents as words, too. A CLI that cannot run here is reported as skipped, with the reason.
";

#[cfg(unix)]
fn command() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let verb = arguments.next().unwrap_or_default();
    let mut words = Vec::new();
    let (mut version, mut directory) = (None, None);
    let (mut names, mut listed) = (Vec::new(), Vec::new());
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
            "--agents" => listed.extend(value.split(',').map(str::to_owned)),
            "--out" => directory = Some(value.into()),
            _ => {
                return Err(io::Error::other(format!(
                    "unknown option `{name}`; see `capture --help`"
                )));
            }
        }
    }
    let mut words = words.into_iter();
    if verb == "install" {
        listed.extend(words.by_ref());
    } else {
        listed.extend(words.next());
    }
    let agents = agents(&listed)?;
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

/// Claude Code where none is named.
#[cfg(unix)]
fn agents(names: &[String]) -> io::Result<Vec<Agent>> {
    if names.is_empty() {
        return Ok(vec![Agent::Claude]);
    }
    let mut agents = Vec::new();
    for name in names {
        match name.as_str() {
            "all" => agents.extend(Agent::ALL),
            name => agents.push(Agent::named(name).ok_or_else(|| {
                io::Error::other(format!("no agent is called `{name}`; see `capture --help`"))
            })?),
        }
    }
    Ok(agents)
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
        let start = Instant::now();
        let name = agent.name();
        match RealCli::install(agent, version) {
            Ok(cli) => {
                let node = cli.needed_node().map_or_else(String::new, |node| {
                    format!(" (asks for Node {node}, runs with this one)")
                });
                writeln!(
                    io::stdout(),
                    "{name} {version} in {:.1} s: {}{node}",
                    start.elapsed().as_secs_f64(),
                    cli.path().display()
                )?;
            }
            Err(InstallError::CannotRun(reason)) => {
                writeln!(io::stderr(), "SKIPPED: {reason}; its tests count as ignored")?;
            }
            Err(error) => return Err(io::Error::other(error)),
        }
    }
    Ok(())
}
