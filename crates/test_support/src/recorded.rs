//! Which of the processes that a script recorded are still alive.
//!
//! A recorded process holds a lock on its file for as long as it lives. The lock, not the number, tells whether it is
//! alive: numbers are reused, and mean something else inside a PID namespace. Whoever looks takes a shared lock, so
//! that two who look do not take each other for the process.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A process that recorded itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Recorded {
    /// As what.
    pub name: String,
    /// Its number, as the process itself saw it.
    pub pid: u32,
}

/// Parent, process group and session of a process; 0 where they are outside our PID namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relatives {
    /// Who started it, or inherited it.
    pub parent: u32,
    /// The number of its process group.
    pub group: u32,
    /// The number of its session.
    pub session: u32,
}

/// The relatives of a process, by number or `self`; nothing where the system has no `/proc`.
///
/// Read as text, because a session whose leader is in another namespace has the number 0, which typed wrappers of
/// `getsid` refuse by a panic.
pub fn relatives(process: &str) -> Option<Relatives> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The command's name is in parentheses and may contain some; state, parent, group and session follow.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(1).map(|field| field.parse().ok());
    Some(Relatives {
        parent: fields.next()??,
        group: fields.next()??,
        session: fields.next()??,
    })
}

/// Records the calling process; it counts as alive until the file returned is closed.
pub fn record(directory: &Path, name: &str) -> io::Result<File> {
    let draft = directory.join(format!(".{name}.{}", std::process::id()));
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&draft)?;
    file.lock()?;
    write!(file, "{}", std::process::id())?;
    // Locked and complete before anybody can see it.
    fs::rename(draft, path_of(directory, name))?;
    Ok(file)
}

/// Where a process records itself.
#[must_use]
pub fn path_of(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.pid"))
}

/// Every process that recorded itself there, dead or alive, by name.
pub fn all(directory: &Path) -> io::Result<Vec<Recorded>> {
    let mut recorded: Vec<Recorded> = files(directory)?
        .into_iter()
        .map(|(recorded, _)| recorded)
        .collect();
    recorded.sort();
    Ok(recorded)
}

/// Those that are alive.
pub fn alive(directory: &Path) -> io::Result<Vec<Recorded>> {
    let mut alive = Vec::new();
    for (recorded, file) in files(directory)? {
        match file.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => alive.push(recorded),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    alive.sort();
    Ok(alive)
}

/// Waits until none is alive and says how long that took; after `limit`, says who still is.
pub fn wait_until_gone(directory: &Path, limit: Duration) -> io::Result<Result<Duration, Vec<Recorded>>> {
    let start = Instant::now();
    let (all_gone, wait) = mpsc::channel();
    let files = files(directory)?;
    // Blocks in the kernel until the last holder is gone; after the limit the thread is left behind, blocked.
    thread::spawn(move || {
        let locked = files.into_iter().try_for_each(|(_, file)| file.lock_shared());
        // Nobody listens any more after the limit.
        let _ = all_gone.send(locked);
    });
    match wait.recv_timeout(limit) {
        Ok(locked) => locked.map(|()| Ok(start.elapsed())),
        Err(_) => Ok(match alive(directory)? {
            alive if alive.is_empty() => Ok(start.elapsed()),
            alive => Err(alive),
        }),
    }
}

fn files(directory: &Path) -> io::Result<Vec<(Recorded, File)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "pid") {
            continue;
        }
        let mut file = File::open(&path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let pid = text.parse().map_err(io::Error::other)?;
        files.push((Recorded { name, pid }, file));
    }
    Ok(files)
}
