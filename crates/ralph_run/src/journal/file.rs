//! What a journal's writer does to its file: a seam, so that tests can let every single step fail.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};

pub(super) trait JournalFile: fmt::Debug + Send {
    /// Appends some of the bytes and says how many.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Cuts the file off.
    fn set_length(&mut self, length_bytes: u64) -> io::Result<()>;
    /// Waits until what was written is on the disk.
    fn sync(&mut self) -> io::Result<()>;
    /// The same file, to be synced elsewhere.
    fn share(&self) -> io::Result<File>;
}

impl JournalFile for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Write::write(self, bytes)
    }

    fn set_length(&mut self, length_bytes: u64) -> io::Result<()> {
        self.set_len(length_bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn share(&self) -> io::Result<File> {
        self.try_clone()
    }
}
