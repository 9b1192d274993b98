//! `find_workspace`: the directory in which the agent works.

use std::io;
use std::path::{Path, PathBuf};

use super::error::SettingsError;

/// The directory that was asked for, else the top of the git repository around `cwd`, else `cwd`.
pub fn find_workspace(directory: Option<&Path>, cwd: &Path) -> Result<PathBuf, SettingsError> {
    let Some(directory) = directory else {
        // In a worktree or submodule `.git` is a file.
        let top = cwd.ancestors().find(|folder| folder.join(".git").exists());
        return match top.filter(|top| *top != cwd) {
            Some(top) => match foreign_owner(top) {
                Some(owner) => Err(foreign_repository(top, owner)),
                None => Ok(top.to_owned()),
            },
            None => Ok(cwd.to_owned()),
        };
    };
    let path = cwd.join(directory);
    let found = path.canonicalize().and_then(|path| match path.is_dir() {
        true => Ok(path),
        false => Err(io::Error::from(io::ErrorKind::NotADirectory)),
    });
    found.map_err(|error| SettingsError::Usage(format!("cannot work in {}: {error}", path.display())))
}

/// The owner of a repository, if it is another user. Its prompt and settings must not be used by somebody who happens to
/// work in a folder below it.
#[cfg(unix)]
fn foreign_owner(top: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    [top.to_owned(), top.join(".git")]
        .iter()
        .filter_map(|path| path.symlink_metadata().ok())
        .map(|metadata| metadata.uid())
        .find(|owner| !crate::current_process::is_own_user(*owner))
}

#[cfg(not(unix))]
fn foreign_owner(_top: &Path) -> Option<u32> {
    None
}

fn foreign_repository(top: &Path, owner: u32) -> SettingsError {
    let top = top.display();
    SettingsError::Usage(format!(
        "this folder is in a repository of another user (`{top}`, uid {owner}): run with `-C .` to work in this folder \
         alone, or with `-C {top}` if you trust that repository"
    ))
}

#[cfg(test)]
mod tests {
    use super::find_workspace;

    #[test]
    fn the_top_of_the_repository_is_found_from_below_and_a_worktree_counts() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let below = top.join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        assert_eq!(find_workspace(None, &below).unwrap(), below);
        std::fs::write(top.join(".git"), "gitdir: elsewhere").unwrap();
        assert_eq!(find_workspace(None, &below).unwrap(), top);
        std::fs::create_dir(top.join("a/.git")).unwrap();
        assert_eq!(find_workspace(None, &below).unwrap(), top.join("a"));
        assert_eq!(
            find_workspace(Some("..".as_ref()), &below).unwrap(),
            top.join("a")
        );
    }

    /// As with git's `safe.directory`: `/tmp/.git` of another user must not decide what runs in a folder of ours.
    #[cfg(unix)]
    #[test]
    fn a_repository_of_another_user_is_refused_unless_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let below = top.join("mine");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::create_dir(top.join(".git")).unwrap();
        if !crate::current_process::is_root() {
            // Only root can give files away; root's own repositories are fine for everyone.
            assert_eq!(super::foreign_owner(std::path::Path::new("/")), None);
            return;
        }
        std::os::unix::fs::chown(top.join(".git"), Some(65534), None).unwrap();
        let refused = find_workspace(None, &below).unwrap_err();
        assert!(refused.to_string().contains("another user"), "{refused}");
        assert_eq!(find_workspace(Some(".".as_ref()), &below).unwrap(), below);
        assert_eq!(find_workspace(Some("..".as_ref()), &below).unwrap(), top);
    }

    #[test]
    fn a_directory_that_is_not_there_is_a_mistake_in_the_command_line() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        for name in ["missing", "file"] {
            let error = find_workspace(Some(name.as_ref()), folder.path()).unwrap_err();
            assert_eq!(error.exit_code(), 64, "{error}");
        }
    }
}
