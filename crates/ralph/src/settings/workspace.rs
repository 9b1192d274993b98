//! `find_workspace`: the directory in which the agent works.

use std::io;
use std::path::{Path, PathBuf};

use super::error::SettingsError;

/// The directory that was asked for, else the top of the git repository around `cwd`, else `cwd`.
pub fn find_workspace(directory: Option<&Path>, cwd: &Path) -> Result<PathBuf, SettingsError> {
    let Some(directory) = directory else {
        // In a worktree or submodule `.git` is a file.
        let top = cwd.ancestors().find(|folder| folder.join(".git").exists());
        return Ok(top.unwrap_or(cwd).to_owned());
    };
    let path = cwd.join(directory);
    let found = path.canonicalize().and_then(|path| match path.is_dir() {
        true => Ok(path),
        false => Err(io::Error::from(io::ErrorKind::NotADirectory)),
    });
    found.map_err(|error| SettingsError::Usage(format!("cannot work in {}: {error}", path.display())))
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
