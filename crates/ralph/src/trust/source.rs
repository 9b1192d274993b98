//! `Source`: the bytes of a `ralph.yml`, read once, and why they may not be trusted.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use ralph_run::open_regular_file;

use super::digest::digest_of;
use crate::settings::{CONFIG_FILE, SettingsError};

/// More is not a configuration.
const MAX_FILE_BYTES: u64 = 1 << 20;

pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// Of exactly this text.
    pub(super) digest: String,
    /// Why a decision about this file cannot be kept, with what to do about it.
    pub(super) problem: Option<String>,
}

impl Source {
    /// Reads the workspace's file, if it has one. Does not wait for a pipe, and reads no more than 1 MiB.
    pub(super) fn read(workspace: &Path) -> Result<Option<Self>, SettingsError> {
        let path = workspace.join(CONFIG_FILE);
        let read = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => Err(error),
            Ok(_) => read(workspace, &path),
        };
        let (bytes, problem) = read.map_err(|error| SettingsError::Unreadable {
            path: path.clone(),
            error,
        })?;
        let digest = digest_of(&bytes);
        let text = String::from_utf8(bytes).map_err(|_| SettingsError::Unreadable {
            path: path.clone(),
            error: io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"),
        })?;
        Ok(Some(Self {
            path,
            text,
            digest,
            problem,
        }))
    }
}

fn read(workspace: &Path, path: &Path) -> io::Result<(Vec<u8>, Option<String>)> {
    let target = path.canonicalize()?;
    let file = open_regular_file(&target)?;
    let problem = problem(workspace, &target, &file)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "it is larger than 1 MiB",
        ));
    }
    Ok((bytes, problem))
}

/// Why another user could change the file, or its meaning, unnoticed.
fn problem(workspace: &Path, target: &Path, file: &File) -> io::Result<Option<String>> {
    let workspace = workspace.canonicalize()?;
    if !target.starts_with(&workspace) {
        return Ok(Some(
            "it is a link to a file outside of the workspace: replace the link by a copy of that file"
                .to_owned(),
        ));
    }
    let (file, directory) = (file.metadata()?, workspace.metadata()?);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        const OTHERS_WRITE: u32 = 0o002;
        const STICKY: u32 = 0o1000;
        if file.mode() & OTHERS_WRITE != 0 {
            return Ok(Some(
                "every user of this machine can write to it: run `chmod o-w ralph.yml`".to_owned(),
            ));
        }
        if directory.mode() & OTHERS_WRITE != 0 && directory.mode() & STICKY == 0 {
            return Ok(Some(
                "every user of this machine can replace it: run `chmod o-w .` in its directory".to_owned(),
            ));
        }
        if !crate::current_process::is_own_user(file.uid()) {
            return Ok(Some(format!(
                "it belongs to another user (uid {}): run `chown` to make it yours",
                file.uid()
            )));
        }
    }
    #[cfg(not(unix))]
    let _ = (file, directory);
    Ok(None)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;

    use super::Source;

    fn workspace() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("repo")).unwrap();
        folder
    }

    fn chmod(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_pipe_a_directory_or_a_huge_file_is_an_error_and_nothing_waits() {
        let folder = workspace();
        let (repo, path) = (folder.path().join("repo"), folder.path().join("repo/ralph.yml"));
        assert!(Source::read(&repo).unwrap().is_none());
        let made = std::process::Command::new("mkfifo")
            .arg(&path)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .status();
        assert!(made.unwrap().success());
        assert!(Source::read(&repo).is_err_and(|error| error.to_string().contains("not a regular file")));
        fs::remove_file(&path).unwrap();
        fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(Source::read(&repo).is_err_and(|error| error.to_string().contains("larger than 1 MiB")));
        fs::remove_file(&path).unwrap();
        symlink("ralph.yml", &path).unwrap();
        assert!(Source::read(&repo).is_err());
    }

    #[test]
    fn a_link_within_the_workspace_is_read_and_one_that_leaves_it_cannot_be_trusted() {
        let folder = workspace();
        let (repo, path) = (folder.path().join("repo"), folder.path().join("repo/ralph.yml"));
        fs::write(repo.join("other.yml"), "verify: a\n").unwrap();
        symlink("other.yml", &path).unwrap();
        let source = Source::read(&repo).unwrap().unwrap();
        assert_eq!((source.text.as_str(), source.problem), ("verify: a\n", None));
        fs::remove_file(&path).unwrap();
        fs::write(folder.path().join("outside.yml"), "verify: b\n").unwrap();
        symlink("../outside.yml", &path).unwrap();
        let source = Source::read(&repo).unwrap().unwrap();
        assert_eq!(source.text, "verify: b\n");
        assert!(
            source
                .problem
                .is_some_and(|problem| problem.contains("outside of the workspace"))
        );
    }

    #[test]
    fn what_everybody_can_write_to_cannot_be_trusted() {
        let folder = workspace();
        let (repo, path) = (folder.path().join("repo"), folder.path().join("repo/ralph.yml"));
        fs::write(&path, "verify: a\n").unwrap();
        let problem = || Source::read(&repo).unwrap().unwrap().problem;
        chmod(&path, 0o664);
        assert_eq!(problem(), None);
        chmod(&path, 0o666);
        assert!(problem().is_some_and(|problem| problem.contains("chmod o-w ralph.yml")));
        chmod(&path, 0o644);
        chmod(&repo, 0o777);
        assert!(problem().is_some_and(|problem| problem.contains("replace it")));
        chmod(&repo, 0o1777);
        assert_eq!(problem(), None);
    }
}
