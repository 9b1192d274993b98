//! `FileStamp`: tells whether a file, its owner or its permissions were changed since it was last read.

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::SystemTime;

/// Differs after a file was replaced or written to, or its owner or permissions were changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileStamp {
    modified: Option<SystemTime>,
    length: u64,
    inode: u64,
    /// Seconds and nanoseconds of the last change, of the file or of its owner and permissions.
    changed: (i64, i64),
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
        let (inode, changed) = {
            use std::os::unix::fs::MetadataExt as _;
            (metadata.ino(), (metadata.ctime(), metadata.ctime_nsec()))
        };
        #[cfg(not(unix))]
        let (inode, changed) = (0, (0, 0));
        Self {
            modified: metadata.modified().ok(),
            length: metadata.len(),
            inode,
            changed,
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::FileStamp;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn other_permissions_are_a_change() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let before = FileStamp::of(&path).unwrap();
        assert_eq!(FileStamp::of(&path).unwrap(), before);
        // The clock of the file system moves in steps of some milliseconds.
        while FileStamp::of(&path).unwrap() == before {
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        }
    }
}
