//! `FileFollower`: reads a file while another process appends to it.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use bytes::{BufMut, BytesMut};

use crate::watch::Watch;

/// How often the file is checked without a notification, for filesystems that send none.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Reads a growing file from an offset on and waits at its end for more.
///
/// It never goes backwards: if the file shrinks below the current offset, [`Self::was_truncated`] reports it, and
/// reading continues at that offset once the file is long enough again.
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
    /// If the file cannot be opened.
    pub fn open(path: &Path, offset: u64) -> io::Result<Self> {
        // Watch before the first read, so that no write in between is missed.
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

    /// The current length of the file.
    #[must_use]
    pub fn length_bytes(&self) -> u64 {
        self.file
            .metadata()
            .map_or(self.offset, |metadata| metadata.len())
    }

    /// Whether the file was found shorter than the current offset, now or at an earlier read. A file that has grown
    /// past the offset again in between is not noticed.
    #[must_use]
    pub fn was_truncated(&self) -> bool {
        self.truncated || self.length_bytes() < self.offset
    }

    /// Whether the system notifies us of changes; otherwise the file is checked four times a second.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.watch.is_told()
    }

    /// Appends available bytes to `buffer`, at most its spare capacity. Returns their number, which is 0 at the end of
    /// the file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read_available(&mut self, buffer: &mut BytesMut) -> io::Result<usize> {
        let limit = buffer.capacity() - buffer.len();
        let read = read_at(&self.file, self.offset, buffer, limit)?;
        if read == 0 && self.file.metadata()?.len() < self.offset {
            self.truncated = true;
        }
        self.offset += read as u64;
        Ok(read)
    }

    /// Waits until the file may have grown. Cancel-safe.
    pub async fn changed(&self) {
        let _ = tokio::time::timeout(POLL_INTERVAL, self.watch.changed()).await;
    }
}

fn read_at(file: &File, offset: u64, buffer: &mut BytesMut, limit: usize) -> io::Result<usize> {
    // Zeroing the spare capacity costs less than the copy from the page cache.
    let start = buffer.len();
    buffer.put_bytes(0, limit);
    let spare = buffer.get_mut(start..).unwrap_or_default();
    let read = loop {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(file, spare, offset);
        #[cfg(not(unix))]
        let read = std::os::windows::fs::FileExt::seek_read(file, spare, offset);
        match read {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other,
        }
    };
    buffer.truncate(start + read.as_ref().copied().unwrap_or(0));
    read
}
