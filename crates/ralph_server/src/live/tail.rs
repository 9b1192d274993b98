//! Whole lines of a journal while it is written.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use agent_process::FileFollower;

/// What is read in one go, and what is kept between reads: there may be hundreds of journals.
const CHUNK_BYTES: usize = 64 << 10;
const KEPT_BYTES: usize = 16 << 10;
/// No line of a journal is that long.
const MOST_LINE_BYTES: usize = 64 << 20;

/// Reads whole lines. A piece of a line at the end is not kept but read anew: its writer may take it back.
#[derive(Debug)]
pub(super) struct Tail {
    watch: FileFollower,
    file: File,
    offset: u64,
    buffer: Vec<u8>,
    chunk_bytes: usize,
}

impl Tail {
    pub(super) fn open(path: &Path, offset: u64) -> io::Result<Self> {
        Ok(Self {
            watch: FileFollower::open(path, offset)?,
            file: File::open(path)?,
            offset,
            buffer: Vec::new(),
            chunk_bytes: CHUNK_BYTES,
        })
    }

    /// Gives out whole lines that are there, with where each ends. Says whether there may be more at once.
    pub(super) fn read(&mut self, mut line: impl FnMut(&[u8], u64)) -> io::Result<bool> {
        self.buffer.resize(self.chunk_bytes, 0);
        let read = self.file.read_at(&mut self.buffer, self.offset)?;
        let bytes = self.buffer.get(..read).unwrap_or_default();
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', bytes) {
            let end = self.offset + newline as u64 + 1;
            line(bytes.get(start..newline).unwrap_or_default(), end);
            start = newline + 1;
        }
        self.offset += start as u64;
        let is_full = read == self.chunk_bytes;
        if is_full && start == 0 {
            // A line that is longer than what was read.
            self.chunk_bytes = (self.chunk_bytes * 2).min(MOST_LINE_BYTES);
        } else {
            self.chunk_bytes = CHUNK_BYTES;
        }
        self.buffer.truncate(KEPT_BYTES);
        self.buffer.shrink_to(KEPT_BYTES);
        Ok(is_full)
    }

    /// Whether the file is shorter than what was read: it is another one.
    pub(super) fn was_replaced(&self) -> bool {
        self.file
            .metadata()
            .is_ok_and(|metadata| metadata.len() < self.offset)
    }

    /// Waits until there may be more. Cancelling the wait loses nothing.
    pub(super) async fn changed(&self) {
        self.watch.changed().await;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{CHUNK_BYTES, Tail};

    fn lines(tail: &mut Tail) -> Vec<(usize, u64)> {
        let mut lines = Vec::new();
        while tail.read(|line, end| lines.push((line.len(), end))).unwrap() {}
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
}
