//! Writing a journal.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::file::JournalFile;
use crate::home::new_file;
use crate::record::Record;

const CREATE_LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Records wait for each other up to this much, where the caller lets them.
const BATCH_BYTES: usize = 128 << 10;
/// What waits at most while the disk takes nothing.
const MAX_PENDING_BYTES: usize = 4 << 20;
const SYNC_AFTER_BYTES: u64 = 1 << 20;
const SYNC_AFTER: Duration = Duration::from_secs(5);

/// A journal could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The system took nothing, or only a part that was taken back. What is pending is written with the next record.
    #[error("cannot write to the journal ({pending_bytes} bytes wait)")]
    Write {
        /// How much waits to be written.
        pending_bytes: usize,
        /// Why.
        source: io::Error,
    },
    /// The system has taken nothing for so long that this record is given up.
    #[error("record {seq} is lost: the journal cannot be written")]
    Dropped {
        /// The record.
        seq: u64,
    },
    /// The record cannot be put into JSON.
    #[error("record {seq} cannot be written as JSON")]
    Encode {
        /// The record.
        seq: u64,
        /// Why.
        source: serde_json::Error,
    },
    /// Another process writes it: the run is alive.
    #[error("another process writes the journal `{}`", .0.display())]
    Held(PathBuf),
    /// A newer version of ralph wrote it.
    #[error("{0}")]
    NewerFormat(super::Damage),
    /// The file could not be opened, repaired or synced.
    #[error("cannot use the journal `{}`", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Appends records to a journal, whole lines only. As long as it exists, nobody else can write to the file.
#[derive(Debug)]
pub struct JournalWriter {
    file: Box<dyn JournalFile>,
    path: PathBuf,
    /// Whole lines that are not in the file yet.
    pending: Vec<u8>,
    /// The file up to the end of its last whole line.
    length_bytes: u64,
    /// Whether part of a line is behind that, which must go first.
    is_torn: bool,
    unsynced_bytes: u64,
    synced_at: Instant,
}

impl JournalWriter {
    /// A new journal. Record 1 must be the start of the run.
    ///
    /// # Errors
    /// When it cannot be made, or is there already.
    pub fn create(path: &Path) -> Result<Self, JournalError> {
        let file = new_file(path).map_err(|source| unusable(path, source))?;
        // A process that looks for lost runs may open the new file before it is locked, for a moment.
        let deadline = Instant::now() + CREATE_LOCK_TIMEOUT;
        while let Err(error) = lock(&file, path) {
            if !matches!(error, JournalError::Held(_)) || Instant::now() >= deadline {
                return Err(error);
            }
            std::thread::sleep(LOCK_POLL_INTERVAL);
        }
        Ok(Self::on(Box::new(file), path, 0))
    }

    pub(crate) fn on(file: Box<dyn JournalFile>, path: &Path, length_bytes: u64) -> Self {
        Self {
            file,
            path: path.to_owned(),
            pending: Vec::new(),
            length_bytes,
            is_torn: false,
            unsynced_bytes: 0,
            synced_at: Instant::now(),
        }
    }

