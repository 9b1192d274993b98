//! `Notes`: the agent's notes to its next iteration. The driver and `--dry-run` put them into the prompt.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::Memory;
use crate::home::Home;

/// Relative to the workspace.
const SCRATCHPAD: &str = ".ralph/scratchpad.md";

const MAX_NOTES_BYTES: u64 = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notes {
    text: String,
}

impl Notes {
    pub fn memory(&self) -> Memory<'_> {
        Memory {
            path: SCRATCHPAD,
            text: &self.text,
        }
    }
}

/// Reads the end of the scratchpad. One that is missing, that is not a regular file or that came with the repository
/// reads as empty: the agent still learns where to write. `None` if there can be none, because `.ralph` is a link or a
/// file.
pub fn read_notes(home: &Home, workspace: &Path) -> Option<Notes> {
    let folder = fs::symlink_metadata(workspace.join(".ralph"));
    if folder.is_ok_and(|metadata| !metadata.is_dir()) {
        return None;
    }
    let text = are_own(home, workspace).then(|| end_of_notes(workspace).ok());
    Some(Notes {
        text: text.flatten().unwrap_or_default(),
    })
}

/// Whether a run of this user began them: see `WorkspaceFiles::prepare_scratchpad`.
fn are_own(home: &Home, workspace: &Path) -> bool {
    fs::canonicalize(workspace).is_ok_and(|workspace| home.own_notes_marker(&workspace).is_file())
}

fn end_of_notes(workspace: &Path) -> io::Result<String> {
    let mut file = open_scratchpad(workspace)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let start = metadata.len().saturating_sub(MAX_NOTES_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(MAX_NOTES_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Follows no link below the workspace, also if one appears meanwhile, and does not block on a named pipe.
#[cfg(unix)]
fn open_scratchpad(workspace: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open, openat};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let beneath = flags | OFlags::NOFOLLOW;
    let workspace = open(workspace, flags | OFlags::DIRECTORY, Mode::empty())?;
    let folder = openat(&workspace, ".ralph", beneath | OFlags::DIRECTORY, Mode::empty())?;
    let file = openat(
        &folder,
        "scratchpad.md",
        beneath | OFlags::NONBLOCK,
        Mode::empty(),
    )?;
    Ok(File::from(file))
}

#[cfg(not(unix))]
fn open_scratchpad(workspace: &Path) -> io::Result<File> {
    crate::home::open_regular_file(&workspace.join(SCRATCHPAD))
}
