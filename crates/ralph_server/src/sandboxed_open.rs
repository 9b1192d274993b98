//! `open_in_workspace`: opens a file by a path from a request, without leaving the run's workspace.

use std::fs::File;
use std::io;
use std::path::{Component, Path};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

/// Opens a regular file under `workspace` for reading. Absolute paths, `..` and symbolic links that lead outside are
/// errors; links that stay inside are followed. `workspace` is a path without links, as runs record it: if a part of it
/// was replaced by a link since, that is an error, too. The agent may swap directories for links at any time, so the check
/// happens while the path is resolved (`openat2` on Linux), not before.
///
/// # Errors
/// If the file does not exist, is not a regular file or is not inside the workspace.
pub(crate) fn open_in_workspace(workspace: &Path, relative: &Path) -> io::Result<File> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !relative.components().all(is_plain) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the path leads outside the workspace",
        ));
    }
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt as _;
        use rustix::fs::OFlags;
        // Opening a named pipe must not block.
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    let directory = open_without_links(workspace)?;
    let file = directory.open_with(relative, &options)?.into_std();
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file)
}

#[cfg(target_os = "linux")]
fn open_without_links(path: &Path) -> io::Result<Dir> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(directory) => Ok(Dir::from_std_file(directory.into())),
        // An old kernel, or a container that does not know this call.
        Err(Errno::NOSYS | Errno::PERM) => open_and_compare(path),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_without_links(path: &Path) -> io::Result<Dir> {
    open_and_compare(path)
}

fn open_and_compare(path: &Path) -> io::Result<Dir> {
    let directory = Dir::open_ambient_dir(path, ambient_authority())?;
    if path.canonicalize()? != path {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "a part of the workspace's path is a link",
        ));
    }
    Ok(directory)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::open_in_workspace;
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
            let opened = open_in_workspace(&self.root(), Path::new(path)).ok()?;
            { opened }.read_to_string(&mut text).unwrap();
            Some(text)
        }
    }

    #[test]
    fn files_inside_are_opened_by_any_plain_path() {
        let tree = Tree::new();
        for path in ["src/a.rs", "./src/./a.rs", "src//a.rs"] {
            assert_eq!(tree.read(path).as_deref(), Some("inside"), "{path}");
        }
    }

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
            // Rust's `Path` ignores a trailing slash.
            let is_same = path == "src/a.rs/";
            assert_eq!(tree.read(path).filter(|_| !is_same), None, "{path:?}");
        }
        let bytes = Path::new(OsStr::from_bytes(b"\xff\xfe"));
        assert!(open_in_workspace(&tree.root(), bytes).is_err());
    }

    #[test]
    fn a_workspace_that_was_replaced_by_a_link_is_not_opened() {
        let tree = Tree::new();
        assert!(super::open_and_compare(&tree.root()).is_ok());
        let elsewhere = tree.directory.path().join("elsewhere");
        fs::rename(tree.root(), &elsewhere).unwrap();
        symlink(&elsewhere, tree.root()).unwrap();
        assert_eq!(tree.read("src/a.rs"), None);
        assert!(super::open_and_compare(&tree.root()).is_err());
        // Neither is one below such a link.
        let below = tree.root().join("src");
        assert!(open_in_workspace(&below, Path::new("a.rs")).is_err());
        assert!(open_in_workspace(&elsewhere.join("src"), Path::new("a.rs")).is_ok());
    }

    #[test]
    fn a_named_pipe_is_refused_without_blocking() {
        let tree = Tree::new();
        let pipe = tree.root().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(tree.read("pipe"), None);
    }

    #[test]
    fn a_directory_swapped_for_a_link_never_leads_outside() {
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
