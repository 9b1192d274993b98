//! `Notes`: the agent's notes to its next iteration. The driver and `--dry-run` put them into the prompt.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::Memory;

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

/// Reads the end of the scratchpad. A file that is missing or not a regular file reads as empty: the agent still learns
/// where to write.
pub fn read_notes(workspace: &Path) -> Notes {
    Notes {
        text: end_of_file(&workspace.join(SCRATCHPAD)).unwrap_or_default(),
    }
}

fn end_of_file(path: &Path) -> Option<String> {
    let mut file = crate::home::open_regular_file(path).ok()?;
    let metadata = file.metadata().ok()?;
    let start = metadata.len().saturating_sub(MAX_NOTES_BYTES);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_NOTES_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
