//! `JournalLines`: reads a journal line by line, holding only a part of the file in memory.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use ralph_run::JournalReader;

const CHUNK_BYTES: usize = 1 << 20;
/// Longer lines are not records. The same limit as in the journal reader of `ralph_run`.
const MAX_LINE_BYTES: usize = 64 << 20;

/// Reads the lines in order. An unterminated last line is not returned: it is still being written.
#[derive(Debug)]
pub(crate) struct JournalLines {
    file: File,
    buffer: Vec<u8>,
    /// The part of the buffer that was read from the file and not returned yet.
    start: usize,
    end: usize,
    /// There is no line end between `start` and here.
    searched: usize,
    /// How many bytes of an overlong line were skipped so far.
    overlong: u64,
}

/// The next item of a journal.
pub(crate) enum Next<'a> {
    /// A line without its newline.
    Line(&'a [u8]),
    /// An overlong line that was skipped; its length including the newline.
    Overlong(u64),
    /// There is no complete line left.
    End,
}

impl JournalLines {
    pub(crate) fn open(path: &Path, offset: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        Ok(Self {
            file,
            buffer: vec![0; CHUNK_BYTES],
            start: 0,
            end: 0,
            searched: 0,
            overlong: 0,
        })
    }

    pub(crate) fn next(&mut self) -> io::Result<Next<'_>> {
        loop {
            let unseen = self.buffer.get(self.searched..self.end).unwrap_or_default();
            if let Some(length) = memchr::memchr(b'\n', unseen) {
                let (from, to) = (self.start, self.searched + length);
                self.start = to + 1;
                self.searched = self.start;
                if self.overlong > 0 || to - from > MAX_LINE_BYTES {
                    let bytes = std::mem::take(&mut self.overlong) + (self.start - from) as u64;
                    return Ok(Next::Overlong(bytes));
                }
                return Ok(Next::Line(self.buffer.get(from..to).unwrap_or_default()));
            }
            self.searched = self.end;
            self.make_room();
            let room = self.buffer.get_mut(self.end..).unwrap_or_default();
            match self.file.read(room) {
                Ok(0) => return Ok(Next::End),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn make_room(&mut self) {
        if self.end - self.start > MAX_LINE_BYTES || self.overlong > 0 {
            self.overlong += (self.end - self.start) as u64;
            self.start = self.end;
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.searched = self.end;
            self.start = 0;
        }
        if self.end == 0 {
            // Gives back the memory of a long line.
            self.buffer.truncate(CHUNK_BYTES);
            self.buffer.shrink_to(CHUNK_BYTES);
        } else if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
    }
}

/// Whether a reader that stopped at `offset`, after record `seq`, can continue there.
pub(crate) fn stands_at(path: &Path, offset: u64, seq: u64) -> io::Result<bool> {
    JournalReader::open(path)?.stands_at(offset, seq)
}

#[cfg(test)]
mod tests {
    use super::{CHUNK_BYTES, JournalLines, MAX_LINE_BYTES, Next};

    fn lengths(bytes: &[u8], offset: u64) -> Vec<(bool, u64)> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let mut lines = JournalLines::open(file.path(), offset).unwrap();
        let mut lengths = Vec::new();
        loop {
            match lines.next().unwrap() {
                Next::Line(line) => lengths.push((true, line.len() as u64)),
                Next::Overlong(bytes) => lengths.push((false, bytes)),
                Next::End => return lengths,
            }
        }
    }

    #[test]
    fn lines_of_any_length_are_given_whole_and_the_last_one_only_with_its_end() {
        let mut bytes = Vec::new();
        let expected = [0, 1, CHUNK_BYTES - 2, CHUNK_BYTES, 3 * CHUNK_BYTES + 7, 5];
        for length in expected {
            bytes.extend(std::iter::repeat_n(b'x', length));
            bytes.push(b'\n');
        }
        bytes.extend(b"half");
        let expected: Vec<_> = expected.iter().map(|length| (true, *length as u64)).collect();
        assert_eq!(lengths(&bytes, 0), expected);
        assert_eq!(lengths(&bytes, 1), expected[1..]);
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_the_next_one_is_read() {
        let mut bytes = vec![b'x'; MAX_LINE_BYTES + 3 * CHUNK_BYTES];
        bytes.extend(b"\nnext\n");
        let overlong = (MAX_LINE_BYTES + 3 * CHUNK_BYTES + 1) as u64;
        assert_eq!(lengths(&bytes, 0), [(false, overlong), (true, 4)]);
    }
}
