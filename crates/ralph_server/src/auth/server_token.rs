//! `ServerToken`: the server's own token, a file that only its user can read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::error::AuthError;
use super::secret::{Digest, is_secret, new_secret, sha256};

/// What the file has at most; a token and its newline.
const MAX_FILE_BYTES: u64 = 128;

/// Where the token is, in the state directory.
const FILE_NAME: &str = "server-token";

/// What is kept of the token in memory, and where the rest is.
#[derive(Debug)]
pub(super) struct ServerToken {
    pub(super) path: PathBuf,
    pub(super) digest: Digest,
}

impl ServerToken {
    /// Reads the token, or makes one. It stays the same over restarts.
    pub(super) fn open(directory: &Path) -> Result<Self, AuthError> {
        let path = directory.join(FILE_NAME);
        let text = match read(&path) {
            Err(AuthError::Unusable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                create(directory, &path)?;
                read(&path)?
            }
            other => other?,
        };
        let digest = sha256(text.as_bytes());
        Ok(Self { path, digest })
    }
}

/// The token itself, for whoever asks a server of the same user.
pub(crate) fn read_token(directory: &Path) -> Result<String, AuthError> {
    read(&directory.join(FILE_NAME))
}

/// Replaces the token. A running server accepts the new one at once; what was opened with the old one ends.
///
/// # Errors
/// If it cannot be written.
pub fn rotate_server_token(directory: &Path) -> Result<PathBuf, AuthError> {
    let path = directory.join(FILE_NAME);
    let draft = directory.join(format!(".{FILE_NAME}-{}", &new_secret()?[..16]));
    let token = new_secret()?;
    let replaced = write(&draft, &token).and_then(|()| fs::rename(&draft, &path));
    // A full disk takes no new file, but the token fits into the old one.
    let replaced = replaced.or_else(|error| {
        let _ = fs::remove_file(&draft);
        overwrite(&path, &token).map_err(|_| error)
    });
    match replaced {
        Ok(()) => Ok(path),
        Err(source) => Err(AuthError::Unusable { path, source }),
    }
}

/// If this is interrupted, the file holds no token, and the server accepts none.
fn overwrite(path: &Path, token: &str) -> io::Result<()> {
    let is_file = fs::symlink_metadata(path)?.is_file();
    let mut file = OpenOptions::new().write(true).open(path)?;
    if !is_file || is_exposed(&file)? {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let line = format!("{token}\n");
    file.write_all(line.as_bytes())?;
    file.set_len(line.len() as u64)?;
    file.sync_all()
}

pub(super) fn read(path: &Path) -> Result<String, AuthError> {
    let unusable = |source| AuthError::Unusable {
        path: path.to_owned(),
        source,
    };
    let file = ralph_run::open_regular_file(path).map_err(unusable)?;
    if is_exposed(&file).map_err(unusable)? {
        return Err(AuthError::Exposed(path.to_owned()));
    }
    let mut text = String::new();
    let read = file.take(MAX_FILE_BYTES).read_to_string(&mut text);
    let token = text.trim_end();
    match read {
        Ok(_) if is_secret(token) => Ok(token.to_owned()),
        Ok(_) => Err(AuthError::NotAToken(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(AuthError::NotAToken(path.to_owned()))
        }
        Err(error) => Err(unusable(error)),
    }
}

/// The file appears with the token in it or not at all, and of two servers that start at once one makes it.
fn create(directory: &Path, path: &Path) -> Result<(), AuthError> {
    let unusable = |source| AuthError::Unusable {
        path: path.to_owned(),
        source,
    };
    let draft = directory.join(format!(".{FILE_NAME}-{}", &new_secret()?[..16]));
    let written = write(&draft, &new_secret()?).and_then(|()| match fs::hard_link(&draft, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    });
    let removed = fs::remove_file(&draft);
    written.and(removed).map_err(unusable)
}

fn write(path: &Path, token: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(format!("{token}\n").as_bytes())?;
    file.sync_all()
}

#[cfg(unix)]
pub(super) fn is_exposed(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = file.metadata()?;
    Ok(metadata.mode() & 0o077 != 0 || metadata.uid() != rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
pub(super) fn is_exposed(_: &File) -> io::Result<bool> {
    Ok(false)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::{ServerToken, overwrite, read};
    use crate::auth::AuthError;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn the_token_is_private_and_survives_a_restart() {
        let directory = tempfile::tempdir().unwrap();
        let first = ServerToken::open(directory.path()).unwrap();
        let mode = fs::metadata(&first.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(ServerToken::open(directory.path()).unwrap().digest, first.digest);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_token_that_others_can_read_is_not_used() {
        let directory = tempfile::tempdir().unwrap();
        let path = ServerToken::open(directory.path()).unwrap().path;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(
            ServerToken::open(directory.path()),
            Err(AuthError::Exposed(_))
        ));
    }

    #[test]
    fn what_cannot_be_replaced_is_overwritten_unless_others_can_read_it() {
        let directory = tempfile::tempdir().unwrap();
        let first = ServerToken::open(directory.path()).unwrap();
        let token = "0".repeat(read(&first.path).unwrap().len());
        overwrite(&first.path, &token).unwrap();
        assert_eq!(read(&first.path).unwrap(), token);
        fs::set_permissions(&first.path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(overwrite(&first.path, &token).is_err());
    }

    #[test]
    fn neither_a_link_nor_other_words_are_a_token() {
        let directory = tempfile::tempdir().unwrap();
        let path = ServerToken::open(directory.path()).unwrap().path;
        fs::write(&path, "hunter2\n").unwrap();
        assert!(matches!(
            ServerToken::open(directory.path()),
            Err(AuthError::NotAToken(_))
        ));
        fs::remove_file(&path).unwrap();
        symlink("/etc/hostname", &path).unwrap();
        assert!(ServerToken::open(directory.path()).is_err());
    }
}
