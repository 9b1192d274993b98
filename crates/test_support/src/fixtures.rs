//! What real CLIs wrote, captured by the `capture` binary of this package and kept in `fixtures/<agent>/<version>/`.
//!
//! `NAME.ndjson` is the standard output. `NAME.stderr.txt` is there if there was any. `NAME.io.ndjson` tells the order of a
//! two-way conversation: `{"direction":"in","line":…}` was sent, `{"direction":"out","number":…}` names a line of
//! `NAME.ndjson`. `index.json` has the command line, the ending and the sequence of events of each.

use crate::real_cli::Agent;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const CLAUDE: &str = "claude";

/// One captured output.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// Of the CLI.
    pub version: String,
    /// Of the scenario.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// The output; may be empty.
    pub bytes: Vec<u8>,
    /// What went to standard error; of other agents than Claude Code the last lines.
    pub stderr: String,
    /// How it came to be.
    pub capture: Capture,
}

/// How a fixture came to be: its entry in `index.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Capture {
    /// Of the CLI.
    pub version: String,
    /// Of the scenario.
    pub name: String,
    /// What is shown.
    pub what: String,
    /// The command line.
    pub arguments: Vec<String>,
    /// On top of the isolated environment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    /// Written to stdin at once, then closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// How the CLI ended, unless by a signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Kinds in order, runs of the same kind counted.
    pub events: String,
}

impl Fixture {
    /// The lines, without their newlines.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
    }
}

/// `fixtures/claude`.
#[must_use]
pub fn directory() -> PathBuf {
    directory_of(CLAUDE)
}

/// `fixtures/<agent>`.
#[must_use]
pub fn directory_of(agent: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(agent)
}

/// Every output of Claude Code that is lines of JSON, by version and name.
pub fn all() -> io::Result<Vec<Fixture>> {
    let mut all = of(CLAUDE)?;
    all.retain(|fixture| fixture.path.exists());
    Ok(all)
}

/// Everything that was captured of an agent (`claude`, `codex`, `gemini`, `qwen`), by version and name: also what wrote
/// nothing, or something else than JSON.
pub fn of(agent: &str) -> io::Result<Vec<Fixture>> {
    let captures = index(agent)?.into_iter();
    captures.map(|capture| read(agent, capture)).collect()
}

/// One of Claude Code's.
pub fn named(version: &str, name: &str) -> io::Result<Fixture> {
    find(CLAUDE, |capture| {
        capture.version == version && capture.name == name
    })
}

/// One of an agent's, of its newest version.
pub fn one(agent: &str, name: &str) -> io::Result<Fixture> {
    let versions = Agent::named(agent).map_or(&[][..], Agent::versions);
    find(agent, |capture| {
        versions.first() == Some(&capture.version.as_str()) && capture.name == name
    })
}

fn find(agent: &str, is_meant: impl Fn(&Capture) -> bool) -> io::Result<Fixture> {
    let capture = index(agent)?.into_iter().find(is_meant);
    read(agent, capture.ok_or(io::ErrorKind::NotFound)?)
}

fn index(agent: &str) -> io::Result<Vec<Capture>> {
    let path = directory_of(agent).join("index.json");
    let bytes = fs::read(&path).map_err(|error| at(&path, error))?;
    serde_json::from_slice(&bytes).map_err(io::Error::from)
}

fn read(agent: &str, capture: Capture) -> io::Result<Fixture> {
    let file = |suffix: &str| {
        directory_of(agent)
            .join(&capture.version)
            .join(format!("{}.{suffix}", capture.name))
    };
    let path = file("ndjson");
    let output = if path.exists() {
        path.clone()
    } else {
        file("stdout.txt")
    };
    Ok(Fixture {
        version: capture.version.clone(),
        name: capture.name.clone(),
        bytes: read_if_there(&output)?,
        stderr: String::from_utf8_lossy(&read_if_there(&file("stderr.txt"))?).into_owned(),
        path,
        capture,
    })
}

/// A file that would be empty is not there.
fn read_if_there(path: &Path) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(|error| at(path, error)),
    }
}

fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}
