//! `Tail`: the whole lines of a journal while it is written.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is read in one go: little at first, as there is mostly little that is new, and more while there is. Nothing of
/// it is kept between reads: there may be hundreds of journals.
const FIRST_BYTES: usize = 8 << 10;
const CHUNK_BYTES: usize = 64 << 10;
/// A longer line is no record of ours and is left out.
const MAX_LINE_BYTES: usize = 64 << 20;

/// Reads whole lines. A piece of a line at the end is not kept but read anew: its writer may take it back.
#[derive(Debug)]
pub(super) struct Tail {
    path: PathBuf,
    file: Arc<File>,
    offset: u64,
    chunk_bytes: usize,
    /// How much of a line that is too long has been left out; none if there is none.
    skipped: Option<u64>,
}

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read<'a> {
    /// A line without its newline, and where it ends.
    Line(&'a [u8], u64),
    /// A line that is too long: how long it was, newline included.
    Skipped(u64),
}

impl Tail {
    pub(super) fn open(path: &Path, offset: u64) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            file: Arc::new(File::open(path)?),
            offset,
            chunk_bytes: FIRST_BYTES,
            skipped: None,
        })
    }

    /// The file, for text that a line leaves out.
    pub(super) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Gives out whole lines that are there. Says whether there may be more at once.
    pub(super) fn read(&mut self, mut take: impl FnMut(Read<'_>)) -> io::Result<bool> {
        let mut buffer = vec![0; self.chunk_bytes];
        let read = self.file.read_at(&mut buffer, self.offset)?;
        let bytes = buffer.get(..read).unwrap_or_default();
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', bytes) {
            let next = newline + 1;
            match self.skipped.take() {
                Some(skipped) => take(Read::Skipped(skipped + next as u64)),
                None => {
                    let line = bytes.get(start..newline).unwrap_or_default();
                    take(Read::Line(line, self.offset + next as u64));
                }
            }
            start = next;
        }
        let is_full = read == self.chunk_bytes;
        if let Some(skipped) = &mut self.skipped {
            *skipped += read as u64;
            start = read;
        } else if is_full && start == 0 {
            // A line that is longer than what was read.
            if self.chunk_bytes < MAX_LINE_BYTES {
                self.chunk_bytes *= 2;
            } else {
                self.skipped = Some(read as u64);
                start = read;
            }
        }
        if start > 0 {
            self.chunk_bytes = match is_full {
                true => (2 * self.chunk_bytes).min(CHUNK_BYTES),
                false => FIRST_BYTES,
            };
        }
        self.offset += start as u64;
        Ok(is_full)
    }

    /// Whether there is another file now, or none: under its name, or it is shorter than what was read. It takes two
    /// looks at the disk, and is asked when nothing new came.
    pub(super) fn was_replaced(&self) -> bool {
        let Ok(ours) = self.file.metadata() else {
            return false;
        };
        match std::fs::metadata(&self.path) {
            // While we have it open, nobody else gets its number.
            Ok(named) => (named.dev(), named.ino()) != (ours.dev(), ours.ino()) || ours.len() < self.offset,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{CHUNK_BYTES, MAX_LINE_BYTES, Read, Tail};

    fn lines(tail: &mut Tail) -> Vec<(usize, u64)> {
        let mut lines = Vec::new();
        let mut take = |read: Read<'_>| match read {
            Read::Line(line, end) => lines.push((line.len(), end)),
            Read::Skipped(bytes) => lines.push((0, bytes)),
        };
        while tail.read(&mut take).unwrap() {}
        lines
    }

    #[test]
    fn a_piece_of_a_line_is_given_out_when_it_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let mut file = std::fs::File::create(&path).unwrap();
        let mut tail = Tail::open(&path, 0).unwrap();
        file.write_all(b"one\ntw").unwrap();
        assert_eq!(lines(&mut tail), [(3, 4)]);
        assert_eq!(lines(&mut tail), []);
        file.write_all(b"o\n").unwrap();
        assert_eq!(lines(&mut tail), [(3, 8)]);
    }

    #[test]
    fn long_lines_come_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let long = CHUNK_BYTES * 5 + 3;
        let text = format!("a\n{}\nb\n", "x".repeat(long));
        std::fs::write(&path, &text).unwrap();
        let mut tail = Tail::open(&path, 0).unwrap();
        let end = text.len() as u64;
        assert_eq!(lines(&mut tail), [(1, 2), (long, end - 2), (1, end)]);
        assert!(!tail.was_replaced());
        std::fs::write(&path, "x").unwrap();
        assert!(tail.was_replaced());
    }

    #[test]
    fn a_file_of_the_same_name_is_another_file_and_none_is_one_too() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        std::fs::write(&path, "one\n").unwrap();
        let mut tail = Tail::open(&path, 0).unwrap();
        assert_eq!(lines(&mut tail), [(3, 4)]);
        let other = directory.path().join("other");
        std::fs::write(&other, "another\nfile\n").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert!(tail.was_replaced());
        let tail = Tail::open(&path, 0).unwrap();
        assert!(!tail.was_replaced());
        std::fs::remove_file(&path).unwrap();
        assert!(tail.was_replaced());
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_the_next_one_comes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let long = MAX_LINE_BYTES + 7;
        std::fs::write(&path, format!("a\n{}\nb\n", "x".repeat(long))).unwrap();
        let mut tail = Tail::open(&path, 0).unwrap();
        let end = long as u64 + 5;
        assert_eq!(lines(&mut tail), [(1, 2), (0, long as u64 + 1), (1, end)]);
    }
}
