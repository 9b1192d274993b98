//! `JournalLines`: reads a journal line by line, holding only a part of the file in memory.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use ralph_run::RecordHead;

/// How much is read first when looking for the start of a line.
const LOOK_BACK_BYTES: u64 = 16 << 10;
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

/// The first line of a journal without its newline; empty if there is no complete line.
pub(crate) fn first_line(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?.take(MAX_LINE_BYTES as u64);
    let mut line = Vec::new();
    BufReader::new(file).read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        line.clear();
    }
    Ok(line)
}

/// Whether a reader that stopped at `offset`, after record `seq`, can continue there: a line must end at `offset`, and it
/// must be that record. If the line is not a record, or very long, only its end is checked.
pub(crate) fn stands_at(path: &Path, offset: u64, seq: u64) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if offset == 0 {
        return Ok(true);
    }
    if file.metadata()?.len() < offset {
        return Ok(false);
    }
    let mut window = LOOK_BACK_BYTES;
    loop {
        let length = offset.min(window);
        file.seek(SeekFrom::Start(offset - length))?;
        let mut bytes = Vec::new();
        file.by_ref().take(length).read_to_end(&mut bytes)?;
        if bytes.pop() != Some(b'\n') {
            return Ok(false);
        }
        let start = memchr::memrchr(b'\n', &bytes).map(|end| end + 1);
        let start = start.or((length == offset).then_some(0));
        if let Some(line) = start.and_then(|start| bytes.get(start..)) {
            return Ok(RecordHead::parse(line).is_none_or(|head| head.seq == seq));
        }
        if window >= CHUNK_BYTES as u64 {
            return Ok(true);
        }
        window *= 4;
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK_BYTES, JournalLines, MAX_LINE_BYTES, Next, first_line, stands_at};

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

    #[test]
    fn a_reader_can_go_on_only_where_its_last_record_ends() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let line = |seq: u64, length: usize| {
            let text = "x".repeat(length);
            format!(
                r#"{{"seq":{seq},"at":"","iteration":0,"attempt":0,"event":{{"type":"t","data":"{text}"}}}}"#
            ) + "\n"
        };
        let (one, two) = (line(1, 5), line(2, 100_000));
        let text = format!("{one}{two}no record\n{}", line(3, 2 * CHUNK_BYTES));
        std::fs::write(file.path(), &text).unwrap();
        let stands = |offset: usize, seq| stands_at(file.path(), offset as u64, seq).unwrap();
        let (first, second) = (one.len(), one.len() + two.len());
        assert!(stands(0, 0) && stands(first, 1) && stands(second, 2));
        assert!(!stands(first, 2) && !stands(second, 1) && !stands(second - 1, 2) && !stands(first + 1, 1));
        assert!(stands(second + 10, 2), "what is no record has no number");
        assert!(stands(text.len(), 3) && !stands(text.len() + 1, 3));
    }

    #[test]
    fn the_first_line_is_there_once_it_is_whole() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "half").unwrap();
        assert_eq!(first_line(file.path()).unwrap(), b"");
        std::fs::write(file.path(), "one\ntwo\n").unwrap();
        assert_eq!(first_line(file.path()).unwrap(), b"one");
    }
}
