//! The processes that agents leave behind, in every way that real ones do.
//!
//! A child is this program again, with `--child=KIND`. A double fork is a child that starts a child and exits.

use crate::player::FOR_EVER;
use crate::signals::Signals;
use crate::system;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, io, thread};
use test_support::recorded;
use test_support::script::{ChildKind, Signal, Step};

const CHAIN_LENGTH: u32 = 3;

/// What a child was started to be.
pub(crate) struct Request {
    kind: ChildKind,
    directory: PathBuf,
    role: Role,
}

#[derive(Clone, Copy)]
enum Role {
    /// Records itself and sleeps; the number counts the links of a chain.
    Sleeper(u32),
    /// Starts the sleeper and exits.
    Middle,
}

impl Role {
    fn argument(self) -> String {
        match self {
            Self::Middle => "--role=middle".to_owned(),
            Self::Sleeper(link) => format!("--role={link}"),
        }
    }
}

impl Request {
    pub(crate) fn from_arguments(arguments: &[String]) -> Option<Self> {
        let value = |name: &str| arguments.iter().find_map(|argument| argument.strip_prefix(name));
        let role = value("--role=").unwrap_or_default();
        Some(Self {
            kind: ChildKind::from_name(value("--child=")?)?,
            directory: value("--directory=")?.into(),
            role: if role == "middle" {
                Role::Middle
            } else {
                Role::Sleeper(role.parse().unwrap_or(1))
            },
        })
    }

    fn name(&self) -> String {
        match self.role {
            Role::Sleeper(link) if link > 1 => format!("{}-{link}", self.kind.name()),
            Role::Sleeper(_) | Role::Middle => self.kind.name().to_owned(),
        }
    }
}

/// Starts a child of the kind; returns when its sleeper (the last one of a chain) has recorded itself.
pub(crate) fn spawn(kind: ChildKind, directory: &Path) -> io::Result<()> {
    match kind {
        ChildKind::DoubleFork | ChildKind::Daemon | ChildKind::HoldsStdout => {
            let mut middle = command(kind, directory, Role::Middle)?.spawn()?;
            if !middle.wait()?.success() {
                return Err(io::Error::other("the middle process failed"));
            }
        }
        ChildKind::Plain | ChildKind::Setsid | ChildKind::Chain | ChildKind::Stubborn => {
            command(kind, directory, Role::Sleeper(1))?.spawn()?;
        }
    }
    let last = if kind == ChildKind::Chain { CHAIN_LENGTH } else { 1 };
    let name = Request {
        kind,
        directory: directory.to_owned(),
        role: Role::Sleeper(last),
    }
    .name();
    wait_for(&recorded::path_of(directory, &name))
}

/// The life of a child.
pub(crate) fn run(request: &Request) -> io::Result<u8> {
    if matches!(request.role, Role::Middle) {
        if request.kind == ChildKind::Daemon {
            system::start_session()?;
        }
        command(request.kind, &request.directory, Role::Sleeper(1))?.spawn()?;
        return Ok(0);
    }
    if request.kind == ChildKind::Setsid {
        system::start_session()?;
    }
    if request.kind == ChildKind::Stubborn {
        let signals = vec![Signal::Terminate, Signal::Interrupt, Signal::HangUp];
        let steps = [Step::IgnoreSignals {
            signals: signals.clone(),
        }];
        Signals::watch(&steps, crate::report::Report::take(), Vec::new())?
            .ignore(&signals)
            .map_err(io::Error::other)?;
    }
    let _sign_of_life = recorded::record(&request.directory, &request.name())?;
    if let (ChildKind::Chain, Role::Sleeper(link)) = (request.kind, request.role)
        && link < CHAIN_LENGTH
    {
        command(request.kind, &request.directory, Role::Sleeper(link + 1))?.spawn()?;
    }
    thread::sleep(FOR_EVER);
    Ok(0)
}

fn command(kind: ChildKind, directory: &Path, role: Role) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    let mut place = std::ffi::OsString::from("--directory=");
    place.push(directory);
    command
        .arg(format!("--child={}", kind.name()))
        .arg(role.argument())
        .arg(place)
        .stdin(Stdio::null());
    match kind {
        ChildKind::Daemon => {
            command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .current_dir("/");
        }
        // Only stdout, so that a test sees what holds what.
        ChildKind::HoldsStdout => {
            command.stderr(Stdio::null());
        }
        // Everything inherited, as with `command &` in a shell.
        ChildKind::Plain
        | ChildKind::Setsid
        | ChildKind::DoubleFork
        | ChildKind::Chain
        | ChildKind::Stubborn => {}
    }
    Ok(command)
}

fn wait_for(path: &Path) -> io::Result<()> {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !path.exists() {
        if Instant::now() > deadline {
            return Err(io::Error::other(format!(
                "no process recorded itself as {}",
                path.display()
            )));
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
