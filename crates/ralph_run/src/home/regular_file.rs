//! `open_regular_file`: opens state files that another process may have replaced with a link or a pipe.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a regular file for reading. Does not follow a symbolic link in the last component, and does not block on a
/// named pipe.
pub fn open_regular_file(path: &Path) -> io::Result<File> {
    open(path, Links::Refused)
}

/// As [`open_regular_file`], for files that a user names, which may be links.
///
/// # Errors
/// If the file does not exist, cannot be opened or is not a regular file.
pub fn open_linked_file(path: &Path) -> io::Result<File> {
    open(path, Links::Followed)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Followed,
    Refused,
}

#[cfg_attr(
    not(unix),
    expect(unused_variables, reason = "links are refused on Unix only")
)]
fn open(path: &Path, links: Links) -> io::Result<File> {
    #[cfg(unix)]
    let file = {
        use rustix::fs::{Mode, OFlags};
        let mut flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        flags.set(OFlags::NOFOLLOW, links == Links::Refused);
        File::from(rustix::fs::open(path, flags, Mode::empty())?)
    };
    #[cfg(not(unix))]
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::{open_linked_file, open_regular_file};
    use std::os::unix::fs::symlink;

    #[test]
    fn opens_files_and_refuses_links_pipes_and_directories() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "text").unwrap();
        symlink(&file, folder.path().join("link")).unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        assert!(open_regular_file(&file).is_ok());
        assert!(open_linked_file(&folder.path().join("link")).is_ok());
        assert!(open_linked_file(&pipe).is_err());
        for name in ["link", "pipe", ".", "missing"] {
            assert!(open_regular_file(&folder.path().join(name)).is_err(), "{name}");
        }
    }
}
