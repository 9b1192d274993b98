//! `AccessLog`: who asked for what, in `access.log` of the state directory, and who was refused without a valid secret,
//! in `access-refused.log`. Neither holds a secret, query or body.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use jiff::Timestamp;
use serde::Serialize;

use crate::auth::{Principal, Throttle};

/// A longer file is renamed, from `access.log` to `access.log.1`, which replaces the one before.
const MAX_FILE_BYTES: u64 = 8 << 20;
/// Lines that wait for the disk. More are dropped: a request never waits for its log.
const MAX_PENDING_LINES: usize = 1024;
const MAX_PATH_BYTES: usize = 512;

/// Two logs, so that whoever has no secret cannot push out the lines of those who have one.
#[derive(Debug)]
pub(crate) struct AccessLog {
    allowed: LogFile,
    refused: LogFile,
    dropping: Throttle,
}

/// Logs the commands that a client gives over a WebSocket, as requests of their own.
#[derive(Debug, Clone)]
pub struct CommandLog {
    log: Arc<AccessLog>,
    peer: IpAddr,
    actor: String,
}

impl CommandLog {
    pub(crate) fn new(log: Arc<AccessLog>, peer: IpAddr, principal: &Principal) -> Self {
        let actor = principal.actor();
        Self { log, peer, actor }
    }

    pub(crate) fn write(&self, run: &str, command: &str, status: StatusCode, took: Duration) {
        let path = format!("/api/v1/runs/{run}/{command}");
        let who = (self.peer, Some(self.actor.as_str()));
        let outcome = (status.as_u16(), took);
        self.log.write(who, ("WEBSOCKET", &path), outcome, None);
    }
}

/// Writes lines on a thread of its own.
#[derive(Debug)]
struct LogFile {
    lines: SyncSender<String>,
}

/// One request.
#[derive(Debug, Serialize)]
pub(crate) struct AccessEntry<'a> {
    pub(crate) at: Timestamp,
    pub(crate) peer: IpAddr,
    /// The token or session, by name; none for a login, and for what was refused before the name was known.
    pub(crate) actor: Option<&'a str>,
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    /// The address of what the request has created, such as the run that it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created: Option<&'a str>,
    pub(crate) status: u16,
    pub(crate) milliseconds: u64,
}

impl AccessLog {
    pub(crate) fn open(state_directory: &Path) -> Self {
        Self {
            allowed: LogFile::open(state_directory.join("access.log")),
            refused: LogFile::open(state_directory.join("access-refused.log")),
            dropping: Throttle::default(),
        }
    }

    pub(crate) fn write(
        &self,
        (peer, actor): (IpAddr, Option<&str>),
        (method, path): (&str, &str),
        (status, took): (u16, Duration),
        created: Option<&str>,
    ) {
        let entry = AccessEntry {
            at: Timestamp::now(),
            peer,
            actor,
            method,
            path: cut(path),
            created,
            status,
            milliseconds: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        };
        let Ok(mut line) = serde_json::to_string(&entry) else {
            return;
        };
        line.push('\n');
        // Whoever logs in has no name yet, but a valid secret.
        let is_login = method == "POST" && (200..300).contains(&status);
        let has_secret = actor.is_some() || is_login;
        let file = if has_secret { &self.allowed } else { &self.refused };
        if let Err(TrySendError::Full(_)) = file.lines.try_send(line)
            && self.dropping.is_due(Instant::now())
        {
            tracing::warn!("the disk is too slow for the access log: lines are dropped");
        }
    }
}

impl LogFile {
    fn open(path: PathBuf) -> Self {
        let (lines, pending) = sync_channel(MAX_PENDING_LINES);
        let thread = std::thread::Builder::new().name("access log".to_owned());
        if let Err(error) = thread.spawn(move || write_lines(&path, &pending)) {
            tracing::warn!(%error, "cannot start the thread of the access log");
        }
        Self { lines }
    }
}

fn cut(path: &str) -> &str {
    let end = path.floor_char_boundary(MAX_PATH_BYTES);
    path.get(..end).unwrap_or_default()
}

fn write_lines(path: &Path, lines: &Receiver<String>) {
    let mut open: Option<(File, u64)> = None;
    let mut has_failed = false;
    for line in lines {
        if let Err(error) = write_line(path, &mut open, &line) {
            open = None;
            // Once: the disk may be full for hours.
            if !std::mem::replace(&mut has_failed, true) {
                tracing::warn!(%error, "cannot write the access log");
            }
        } else {
            has_failed = false;
        }
    }
}

fn write_line(path: &Path, open: &mut Option<(File, u64)>, line: &str) -> io::Result<()> {
    let is_full = |length: u64| length + line.len() as u64 > MAX_FILE_BYTES;
    if open.as_ref().is_some_and(|(_, length)| is_full(*length)) {
        *open = None;
    }
    let (file, length) = match open {
        Some(open) => open,
        None => {
            if fs::metadata(path).is_ok_and(|metadata| is_full(metadata.len())) {
                fs::rename(path, older(path))?;
            }
            let mut options = OpenOptions::new();
            options.append(true).create(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = options.open(path)?;
            let length = file.metadata()?.len();
            open.insert((file, length))
        }
    };
    file.write_all(line.as_bytes())?;
    *length += line.len() as u64;
    Ok(())
}

fn older(path: &Path) -> PathBuf {
    path.with_extension("log.1")
}

#[cfg(test)]
mod tests {
    use super::{MAX_FILE_BYTES, cut, older, write_line};

    #[test]
    fn the_log_never_takes_more_than_two_files() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("access.log");
        let line = format!("{}\n", "x".repeat(1 << 20));
        let mut open = None;
        for _ in 0..30 {
            write_line(&path, &mut open, &line).unwrap();
        }
        let length = |path: &std::path::Path| path.metadata().unwrap().len();
        assert!(length(&path) <= MAX_FILE_BYTES && length(&older(&path)) <= MAX_FILE_BYTES);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_long_path_is_cut_between_characters() {
        let path = format!("/{}é", "x".repeat(510));
        assert_eq!(cut(&path).len(), 511);
    }
}
