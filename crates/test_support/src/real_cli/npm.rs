//! Runs npm.

use super::agent::Agent;
use super::install::InstallError;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// npm downloads up to 150 MB.
pub(super) const LIMIT: Duration = Duration::from_secs(600);

pub(super) fn install(directory: &Path, agent: Agent, version: &str) -> Result<(), InstallError> {
    let package = format!("{}@{version}", agent.package());
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let mut command = Command::new(npm);
    command.args(["install", "--no-audit", "--no-fund", "--loglevel=error"]);
    // The scripts of some dependencies download programs from elsewhere than the registry. Only Claude Code's own script
    // is needed: it puts the program in its place.
    if agent != Agent::Claude {
        command.arg("--ignore-scripts");
    }
    let mut child = command
        .arg("--prefix")
        .arg(directory)
        .arg(&package)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(InstallError::NoNpm)?;
    let stderr = read(child.stderr.take());
    match wait(&mut child, LIMIT).map_err(InstallError::NoNpm)? {
        None => Err(InstallError::TimedOut { package }),
        Some(status) if status.success() => Ok(()),
        Some(status) => {
            let text = stderr.join().unwrap_or_default();
            let code = text
                .lines()
                .find_map(|line| line.split_once(" code "))
                .map_or("no code", |(_, code)| code);
            Err(InstallError::Npm {
                package,
                status,
                code: code.to_owned(),
            })
        }
    }
}

/// Reads a pipe to its end in a thread of its own.
pub(super) fn read(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = Vec::new();
        // Output that cannot be read is missing from a message; the exit status is enough.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut text));
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// Waits for the end of a process, and kills it after the limit.
pub(super) fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() > deadline {
            // It may have ended in this moment.
            let _ = child.kill();
            let _ = child.wait();
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(20));
    }
}
