//! The socket as a file.

use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};
use tokio::time::timeout;

/// The system's limit is 108 on Linux and 104 on macOS, the byte at its end included.
const MAX_PATH_BYTES: usize = 100;

const ROOT: u32 = 0;

/// How long somebody who listens may take to let us in. The system does that for him, so it is ample.
const CONNECT_LIMIT: Duration = Duration::from_secs(1);

/// A socket that listens. Its file is removed with it.
#[derive(Debug)]
pub(super) struct Socket {
    path: PathBuf,
    device: u64,
    inode: u64,
    owner: u32,
}

impl Socket {
    pub(super) async fn bind(path: &Path) -> io::Result<(Self, UnixListener)> {
        let length = path.as_os_str().len();
        if length > MAX_PATH_BYTES {
            let what = format!(
                "the path of a socket has at most {MAX_PATH_BYTES} bytes, and this one has {length}: `{}`",
                path.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        // Held while we look and bind, so that of two runners that find a stale socket one gets the place.
        let _folder = lock_folder(path.parent().unwrap_or(Path::new("/")))?;
        remove_stale(path).await?;
        let listener = UnixListener::bind(path)?;
        // Nobody else can enter the folder, so nobody can connect before this.
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        let metadata = fs::symlink_metadata(path)?;
        let socket = Self {
            path: path.to_owned(),
            device: metadata.dev(),
            inode: metadata.ino(),
            owner: metadata.uid(),
        };
        Ok((socket, listener))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The user who runs this.
    pub(super) fn owner(&self) -> u32 {
        self.owner
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Whoever has replaced it in the meantime keeps his.
        let is_ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|found| found.dev() == self.device && found.ino() == self.inode);
        if is_ours && let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, "cannot remove the control socket");
        }
    }
}

/// Whether a user may speak to a run of `owner`.
pub(super) fn is_allowed(peer: u32, owner: u32) -> bool {
    peer == owner || peer == ROOT
}

fn lock_folder(folder: &Path) -> io::Result<File> {
    let handle = File::open(folder)?;
    if handle.metadata()?.mode() & 0o077 != 0 {
        let what = format!(
            "the folder of a control socket must be closed to others: chmod 700 `{}`",
            folder.display()
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    }
    match handle.try_lock() {
        Ok(()) => Ok(handle),
        Err(TryLockError::WouldBlock) => Err(in_use("another runner is starting here", folder)),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

async fn remove_stale(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return Err(in_use("this is no socket, and it is left alone", path));
        }
        Ok(_) => {}
    }
    match timeout(CONNECT_LIMIT, UnixStream::connect(path)).await {
        // Only this says that nobody listens; anything else may be somebody who is busy.
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Ok(Ok(_) | Err(_)) | Err(_) => Err(in_use("another runner answers here", path)),
    }
}

fn in_use(what: &str, path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::AddrInUse, format!("{what}: `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn only_the_same_user_and_root_may_speak_to_a_run() {
        assert!(is_allowed(1000, 1000));
        assert!(is_allowed(0, 1000));
        assert!(!is_allowed(1001, 1000));
        assert!(!is_allowed(65534, 0));
    }
}
