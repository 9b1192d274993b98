//! `AccessLog`: who asked for what, in `access.log` of the state directory. It holds no secret, query or body.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

/// A file that is longer is renamed to `access.log.1`, which replaces the one before.
const MAX_FILE_BYTES: u64 = 8 << 20;
/// Lines that wait for the disk. More are dropped: a request never waits for its log.
const MAX_WAITING: usize = 1024;
const MAX_PATH_BYTES: usize = 512;

/// Writes lines on a thread of its own.
#[derive(Debug)]
pub(crate) struct AccessLog {
    lines: SyncSender<String>,
}

/// One request.
#[derive(Debug, Serialize)]
pub(crate) struct AccessEntry<'a> {
    pub(crate) at: Timestamp,
    pub(crate) peer: IpAddr,
    /// The token or session, by name; none if the request was refused before it was known.
    pub(crate) actor: Option<&'a str>,
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) status: u16,
    pub(crate) milliseconds: u64,
}

impl AccessLog {
    pub(crate) fn open(state_directory: &Path) -> Self {
        let path = state_directory.join("access.log");
        let (lines, waiting) = sync_channel(MAX_WAITING);
        let thread = std::thread::Builder::new().name("access log".to_owned());
        if let Err(error) = thread.spawn(move || write_lines(&path, &waiting)) {
            tracing::warn!(%error, "there is no access log");
        }
        Self { lines }
    }

    pub(crate) fn write(
        &self,
        (peer, actor): (IpAddr, Option<&str>),
        (method, path): (&str, &str),
        (status, took): (u16, Duration),
    ) {
        let entry = AccessEntry {
            at: Timestamp::now(),
            peer,
            actor,
            method,
            path: cut(path),
            status,
            milliseconds: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        };
        let Ok(mut line) = serde_json::to_string(&entry) else {
            return;
        };
        line.push('\n');
        if let Err(TrySendError::Full(_)) = self.lines.try_send(line) {
            tracing::warn!("the disk is too slow for the access log: a line was dropped");
        }
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
