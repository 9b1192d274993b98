//! What a journal's writer does to its file: a seam, so that tests can let every single step fail.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};

pub(crate) trait JournalFile: fmt::Debug + Send {
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

/// A file on a disk that fails to sync, as far as those who are given it elsewhere can tell.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct Unsynced(pub(crate) File);

#[cfg(test)]
impl JournalFile for Unsynced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        JournalFile::write(&mut self.0, bytes)
    }

    fn set_length(&mut self, length_bytes: u64) -> io::Result<()> {
        // Where the file does not append by itself, what comes next must not leave a gap.
        io::Seek::seek(&mut self.0, io::SeekFrom::Start(length_bytes))?;
        self.0.set_length(length_bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn share(&self) -> io::Result<File> {
        // No system syncs a pipe.
        let (_, writer) = io::pipe()?;
        Ok(std::os::fd::OwnedFd::from(writer).into())
    }
}
