//! Room on the disk ahead of a child that writes its log itself.

use std::fs::File;

/// How far ahead space is reserved. A child that finds the disk full loses its output where we could not tell.
const AHEAD_BYTES: u64 = 8 * 1024 * 1024;

/// Space reserved beyond the end of a spool.
#[derive(Debug)]
pub(crate) struct Reservation {
    log: File,
    reserved_bytes: u64,
}

impl Reservation {
    pub(crate) fn new(log: File) -> Self {
        let mut reservation = Self {
            log,
            reserved_bytes: 0,
        };
        reservation.keep_ahead_of(0);
        reservation
    }

    /// Reserves more once half of what was reserved is used. Filesystems that cannot do it just do not.
    pub(crate) fn keep_ahead_of(&mut self, written_bytes: u64) {
        if written_bytes + AHEAD_BYTES / 2 < self.reserved_bytes {
            return;
        }
        #[cfg(target_os = "linux")]
        {
            let flags = rustix::fs::FallocateFlags::KEEP_SIZE;
            let _ = rustix::fs::fallocate(&self.log, flags, written_bytes, 2 * AHEAD_BYTES);
        }
        self.reserved_bytes = written_bytes + 2 * AHEAD_BYTES;
    }

    /// Gives back what was not used. Nobody writes any more.
    pub(crate) fn release(self) {
        if let Ok(metadata) = self.log.metadata() {
            let _ = self.log.set_len(metadata.len());
        }
    }
}
