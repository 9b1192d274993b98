//! What real CLIs wrote, captured by the `capture` binary of this package and kept in `fixtures/claude/<version>/`.
//!
//! `NAME.ndjson` is the standard output. `NAME.stderr.txt` is there if there was any. `NAME.io.ndjson` tells the order of a
//! two-way conversation: `{"direction":"in","line":…}` was sent, `{"direction":"out","number":…}` names a line of
//! `NAME.ndjson`. `index.json` has the command line, the ending and the sequence of events of each.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// One captured output.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// Of the CLI.
    pub version: String,
    /// Of the scenario.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// The output.
    pub bytes: Vec<u8>,
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
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join("claude")
}

/// Every captured output that is lines of JSON, by version and name.
pub fn all() -> io::Result<Vec<Fixture>> {
    let mut all = Vec::new();
    for version in fs::read_dir(directory())? {
        let version = version?;
        if !version.file_type()?.is_dir() {
            continue;
        }
        for file in fs::read_dir(version.path())? {
            let file_name = file?.file_name().to_string_lossy().into_owned();
            match file_name.strip_suffix(".ndjson") {
                Some(name) if !name.ends_with(".io") => {
                    all.push(read(&version.file_name().to_string_lossy(), name)?)
                }
                _ => {}
            }
        }
    }
    all.sort_by(|one, other| (&one.version, &one.name).cmp(&(&other.version, &other.name)));
    Ok(all)
}

/// One of them.
pub fn named(version: &str, name: &str) -> io::Result<Fixture> {
    read(version, name)
}

fn read(version: &str, name: &str) -> io::Result<Fixture> {
    let path = directory().join(version).join(format!("{name}.ndjson"));
    let bytes = fs::read(&path)
        .map_err(|error| io::Error::new(error.kind(), format!("`{}`: {error}", path.display())))?;
    Ok(Fixture {
        version: version.to_owned(),
        name: name.to_owned(),
        path,
        bytes,
    })
}
