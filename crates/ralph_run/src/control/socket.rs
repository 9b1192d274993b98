//! `Socket`: the file of a run's control socket. `ControlServer` binds it and removes it at the end.

use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};
use tokio::time::{Instant, sleep, timeout};

use crate::home::{MAX_SOCKET_PATH_BYTES, RunDirectory, make_private_folder};

const ROOT: u32 = 0;

/// How long to wait for other runners that bind a socket in the same folder. Each takes milliseconds.
const FOLDER_LOCK_TIMEOUT: Duration = Duration::from_secs(30);
const FOLDER_LOCK_INTERVAL: Duration = Duration::from_millis(5);

/// How long a process that listens may take to accept. The system queues connections, so this is ample.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// A socket that listens. Its file is removed with it.
#[derive(Debug)]
pub(super) struct Socket {
    path: PathBuf,
    device: u64,
    inode: u64,
    owner: u32,
    /// In the run directory, if the socket is elsewhere.
    link: Option<PathBuf>,
}

impl Socket {
    /// Binds the socket of a run in its directory, or, where that is not possible, in a private folder to which the run
    /// directory then has a link.
    pub(super) async fn bind_for_run(run: &RunDirectory) -> io::Result<(Self, UnixListener)> {
        let own = run.own_socket();
        let mut refused = Vec::new();
        for path in run.socket_candidates() {
            match Self::bind_candidate(&path, &own).await {
                Ok(bound) => return Ok(bound),
                // The run has a runner.
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
                Err(error) => refused.push((path, error)),
            }
        }
        let kind = refused
            .first()
            .map_or(io::ErrorKind::InvalidFilename, |(_, error)| error.kind());
        let causes: Vec<String> = refused
            .into_iter()
            .map(|(path, error)| format!("`{}`: {error}", path.display()))
            .collect();
        Err(io::Error::new(kind, causes.join("; ")))
    }

    async fn bind_candidate(path: &Path, own: &Path) -> io::Result<(Self, UnixListener)> {
        if path == own {
            return Self::bind(path).await;
        }
        if let Some(folder) = path.parent() {
            make_private_folder(folder)?;
        }
        let (mut socket, listener) = Self::bind(path).await?;
        // A link that an earlier runner left leads clients elsewhere.
        if fs::read_link(own).is_ok() {
            fs::remove_file(own)?;
        }
        std::os::unix::fs::symlink(path, own)?;
        socket.link = Some(own.to_owned());
        Ok((socket, listener))
    }

    pub(super) async fn bind(path: &Path) -> io::Result<(Self, UnixListener)> {
        let length = path.as_os_str().len();
        if length > MAX_SOCKET_PATH_BYTES {
            let message = format!(
                "the path is too long for a socket ({length} bytes, at most {MAX_SOCKET_PATH_BYTES}): `{}`",
                path.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        // Held while we look and bind, so that of two runners that find a stale socket one gets the place.
        let _folder = lock_folder(path.parent().unwrap_or(Path::new("/"))).await?;
        remove_stale(path).await?;
        let listener = UnixListener::bind(path)?;
        // No other user can enter the folder, so none can connect before this.
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        let metadata = fs::symlink_metadata(path)?;
        let socket = Self {
            path: path.to_owned(),
            device: metadata.dev(),
            inode: metadata.ino(),
            owner: metadata.uid(),
            link: None,
        };
        Ok((socket, listener))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn owner(&self) -> u32 {
        self.owner
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // A socket that has replaced it in the meantime stays.
        let is_ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|found| found.dev() == self.device && found.ino() == self.inode);
        if is_ours && let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, "cannot remove the control socket");
        }
        if let Some(link) = &self.link {
            let _ = fs::remove_file(link);
        }
    }
}

/// Whether a user may speak to a run of `owner`.
pub(super) fn is_allowed(peer: u32, owner: u32) -> bool {
    peer == owner || peer == ROOT
}

/// Waits for runners that bind in the same folder.
async fn lock_folder(folder: &Path) -> io::Result<File> {
    let handle = File::open(folder)?;
    if handle.metadata()?.mode() & 0o077 != 0 {
        let message = format!(
            "the folder of a control socket must be closed to others; run `chmod 700 {}`",
            folder.display()
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    let deadline = Instant::now() + FOLDER_LOCK_TIMEOUT;
    loop {
        match handle.try_lock() {
            Ok(()) => return Ok(handle),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => sleep(FOLDER_LOCK_INTERVAL).await,
            Err(TryLockError::WouldBlock) => {
                return Err(in_use("another runner holds the folder's lock", folder));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

async fn remove_stale(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return Err(in_use("this file is not a socket", path));
        }
        Ok(_) => {}
    }
    match timeout(CONNECT_TIMEOUT, UnixStream::connect(path)).await {
        // Only this error says that no process listens; others may come from a busy one.
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Ok(Ok(_) | Err(_)) | Err(_) => Err(in_use("another runner is listening", path)),
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
