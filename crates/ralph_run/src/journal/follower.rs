//! Reading a journal while it is written.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use agent_process::FileFollower;

use bytes::BytesMut;
use json_lines::{Framed, LineFramer};

use super::check::{Checker, MAX_LINE_BYTES};
use super::damage::{Damage, DamageKind};
use crate::home::open_linked_file;
use crate::record::{Record, RunBody, RunEvent};

const CHUNK_BYTES: usize = 64 << 10;

/// The records of a journal as they are written, from a number on, until the run has ended.
#[derive(Debug)]
pub struct JournalFollower {
    path: PathBuf,
    file: FileFollower,
    /// The same file, for text that a line leaves out.
    earlier: File,
    framer: LineFramer,
    checker: Checker,
    /// Whole lines, and their bytes, that were read before `framer` began.
    base_line: u64,
    base_offset: u64,
    /// Of `framer`: lines, and their bytes.
    line: u64,
    offset: u64,
    /// Whether the file ended with a piece of a line when it was last read.
    ends_with_piece: bool,
    is_over: bool,
    stops_at_end: bool,
}

impl JournalFollower {
    /// Opens a journal to be read from record `from_seq` on.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(path: &Path, from_seq: u64) -> io::Result<Self> {
        // First: opening a pipe in its place to follow it would wait for ever.
        let earlier = open_linked_file(path)?;
        Ok(Self {
            path: path.to_owned(),
            file: FileFollower::open(path, 0)?,
            earlier,
            framer: LineFramer::new(MAX_LINE_BYTES),
            checker: Checker::new(from_seq),
            base_line: 0,
            base_offset: 0,
            line: 0,
            offset: 0,
            ends_with_piece: false,
            is_over: false,
            stops_at_end: false,
        })
    }

    /// Leaves out records before `from_seq` from now on, without parsing them.
    pub(crate) fn skip_to(&mut self, from_seq: u64) {
        self.checker.skip_to(from_seq);
    }

    /// Do not wait at the end of the file any more: nobody writes it.
    pub fn stop_at_end(&mut self) {
        self.stops_at_end = true;
    }

    /// Where the last line that was read ends.
    #[must_use]
    pub fn offset_bytes(&self) -> u64 {
        self.base_offset + self.offset
    }

    /// Whether the journal is another file now, or has lost lines that were read. Then nothing that follows can be
    /// trusted.
    #[must_use]
    pub fn was_replaced(&self) -> bool {
        let Ok(ours) = self.earlier.metadata() else {
            return true;
        };
        if ours.len() < self.offset_bytes() {
            return true;
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            std::fs::metadata(&self.path)
                .is_ok_and(|there| (there.dev(), there.ino()) != (ours.dev(), ours.ino()))
        }
        #[cfg(not(unix))]
        false
    }

    /// The next record, or what is wrong with the journal; `None` after the last record of the run. Cancelling the
    /// wait loses nothing.
    pub async fn next(&mut self) -> Option<Result<Record, Damage>> {
        while !self.is_over {
            if let Some(item) = self.available() {
                return Some(item);
            }
            if self.is_over || self.stops_at_end {
                break;
            }
            self.file.changed().await;
        }
        None
    }

    /// What is there without waiting.
    fn available(&mut self) -> Option<Result<Record, Damage>> {
        if std::mem::take(&mut self.ends_with_piece) {
            self.reread_piece();
        }
        while !self.is_over {
            if let Some(item) = self.checker.next() {
                self.is_over = match &item {
                    Ok(record) => matches!(record.event, RunEvent::Run(RunBody::RunEnded(_))),
                    Err(damage) => damage.is_final(),
                };
                return Some(item);
            }
            if let Some(framed) = self.framer.next_line() {
                self.push(framed);
                continue;
            }
            let mut chunk = BytesMut::with_capacity(CHUNK_BYTES);
            match self.file.read_available(&mut chunk) {
                Ok(0) => {
                    self.ends_with_piece = self.framer.pending_bytes() > 0;
                    return None;
                }
                Ok(_) => self.framer.push(chunk.freeze()),
                Err(error) => self.fail(error),
            }
        }
        None
    }

    fn push(&mut self, mut framed: Framed) {
        let (Framed::Line(json_lines::Line { number, offset, .. }) | Framed::Overlong { number, offset, .. }) =
            &mut framed;
        self.line = *number;
        *number += self.base_line;
        *offset += self.base_offset;
        self.checker.push(framed, &mut self.earlier);
        self.offset = self.file.offset() - self.base_offset - self.framer.pending_bytes() as u64;
    }

    /// A piece of a line at the end may be taken back: by a writer on a full disk, or when the journal of a dead
    /// one is repaired. So it is never kept, but read anew at the next look.
    fn reread_piece(&mut self) {
        self.base_line += std::mem::take(&mut self.line);
        self.base_offset += std::mem::take(&mut self.offset);
        self.framer = LineFramer::new(MAX_LINE_BYTES);
        match FileFollower::open(&self.path, self.base_offset) {
            Ok(file) => self.file = file,
            Err(error) => self.fail(error),
        }
    }

    fn fail(&mut self, error: io::Error) {
        self.checker.fail(Damage {
            line: self.base_line + self.line + 1,
            offset: self.file.offset(),
            kind: DamageKind::Unreadable(error),
        });
    }
}