    /// Writes a record at once.
    ///
    /// # Errors
    /// With [`JournalError::Write`] nothing is lost: the record waits and is written with the next one.
    pub fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        let seq = record.seq;
        let line = serde_json::to_vec(record).map_err(|source| JournalError::Encode { seq, source })?;
        self.push(seq, &line)?;
        self.flush()
    }

    /// Takes the line of record `seq`, without its line end, to be written at the next [`Self::flush`] or when enough
    /// lines have come together.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn push(&mut self, seq: u64, line: &[u8]) -> Result<(), JournalError> {
        if self.pending.len() > MAX_PENDING_BYTES {
            // Perhaps there is room again; if not, this one is too many.
            self.flush().map_err(|_| JournalError::Dropped { seq })?;
        }
        self.pending.extend_from_slice(line);
        self.pending.push(b'\n');
        if self.pending.len() < BATCH_BYTES {
            return Ok(());
        }
        self.flush()
    }

    /// Where the next line starts in the file.
    pub(crate) fn next_offset(&self) -> u64 {
        self.length_bytes + self.pending.len() as u64
    }

    /// Writes what waits.
    ///
    /// # Errors
    /// When the system takes nothing, or not all of it. The file then ends with its last whole line.
    pub fn flush(&mut self) -> Result<(), JournalError> {
        self.repair().map_err(|source| self.stuck(source))?;
        let mut taken = 0;
        let mut problem = None;
        while let Some(rest) = self.pending.get(taken..).filter(|rest| !rest.is_empty()) {
            match self.file.write(rest) {
                Ok(0) => problem = Some(io::ErrorKind::WriteZero.into()),
                Ok(written) => taken += written,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => problem = Some(error),
            }
            if problem.is_some() {
                break;
            }
        }
        let Some(problem) = problem else {
            self.took(taken);
            return Ok(());
        };
        let sent = self.pending.get(..taken).unwrap_or_default();
        let whole = sent
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |newline| newline + 1);
        self.is_torn = whole < taken;
        self.took(whole);
        // At once, so that a reader finds whole lines. If it fails now, it is tried again before the next write.
        let _ = self.repair();
        Err(self.stuck(problem))
    }

    /// Whole lines have arrived in the file.
    fn took(&mut self, bytes: usize) {
        self.length_bytes += bytes as u64;
        self.unsynced_bytes += bytes as u64;
        if bytes == self.pending.len() {
            self.pending.clear();
            self.pending.shrink_to(2 * BATCH_BYTES);
        } else {
            self.pending.drain(..bytes);
        }
    }

    /// Takes back what was written of a line that did not fit.
    fn repair(&mut self) -> io::Result<()> {
        if self.is_torn {
            self.file.set_length(self.length_bytes)?;
            self.is_torn = false;
        }
        Ok(())
    }

    fn stuck(&self, source: io::Error) -> JournalError {
        JournalError::Write {
            pending_bytes: self.pending.len(),
            source,
        }
    }

    /// Writes what waits and waits until the disk has it.
    ///
    /// # Errors
    /// When it cannot be written or synced.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.flush()?;
        self.file.sync().map_err(|source| unusable(&self.path, source))?;
        self.synced();
        Ok(())
    }

    /// Writes what waits; waiting for the disk can then be done elsewhere, while more is written.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn start_sync(&mut self) -> Result<PendingSync, JournalError> {
        self.flush()?;
        let file = self.file.share().map_err(|source| unusable(&self.path, source))?;
        self.synced();
        Ok(PendingSync { file })
    }

    fn synced(&mut self) {
        self.unsynced_bytes = 0;
        self.synced_at = Instant::now();
    }

    /// Whether it is time to sync: after 1 MiB, or 5 seconds with anything at all.
    #[must_use]
    pub fn needs_sync(&self, now: Instant) -> bool {
        let waiting = self.unsynced_bytes + self.pending.len() as u64;
        waiting >= SYNC_AFTER_BYTES
            || (waiting > 0 && now.saturating_duration_since(self.synced_at) >= SYNC_AFTER)
    }

    /// How much could not be written, or waits for [`Self::flush`].
    #[must_use]
    pub fn pending_bytes(&self) -> usize {
        self.pending.len()
    }
}

impl Drop for JournalWriter {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.flush();
    }
}

/// A wait for the disk that can be done on another thread.
#[derive(Debug)]
#[must_use = "nothing waits for the disk until `wait` is called"]
pub struct PendingSync {
    file: File,
}

impl PendingSync {
    /// Waits until the disk has everything that was written before.
    ///
    /// # Errors
    /// What the system said.
    pub fn wait(self) -> io::Result<()> {
        self.file.sync_data()
    }
}

pub(super) fn unusable(path: &Path, source: io::Error) -> JournalError {
    JournalError::Unusable {
        path: path.to_owned(),
        source,
    }
}

/// One writer at a time: the lock goes with the process, however it ends.
pub(super) fn lock(file: &File, path: &Path) -> Result<(), JournalError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(JournalError::Held(path.to_owned())),
        // A filesystem without locks: the runner's process is the evidence that is left.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(source)) => Err(unusable(path, source)),
    }
}

#[cfg(test)]
mod tests {
    use super::{JournalError, JournalWriter, MAX_PENDING_BYTES};
    use crate::journal::JournalRecords;
    use crate::journal::file::JournalFile;
    use crate::record::{Record, RunBody, RunEvent, Warned, WarningKind};
    use std::fs::File;
    use std::io::{self, Cursor};
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    /// A disk that takes what there is room for, and fails chosen steps.
    #[derive(Debug, Default)]
    struct Disk {
        content: Vec<u8>,
        room_bytes: usize,
        steps: u32,
        failing_steps: Vec<u32>,
    }

    #[derive(Debug, Clone, Default)]
    struct Shared(Arc<Mutex<Disk>>);

    impl Shared {
        fn with<T>(&self, work: impl FnOnce(&mut Disk) -> T) -> T {
            work(&mut self.0.lock().unwrap())
        }

        fn step(&self) -> io::Result<()> {
            self.with(|disk| {
                disk.steps += 1;
                if disk.failing_steps.contains(&disk.steps) {
                    return Err(io::ErrorKind::Other.into());
                }
                Ok(())
            })
        }
    }

