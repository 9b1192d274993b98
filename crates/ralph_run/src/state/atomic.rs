//! `write_atomic`: replaces a file so that readers see the old or the new content. All state files use it.

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fs::{self, File};
use std::hash::BuildHasher;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::home::new_file;

/// What a replaced file must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A loss of power: waits for the disk.
    Synced,
    /// The death of any process: does not wait.
    Cached,
}

/// Replaces `path` by a private file with this content, or leaves it as it was. A link at `path` is replaced, not
/// followed.
pub fn write_atomic(path: &Path, content: &[u8], durability: Durability) -> io::Result<()> {
    replace(&System, path, content, durability)
}

/// What replacing a file does to the disk: a seam, so that tests can let every single step fail.
trait Disk {
    fn create(&self, path: &Path) -> io::Result<File>;
    fn write(&self, file: &mut File, content: &[u8]) -> io::Result<()>;
    fn sync(&self, file: &File) -> io::Result<()>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
}

struct System;

impl Disk for System {
    fn create(&self, path: &Path) -> io::Result<File> {
        new_file(path)
    }

    fn write(&self, file: &mut File, content: &[u8]) -> io::Result<()> {
        file.write_all(content)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
}

fn replace(disk: &impl Disk, path: &Path, content: &[u8], durability: Durability) -> io::Result<()> {
    let temporary = beside(path)?;
    let written = disk.create(&temporary).and_then(|mut file| {
        disk.write(&mut file, content)?;
        if durability == Durability::Synced {
            disk.sync(&file)?;
        }
        disk.rename(&temporary, path)
    });
    if let Err(error) = written {
        // The name is random, so this is not another process's file.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    #[cfg(unix)]
    if durability == Durability::Synced
        && let Some(directory) = path.parent()
    {
        disk.sync(&File::open(directory)?)?;
    }
    Ok(())
}

/// An unused name in the same directory.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(
        ".{:016x}",
        RandomState::new().hash_one(std::process::id())
    ));
    Ok(path.with_file_name(temporary))
}

#[cfg(test)]
mod tests {
    use super::{Disk, Durability, System, replace, write_atomic};
    use std::cell::Cell;
    use std::fs::{self, File};
    use std::io;
    use std::path::Path;

    /// Fails the n-th step, and writes half of what it should where that is the step.
    struct Failing {
        left: Cell<u32>,
    }

    impl Failing {
        fn step(&self) -> io::Result<()> {
            let left = self.left.get().checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            self.left.set(left);
            Ok(())
        }
    }

    impl Disk for Failing {
        fn create(&self, path: &Path) -> io::Result<File> {
            self.step().and_then(|()| System.create(path))
        }

        fn write(&self, file: &mut File, content: &[u8]) -> io::Result<()> {
            if let Err(error) = self.step() {
                System.write(file, &content[..content.len() / 2])?;
                return Err(error);
            }
            System.write(file, content)
        }

        fn sync(&self, file: &File) -> io::Result<()> {
            self.step().and_then(|()| System.sync(file))
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            self.step().and_then(|()| System.rename(from, to))
        }
    }

    #[test]
    fn whichever_step_fails_the_file_is_the_old_or_the_new_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state.json");
        for durability in [Durability::Synced, Durability::Cached] {
            for steps in 0.. {
                fs::write(&path, "old").unwrap();
                let disk = Failing {
                    left: Cell::new(steps),
                };
                let result = replace(&disk, &path, b"new!", durability);
                let content = fs::read_to_string(&path).unwrap();
                let names = fs::read_dir(directory.path()).unwrap().count();
                assert_eq!(names, 1, "a temporary file is left behind after {steps} steps");
                if result.is_ok() {
                    assert_eq!(content, "new!");
                    assert!(steps >= 3);
                    break;
                }
                // Only the last step, on the directory, comes after the change.
                let expected = if steps == 4 { "new!" } else { "old" };
                assert_eq!(content, expected, "after {steps} steps");
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_planted_link_is_replaced_and_not_followed() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let victim = directory.path().join("victim");
        let path = directory.path().join("state.json");
        fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        write_atomic(&path, b"new", Durability::Synced).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        let metadata = fs::symlink_metadata(&path).unwrap();
        assert!(metadata.is_file());
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn parallel_writers_leave_one_whole_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state.json");
        write_atomic(&path, &[0; 5000], Durability::Cached).unwrap();
        std::thread::scope(|scope| {
            for writer in 0..1000_u32 {
                let path = &path;
                scope.spawn(move || {
                    let content = vec![(writer % 251) as u8; 5000];
                    write_atomic(path, &content, Durability::Cached).unwrap();
                    let found = fs::read(path).unwrap();
                    assert_eq!(found.len(), 5000);
                    assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
                });
            }
        });
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
