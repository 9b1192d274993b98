//! `JournalRecords`: the records of a journal as it is now, each checked, for everything that shows a run.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use bytes::Bytes;
use json_lines::{Framed, Line, LineFramer};

use super::check::{Checker, MAX_LINE_BYTES};
use super::damage::{Damage, DamageKind};
use crate::home::open_linked_file;
use crate::record::Record;

const CHUNK_BYTES: usize = 128 << 10;

/// Opens a journal to be read as it is now. Its last line counts only if it is whole.
///
/// # Errors
/// When the file cannot be opened.
pub fn read_journal(path: &Path) -> io::Result<JournalRecords<File>> {
    Ok(JournalRecords::new(open_linked_file(path)?))
}

/// Opens a journal to be read from the first line on that starts in its last `length_bytes`. Texts are whole, but lines in
/// reported damage are counted from there.
///
/// # Errors
/// When the file cannot be read.
pub fn read_journal_tail(path: &Path, length_bytes: u64) -> io::Result<JournalRecords<File>> {
    let mut file = open_linked_file(path)?;
    let start = file.metadata()?.len().saturating_sub(length_bytes);
    let mut reader = if start == 0 {
        return Ok(JournalRecords::new(file));
    } else {
        // One byte earlier, so that a line that starts exactly here is not taken for the rest of another.
        file.seek(SeekFrom::Start(start - 1))?;
        JournalRecords::new(file)
    };
    reader.checker = Checker::in_the_middle();
    reader.base_offset = start - 1;
    reader.skips_first_line = true;
    Ok(reader)
}

/// The records of a journal, and what is wrong with it, in the order of the file.
#[derive(Debug)]
pub struct JournalRecords<R> {
    source: R,
    framer: LineFramer,
    checker: Checker,
    chunk: Vec<u8>,
    read_bytes: u64,
    /// Up to the end of the last whole line.
    whole_bytes: u64,
    line: u64,
    /// Where reading began.
    base_offset: u64,
    /// Whether reading began in a line, which is left out.
    skips_first_line: bool,
    is_over: bool,
}

impl<R: Read + Seek> JournalRecords<R> {
    /// Reads a journal from anywhere, from its start on.
    pub fn new(source: R) -> Self {
        Self {
            source,
            framer: LineFramer::new(MAX_LINE_BYTES),
            checker: Checker::new(0),
            chunk: vec![0; CHUNK_BYTES],
            read_bytes: 0,
            whole_bytes: 0,
            line: 0,
            base_offset: 0,
            skips_first_line: false,
            is_over: false,
        }
    }

    /// Leaves out records before `seq`.
    #[must_use]
    pub fn from_seq(mut self, seq: u64) -> Self {
        self.checker = Checker::new(seq);
        self
    }

    /// Where the last whole line ends. Known once everything is read.
    #[must_use]
    pub fn whole_bytes(&self) -> u64 {
        self.whole_bytes
    }

    /// How much is behind the last whole line. Known once everything is read.
    #[must_use]
    pub fn torn_bytes(&self) -> u64 {
        self.read_bytes - self.whole_bytes
    }

    /// Reads until there is something to say; false at the end.
    fn read_more(&mut self) -> bool {
        match self.source.read(&mut self.chunk) {
            Ok(0) => return false,
            Ok(read) => {
                self.read_bytes += read as u64;
                let bytes = self.chunk.get(..read).unwrap_or_default();
                self.framer.push(Bytes::copy_from_slice(bytes));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                self.checker.fail(Damage {
                    line: self.line + 1,
                    offset: self.read_bytes,
                    kind: DamageKind::Unreadable(error),
                });
            }
        }
        true
    }
}

impl<R: Read + Seek> Iterator for JournalRecords<R> {
    type Item = Result<Record, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_over {
            if let Some(item) = self.checker.next() {
                self.is_over = item.as_ref().is_err_and(Damage::is_final);
                return Some(item);
            }
            if let Some(mut framed) = self.framer.next_line() {
                self.line += 1;
                self.whole_bytes = self.read_bytes - self.framer.pending_bytes() as u64;
                if std::mem::take(&mut self.skips_first_line) {
                    continue;
                }
                let (Framed::Line(Line { offset, .. }) | Framed::Overlong { offset, .. }) = &mut framed;
                *offset += self.base_offset;
                self.checker.push(framed, &mut self.source);
            } else if !self.read_more() {
                self.is_over = true;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{read_journal, read_journal_tail};

    #[test]
    fn a_tail_has_the_last_whole_lines_and_no_damage() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let line = |seq: u64| {
            format!(
                r#"{{"seq":{seq},"at":"2026-01-01T00:00:00Z","iteration":1,"attempt":1,"event":{{"type":"unheard_of","data":{{}}}}}}"#
            )
        };
        for seq in 1..=100 {
            writeln!(file, "{}", line(seq)).unwrap();
        }
        let all: Vec<u64> = read_journal(file.path())
            .unwrap()
            .map(|record| record.unwrap().seq)
            .collect();
        let length = |seq: u64| u64::try_from(line(seq).len() + 1).unwrap();
        let two = length(99) + length(100);
        for (bytes, first) in [(length(100), 100), (two - 1, 100), (two, 99), (1 << 20, 1)] {
            let tail: Vec<u64> = read_journal_tail(file.path(), bytes)
                .unwrap()
                .map(|record| record.unwrap().seq)
                .collect();
            assert_eq!(tail, all[first - 1..], "{bytes} bytes");
        }
    }
}
