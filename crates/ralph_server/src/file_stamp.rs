//! `FileStamp`: tells whether a file was replaced or written to since it was last read.

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::SystemTime;

/// Differs after a file was replaced or written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileStamp {
    modified: Option<SystemTime>,
    length: u64,
    inode: u64,
}

impl FileStamp {
    /// Of the file itself, also if it is a link.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path).ok().map(|file| Self::from(&file))
    }

    /// Of the file that a link leads to.
    pub(crate) fn of_target(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|file| Self::from(&file))
    }
}

impl From<&Metadata> for FileStamp {
    fn from(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Self {
            modified: metadata.modified().ok(),
            length: metadata.len(),
            inode,
        }
    }
}
