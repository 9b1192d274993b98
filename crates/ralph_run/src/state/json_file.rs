//! Reads the JSON files in `.ralph/state`, which other programs may change, delete or damage. Used by `WorkspaceFiles`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// More than any state file has.
const MAX_BYTES: u64 = 1 << 20;

/// A state file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    #[error("cannot use `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// The file does not contain what it should.
    #[error("`{}` is damaged", path.display())]
    Corrupt {
        path: PathBuf,
        source: serde_json::Error,
    },
    /// Something else is in its place.
    #[error(transparent)]
    Workspace(#[from] super::workspace::WorkspaceError),
}

impl StateError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// What a state file says, and what was wrong with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded<T> {
    /// What it says; the default where it says nothing.
    pub value: T,
    /// For people: the file was broken and put aside.
    pub warning: Option<String>,
}

/// Reads a file. One that is not there says nothing; a broken one is put aside and says nothing, too.
pub(super) fn load<T: DeserializeOwned + Default>(
    path: &Path,
    at: Timestamp,
) -> Result<Loaded<T>, StateError> {
    let nothing = |warning| Loaded {
        value: T::default(),
        warning,
    };
    let text = match read(path) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(nothing(None)),
        Err(source) => return Err(StateError::io(path, source)),
    };
    match serde_json::from_slice(&text) {
        Ok(value) => Ok(Loaded { value, warning: None }),
        Err(problem) => {
            let aside = put_aside(path, at).map_err(|source| StateError::io(path, source))?;
            let warning = format!(
                "`{}` was damaged ({problem}); it is now `{}`, and a new one is begun",
                path.display(),
                aside.display()
            );
            Ok(nothing(Some(warning)))
        }
    }
}

pub(super) fn encode<T: Serialize>(path: &Path, value: &T) -> Result<Vec<u8>, StateError> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|source| StateError::Corrupt {
        path: path.to_owned(),
        source,
    })?;
    text.push(b'\n');
    Ok(text)
}

/// An agent can put anything here: a link is not followed, a pipe is not waited for, and a giant is cut off, which
/// makes it invalid.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => return Ok(Some(Vec::new())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut text = Vec::new();
    File::open(path)?.take(MAX_BYTES).read_to_end(&mut text)?;
    Ok(Some(text))
}

fn put_aside(path: &Path, at: Timestamp) -> io::Result<PathBuf> {
    let mut name = OsString::from(path);
    name.push(format!(".corrupt-{}", at.strftime("%Y%m%dT%H%M%S%.3fZ")));
    let aside = PathBuf::from(name);
    fs::rename(path, &aside)?;
    Ok(aside)
}
