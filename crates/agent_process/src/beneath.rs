//! Opening files beneath a directory whose content somebody else writes.

use std::fs::File;
use std::io;
use std::path::{Component, Path};

/// Opens an ordinary file for reading that is beneath `directory`, wherever its path leads: `..`, absolute paths and
/// links that lead outside are errors, and the system itself sees to it where it can, so that nobody can swap a
/// directory for a link meanwhile. Links that stay inside are followed where the system can check them.
///
/// # Errors
/// When there is no such file, it is none, or it is not beneath the directory.
pub fn open_beneath(directory: &Path, relative: &Path) -> io::Result<File> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if relative.as_os_str().is_empty() || !relative.components().all(is_plain) {
        return Err(outside());
    }
    let file = open(directory, relative)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not an ordinary file",
        ));
    }
    Ok(file)
}

fn outside() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "not beneath the directory")
}

#[cfg(target_os = "linux")]
fn open(directory: &Path, relative: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
    let root = open_root(directory)?;
    // A pipe must not make us wait.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    loop {
        match openat2(&root, relative, flags, Mode::empty(), resolve) {
            Ok(file) => return Ok(File::from(file)),
            Err(rustix::io::Errno::INTR) => {}
            // A kernel before 5.6, or a filter of system calls that does not know this one.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {
                return open_step_by_step(root, relative);
            }
            Err(rustix::io::Errno::XDEV) => return Err(outside()),
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn open(directory: &Path, relative: &Path) -> io::Result<File> {
    open_step_by_step(open_root(directory)?, relative)
}

#[cfg(unix)]
fn open_root(directory: &Path) -> io::Result<rustix::fd::OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(directory, flags, Mode::empty())?)
}

/// One part of the path after the other, and no link is followed at all.
#[cfg(unix)]
fn open_step_by_step(root: rustix::fd::OwnedFd, relative: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, openat};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut parts = relative
        .components()
        .filter(|part| *part != Component::CurDir)
        .peekable();
    let mut here = root;
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        let kind = if is_last {
            OFlags::empty()
        } else {
            OFlags::DIRECTORY
        };
        here = openat(&here, part.as_os_str(), flags | kind, Mode::empty())?;
    }
    Ok(File::from(here))
}

/// There is no such check of the system's here: links are resolved first, and the result is looked at.
#[cfg(not(unix))]
fn open(directory: &Path, relative: &Path) -> io::Result<File> {
    let root = directory.canonicalize()?;
    let path = root.join(relative).canonicalize()?;
    if !path.starts_with(&root) {
        return Err(outside());
    }
    File::open(path)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::{open_beneath, open_root, open_step_by_step};
    use std::ffi::OsStr;
    use std::fs;
    use std::io::Read as _;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;
    use std::path::Path;
    use std::process::Command;

    struct Tree {
        directory: tempfile::TempDir,
    }

    impl Tree {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let root = directory.path().join("workspace");
            fs::create_dir_all(root.join("src")).unwrap();
            fs::write(root.join("src/a.rs"), "inside").unwrap();
            fs::write(directory.path().join("secret"), "outside").unwrap();
            symlink("src/a.rs", root.join("near")).unwrap();
            symlink("../secret", root.join("far")).unwrap();
            symlink(directory.path().join("secret"), root.join("absolute")).unwrap();
            symlink("..", root.join("up")).unwrap();
            symlink("/proc/self/cwd", root.join("magic")).unwrap();
            symlink("loop", root.join("loop")).unwrap();
            Self { directory }
        }

        fn root(&self) -> std::path::PathBuf {
            self.directory.path().join("workspace")
        }

        fn read(&self, path: &str) -> Option<String> {
            let mut text = String::new();
            let opened = open_beneath(&self.root(), Path::new(path)).ok()?;
            { opened }.read_to_string(&mut text).unwrap();
            Some(text)
        }
    }

    #[test]
    fn files_beneath_are_opened_by_any_plain_path() {
        let tree = Tree::new();
        for path in ["src/a.rs", "./src/./a.rs", "src//a.rs"] {
            assert_eq!(tree.read(path).as_deref(), Some("inside"), "{path}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_link_that_stays_inside_is_followed() {
        assert_eq!(Tree::new().read("near").as_deref(), Some("inside"));
    }

    #[test]
    fn nothing_outside_is_ever_opened() {
        let tree = Tree::new();
        let outside = tree.directory.path().join("secret");
        let long = "x/".repeat(3000);
        for path in [
            "",
            ".",
            "..",
            "../secret",
            "src/../../secret",
            "src/../src/a.rs",
            "/etc/hostname",
            outside.to_str().unwrap(),
            "far",
            "absolute",
            "up/secret",
            "magic/Cargo.toml",
            "loop",
            "src",
            "src/a.rs/",
            "src/a.rs/..",
            "src\\a.rs",
            "%2e%2e/secret",
            "src/a.rs\0",
            "nothing",
            &long,
        ] {
            // A trailing slash names a directory for the system, and the same file for paths of Rust.
            let is_same = path == "src/a.rs/";
            assert_eq!(tree.read(path).filter(|_| !is_same), None, "{path:?}");
        }
        let bytes = Path::new(OsStr::from_bytes(b"\xff\xfe"));
        assert!(open_beneath(&tree.root(), bytes).is_err());
    }

    #[test]
    fn a_pipe_is_no_file_and_nobody_waits_for_it() {
        let tree = Tree::new();
        let pipe = tree.root().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(tree.read("pipe"), None);
    }

    #[test]
    fn without_the_help_of_the_system_no_link_is_followed() {
        let tree = Tree::new();
        let open = |path: &str| open_step_by_step(open_root(&tree.root()).unwrap(), Path::new(path));
        assert!(open("./src/a.rs").is_ok());
        for path in ["near", "far", "up/secret", "magic/Cargo.toml"] {
            assert!(open(path).is_err(), "{path}");
        }
    }

    #[test]
    fn a_directory_that_becomes_a_link_meanwhile_leads_nowhere_else() {
        let tree = Tree::new();
        let root = tree.root();
        let elsewhere = tree.directory.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("a.rs"), "outside").unwrap();
        let swapping = root.clone();
        let swapper = std::thread::spawn(move || {
            for _ in 0..1000 {
                fs::rename(swapping.join("src"), swapping.join("kept")).unwrap();
                symlink(&elsewhere, swapping.join("src")).unwrap();
                fs::remove_file(swapping.join("src")).unwrap();
                fs::rename(swapping.join("kept"), swapping.join("src")).unwrap();
            }
        });
        while !swapper.is_finished() {
            assert_ne!(tree.read("src/a.rs").as_deref(), Some("outside"));
        }
        swapper.join().unwrap();
    }
}