    impl JournalFile for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.step()?;
            self.with(|disk| {
                let taken = bytes.len().min(disk.room_bytes);
                if taken == 0 {
                    return Err(io::ErrorKind::StorageFull.into());
                }
                disk.room_bytes -= taken;
                disk.content.extend_from_slice(&bytes[..taken]);
                Ok(taken)
            })
        }

        fn set_length(&mut self, length_bytes: u64) -> io::Result<()> {
            self.step()?;
            self.with(|disk| {
                let length = usize::try_from(length_bytes).unwrap_or(usize::MAX);
                disk.room_bytes += disk.content.len() - length;
                disk.content.truncate(length);
            });
            Ok(())
        }

        fn sync(&mut self) -> io::Result<()> {
            self.step()
        }

        fn share(&self) -> io::Result<File> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    fn record(seq: u64, length: usize) -> Record {
        Record {
            seq,
            at: jiff::Timestamp::UNIX_EPOCH,
            iteration: 1,
            attempt: 1,
            event: RunEvent::Run(RunBody::Warned(Warned::new(
                WarningKind::Storage,
                "x".repeat(length),
            ))),
        }
    }

    fn writer(disk: &Shared) -> JournalWriter {
        JournalWriter::on(Box::new(disk.clone()), Path::new("journal"), 0)
    }

    fn numbers(disk: &Shared) -> Vec<u64> {
        let content = disk.with(|disk| disk.content.clone());
        assert!(content.last().is_none_or(|byte| *byte == b'\n'));
        JournalRecords::new(Cursor::new(content))
            .map(|item| item.unwrap().seq)
            .collect()
    }

    #[test]
    fn a_full_disk_costs_no_record_once_there_is_room_again() {
        for room_bytes in 0..500 {
            let disk = Shared::default();
            disk.with(|disk| disk.room_bytes = room_bytes);
            let mut writer = writer(&disk);
            let mut failures = 0;
            for seq in 1..=4 {
                if let Err(error) = writer.append(&record(seq, 10)) {
                    failures += 1;
                    assert!(matches!(error, JournalError::Write { pending_bytes, .. } if pending_bytes > 0));
                }
                // Whole lines only, in every moment.
                numbers(&disk);
            }
            assert!(failures > 0);
            disk.with(|disk| disk.room_bytes = usize::MAX / 2);
            writer.append(&record(5, 10)).unwrap();
            assert_eq!(numbers(&disk), [1, 2, 3, 4, 5], "room for {room_bytes} bytes");
            assert_eq!(writer.pending_bytes(), 0);
        }
    }

    #[test]
    fn whichever_step_fails_no_line_is_merged_or_lost() {
        for first in 1..20 {
            for second in first + 1..20 {
                let disk = Shared::default();
                disk.with(|disk| {
                    disk.room_bytes = 150;
                    disk.failing_steps = vec![first, second];
                });
                let mut writer = writer(&disk);
                for seq in 1..=8 {
                    let _ = writer.append(&record(seq, 10)).and_then(|()| writer.sync());
                    disk.with(|disk| disk.room_bytes += 60);
                }
                disk.with(|disk| {
                    disk.room_bytes = usize::MAX / 2;
                    disk.failing_steps.clear();
                });
                writer.sync().unwrap();
                assert_eq!(
                    numbers(&disk),
                    (1..=8).collect::<Vec<_>>(),
                    "{first} and {second}"
                );
            }
        }
    }

    #[test]
    fn what_waits_for_a_full_disk_is_bounded_and_the_gap_is_visible() {
        let disk = Shared::default();
        let mut writer = writer(&disk);
        let mut dropped = None;
        for seq in 1..=100 {
            match writer.append(&record(seq, 100_000)) {
                Err(JournalError::Dropped { seq }) => dropped = dropped.or(Some(seq)),
                other => assert!(other.is_err()),
            }
            assert!(writer.pending_bytes() < MAX_PENDING_BYTES + 200_000);
        }
        let dropped = dropped.unwrap();
        disk.with(|disk| disk.room_bytes = usize::MAX / 2);
        writer.append(&record(101, 10)).unwrap();
        let content = disk.with(|disk| disk.content.clone());
        let damage: Vec<_> = JournalRecords::new(Cursor::new(content))
            .filter_map(Result::err)
            .map(|damage| damage.to_string())
            .collect();
        let [gap] = damage.as_slice() else {
            panic!("{damage:?}")
        };
        assert!(
            gap.starts_with(&format!("records {dropped} to 100 are missing")),
            "{gap}"
        );
    }

    #[test]
    fn records_that_come_together_are_written_together() {
        let disk = Shared::default();
        disk.with(|disk| disk.room_bytes = usize::MAX / 2);
        let mut writer = writer(&disk);
        for seq in 1..=100 {
            let line = serde_json::to_vec(&record(seq, 10)).unwrap();
            writer.push(seq, &line).unwrap();
        }
        writer.flush().unwrap();
        assert_eq!(disk.with(|disk| disk.steps), 1);
        assert_eq!(numbers(&disk).len(), 100);
    }
}
