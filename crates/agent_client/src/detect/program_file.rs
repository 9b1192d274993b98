//! `ProgramFile`: the identity of a program's file, the key under which its version is cached.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::version::Version;

/// A program's file. An update changes at least one of these fields.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProgramFile {
    /// The path it is started by. A launcher of several programs may behave differently for each path.
    pub path: PathBuf,
    /// The file behind all symbolic links.
    pub target: PathBuf,
    /// The time of the last change.
    pub modified: Option<SystemTime>,
    /// The size in bytes.
    pub size: u64,
    /// The inode number; 0 on systems without one.
    pub inode: u64,
}

impl ProgramFile {
    /// Reads the identity of the file at `path`.
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

/// Keeps versions across processes: some programs take two seconds to print theirs. A version that is not found is
/// asked for again.
pub trait VersionMemory: fmt::Debug + Send + Sync {
    /// The version of exactly this file, if it is known.
    fn recall(&self, program: &ProgramFile) -> Option<Version>;

    /// Stores the version of this file.
    fn remember(&self, program: &ProgramFile, version: Version);
}
