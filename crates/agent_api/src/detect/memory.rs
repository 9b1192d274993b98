//! What programs have said to earlier processes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use claude_code::Version;
use serde::{Deserialize, Serialize};

/// A program's file as it was when it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProgramFile {
    /// How it is called: a launcher of many programs goes by that.
    pub path: PathBuf,
    /// What is behind the links.
    pub target: PathBuf,
    /// When it was changed last.
    pub modified: Option<SystemTime>,
    /// Its size in bytes.
    pub size: u64,
    /// Its number in the file system, where there is such a thing.
    pub inode: u64,
}

impl ProgramFile {
    /// As it is now.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let metadata = std::fs::metadata(path).ok();
        #[cfg(unix)]
        let inode = metadata.as_ref().map_or(0, std::os::unix::fs::MetadataExt::ino);
        #[cfg(not(unix))]
        let inode = 0;
        Self {
            path: path.to_path_buf(),
            target: std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()),
            modified: metadata.as_ref().and_then(|metadata| metadata.modified().ok()),
            size: metadata.map_or(0, |metadata| metadata.len()),
            inode,
        }
    }
}

/// Where versions are kept for later processes: some programs take two seconds to say theirs. What cannot be kept or
/// found is asked again.
pub trait VersionMemory: fmt::Debug + Send + Sync {
    /// What exactly this file has said.
    fn recall(&self, program: &ProgramFile) -> Option<Version>;

    /// What it has said just now.
    fn remember(&self, program: &ProgramFile, version: Version);
}
