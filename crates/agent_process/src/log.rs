//! `Log`: a verbatim copy of a stream on disk.

use std::fs::File;
use std::io::{self, Write};

/// Stops at the first failure, which is kept for the exit report. The stream itself continues.
#[derive(Debug, Default)]
pub(crate) struct Log {
    file: Option<File>,
    error: Option<io::Error>,
}

impl Log {
    pub(crate) fn new(file: Option<File>) -> Self {
        Self { file, error: None }
    }

    /// Appends `bytes`. After a failure nothing more is appended, since a log with a gap would be misleading.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        if let Some(file) = &mut self.file
            && let Err(error) = file.write_all(bytes)
        {
            tracing::warn!(%error, "cannot write to a log");
            self.error = Some(error);
            self.file = None;
        }
    }

    /// The failure, if the log is incomplete.
    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::Log;
    use std::fs::OpenOptions;
    use std::io::ErrorKind;

    #[test]
    fn a_full_disk_is_reported_once_and_nothing_is_appended_after_the_hole() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut log = Log::new(Some(full));
        log.write(b"lost");
        log.write(b"not even tried");
        assert_eq!(
            log.take_error().map(|error| error.kind()),
            Some(ErrorKind::StorageFull)
        );
        assert!(log.file.is_none() && log.take_error().is_none());
    }
}
