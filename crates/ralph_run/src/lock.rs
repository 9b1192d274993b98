//! `Lock`: one run at a time for a workspace and for a session. A lock names its holder and ends with its process.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::home::{Home, make_directory_all, private_file, protect, short_run_id};
use crate::state::RunFile;

/// How long a holder may take to write its name after it has taken the lock, on a machine under load.
const NAME_TIMEOUT: Duration = Duration::from_millis(200);
/// How long to wait for a runner that has recorded its end and is about to exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(2);
const MAX_INFO_BYTES: u64 = 64 << 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockInfo {
    /// The run, or a command such as `ralph merge`.
    pub run_id: String,
    pub pid: u32,
    pub since: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockSubject {
    /// A workspace: two agents in one would undo each other's work.
    Workspace(PathBuf),
    /// An agent's conversation: two processes in one lose a turn.
    Session(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHeld {
    pub subject: LockSubject,
    /// Who; none if the holder could not say.
    pub holder: Option<LockInfo>,
}

impl fmt::Display for LockHeld {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subject {
            LockSubject::Workspace(path) => write!(formatter, "the workspace `{}`", path.display())?,
            LockSubject::Session(id) => write!(formatter, "the session `{id}`")?,
        }
        let Some(LockInfo { run_id, pid, since }) = &self.holder else {
            return formatter.write_str(" is in use by another run; `ralph runs` lists them");
        };
        let since = since.strftime("%Y-%m-%d %H:%M UTC");
        // The id of a run has no space.
        if run_id.contains(' ') {
            return write!(
                formatter,
                " is in use by `{run_id}` (pid {pid}, since {since}); try again when it is done"
            );
        }
        let run_id = short_run_id(run_id);
        write!(
            formatter,
            " is in use by run {run_id} (pid {pid}, since {since}); `ralph attach {run_id}` shows it, \
             `ralph stop {run_id}` ends it"
        )
    }
}

/// A lock could not be taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    #[error("{0}")]
    Held(LockHeld),
    #[error("cannot lock `{}`", path.display())]
    Io {
        /// The lock file, or what is locked.
        path: PathBuf,
        source: io::Error,
    },
}

/// A lock that is held until it is dropped, or until the process ends, however that happens.
#[derive(Debug)]
#[must_use = "a lock is held only as long as it is kept"]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the workspace for a run.
    pub fn workspace(home: &Home, workspace: &Path, info: &LockInfo) -> Result<Self, LockError> {
        let workspace = fs::canonicalize(workspace).map_err(|source| LockError::Io {
            path: workspace.to_owned(),
            source,
        })?;
        let path = lock_file(home, "workspace", workspace.as_os_str().as_encoded_bytes());
        Self::take(home, &path, LockSubject::Workspace(workspace), info)
    }

    /// Takes an agent's conversation for a run.
    pub fn session(home: &Home, session_id: &str, info: &LockInfo) -> Result<Self, LockError> {
        let path = lock_file(home, "session", session_id.as_bytes());
        Self::take(home, &path, LockSubject::Session(session_id.to_owned()), info)
    }

    /// As [`Self::session`], but does not wait for a run that is just exiting.
    pub(crate) fn try_session(home: &Home, session_id: &str, info: &LockInfo) -> Result<Self, LockError> {
        let path = lock_file(home, "session", session_id.as_bytes());
        let subject = LockSubject::Session(session_id.to_owned());
        Self::try_take(&path, info)?.ok_or_else(|| {
            let holder = read_info(&path);
            LockError::Held(LockHeld { subject, holder })
        })
    }

    fn try_take(path: &Path, info: &LockInfo) -> Result<Option<Self>, LockError> {
        let fail = |source| LockError::Io {
            path: path.to_owned(),
            source,
        };
        let Some(file) = try_open_locked(path).map_err(fail)? else {
            return Ok(None);
        };
        let mut lock = Self { file };
        lock.write_info(info).map_err(fail)?;
        Ok(Some(lock))
    }

    fn take(home: &Home, path: &Path, subject: LockSubject, info: &LockInfo) -> Result<Self, LockError> {
        let started_at = Instant::now();
        loop {
            if let Some(lock) = Self::try_take(path, info)? {
                return Ok(lock);
            }
            let holder = read_info(path);
            let timeout = match &holder {
                None => NAME_TIMEOUT,
                Some(holder) if has_ended(home, &holder.run_id) => EXIT_TIMEOUT,
                Some(_) => Duration::ZERO,
            };
            if started_at.elapsed() >= timeout {
                return Err(LockError::Held(LockHeld { subject, holder }));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    fn write_info(&mut self, info: &LockInfo) -> io::Result<()> {
        let text = serde_json::to_vec(info)?;
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&text)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // So that another process does not read our name. Closing the file releases the lock.
        let _ = self.file.set_len(0);
    }
}

/// Whether the run's own file says that it has ended.
fn has_ended(home: &Home, run_id: &str) -> bool {
    home.run(run_id)
        .and_then(|run| RunFile::load(&run.run_file()).ok())
        .is_some_and(|file| file.is_ended())
}

/// Waits for a lock that is only held for the time of a write. The lock is released when the file is dropped.
pub fn lock_briefly(path: &Path, patience: Duration) -> io::Result<File> {
    if let Some(file) = try_open_locked(path)? {
        return Ok(file);
    }
    // The system grants locks in turn but has no timeout, so a thread waits. If it gets the lock too late, it releases
    // it at once.
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    let path = path.to_owned();
    std::thread::Builder::new().spawn(move || sender.send(open_locked(&path)))?;
    match receiver.recv_timeout(patience) {
        Ok(result) => result,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Where the lock of something is. The name must be the same for every version of ralph.
pub(crate) fn lock_file(home: &Home, kind: &str, what: &[u8]) -> PathBuf {
    let name = format!("{kind}-{:016x}.lock", fnv1a(what));
    home.locks_directory().join(name)
}

fn try_open_locked(path: &Path) -> io::Result<Option<File>> {
    loop {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if is_same_file(&file, path)? {
            return Ok(Some(file));
        }
    }
}

fn open_locked(path: &Path) -> io::Result<File> {
    loop {
        let file = open(path)?;
        file.lock()?;
        if is_same_file(&file, path)? {
            return Ok(file);
        }
    }
}

/// Opens a lock file, or makes it.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    private_file(&mut options);
    let file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(directory) = path.parent() {
                make_directory_all(directory)?;
            }
            options.open(path)?
        }
        other => other?,
    };
    protect(&file)?;
    Ok(file)
}

/// `clean` removes lock files: a lock on a removed file excludes no other process.
#[cfg(unix)]
fn is_same_file(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let ours = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn is_same_file(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

fn read_info(path: &Path) -> Option<LockInfo> {
    let mut text = Vec::new();
    let file = File::open(path).ok()?;
    file.take(MAX_INFO_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Removes lock files that are not held and have not changed since.
pub(crate) fn remove_unused(home: &Home, before: std::time::SystemTime) {
    let entries = fs::read_dir(home.locks_directory())
        .into_iter()
        .flatten()
        .flatten();
    for entry in entries {
        let is_old = entry
            .metadata()
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|modified| modified < before);
        if is_old && let Ok(Some(_held)) = try_open_locked(&entry.path()) {
            // Held while it is removed; a process that waits for it makes a new one.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The 64-bit FNV-1a hash: stable over versions, which the standard library's is not.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::fnv1a;

    #[test]
    fn the_names_of_lock_files_are_stable() {
        // From the published test vectors.
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
