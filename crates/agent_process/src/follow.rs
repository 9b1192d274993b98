//! Reading a file while somebody else writes it.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use bytes::{BufMut, BytesMut};

use crate::watch::Watch;

/// A look at the file without being told, for filesystems that tell nothing.
const SAFETY_POLL: Duration = Duration::from_millis(250);

/// Reads a growing file from an offset on and waits at its end for more.
///
/// It never goes backwards: a file that shrinks below what was read is reported by [`Self::was_truncated`], and
/// reading goes on where it was once the file is that long again.
#[derive(Debug)]
pub struct FileFollower {
    file: File,
    watch: Watch,
    offset: u64,
    truncated: bool,
}

impl FileFollower {
    /// Opens `path` to be read from `offset` on.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(path: &Path, offset: u64) -> io::Result<Self> {
        // Watched before the first read, so that nothing written in between goes unnoticed.
        let watch = Watch::new(path);
        Ok(Self {
            file: File::open(path)?,
            watch,
            offset,
            truncated: false,
        })
    }

    /// How far the file has been read.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// How long the file is now.
    #[must_use]
    pub fn length_bytes(&self) -> u64 {
        self.file
            .metadata()
            .map_or(self.offset, |metadata| metadata.len())
    }

    /// Whether the file was once found shorter than what had been read. One that has grown past that again before it
    /// was looked at goes unnoticed.
    #[must_use]
    pub fn was_truncated(&self) -> bool {
        self.truncated
    }

    /// Whether the system tells when the file changes; otherwise it is looked at four times a second.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.watch.is_told()
    }

    /// Appends what is there now to `buffer`, at most its spare room, and says how much that was; 0 at the end, or
    /// without spare room.
    ///
    /// # Errors
    /// What the system said.
    pub fn read_available(&mut self, buffer: &mut BytesMut) -> io::Result<usize> {
        let limit = buffer.capacity() - buffer.len();
        let read = read_at(&self.file, self.offset, buffer, limit)?;
        if read == 0 && self.file.metadata()?.len() < self.offset {
            self.truncated = true;
        }
        self.offset += read as u64;
        Ok(read)
    }

    /// Waits until the file may have grown. Cancelling the wait loses nothing.
    pub async fn changed(&self) {
        // Running into the limit is the safety poll.
        let _ = tokio::time::timeout(SAFETY_POLL, self.watch.changed()).await;
    }
}

fn read_at(file: &File, offset: u64, buffer: &mut BytesMut, limit: usize) -> io::Result<usize> {
    let mut spare = buffer.limit(limit);
    #[cfg(unix)]
    {
        // The spare room is initialised in one go; at these sizes that costs less than the copy from the page cache.
        let start = spare.get_ref().len();
        spare.put_bytes(0, limit);
        let buffer = spare.into_inner();
        let read = loop {
            use std::os::unix::fs::FileExt;
            match file.read_at(buffer.get_mut(start..).unwrap_or_default(), offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        buffer.truncate(start + read.as_ref().copied().unwrap_or(0));
        read
    }
    #[cfg(not(unix))]
    {
        let start = spare.get_ref().len();
        spare.put_bytes(0, limit);
        let buffer = spare.into_inner();
        let read = std::os::windows::fs::FileExt::seek_read(
            file,
            buffer.get_mut(start..).unwrap_or_default(),
            offset,
        );
        buffer.truncate(start + read.as_ref().copied().unwrap_or(0));
        read
    }
}
