//! Where the console writes to.

use std::io::{self, Write};

/// Takes text for a stream, and notices when nobody reads it any more.
pub trait Port {
    /// Writes the text, or keeps it to be written. Never fails: a stream that is closed takes nothing.
    fn send(&mut self, text: &str);

    /// Whether nobody reads the stream any more.
    fn is_closed(&self) -> bool;

    /// Whether the reader is behind: what can be left out should be.
    fn is_behind(&self) -> bool {
        false
    }

    /// Writes what is left, within a deadline.
    fn finish(&mut self) {}
}

/// Writes at once, in one piece.
#[derive(Debug)]
pub struct Direct<W> {
    writer: W,
    is_closed: bool,
}

impl<W: Write> Direct<W> {
    /// Writes to `writer`.
    #[must_use]
    pub fn new(writer: W) -> Self {
        Self {
            writer,
            is_closed: false,
        }
    }
}

impl<W: Write> Port for Direct<W> {
    fn send(&mut self, text: &str) {
        if !self.is_closed && !text.is_empty() {
            let written = write_patiently(&mut self.writer, text.as_bytes());
            self.is_closed = written.and_then(|()| self.writer.flush()).is_err();
        }
    }

    fn is_closed(&self) -> bool {
        self.is_closed
    }
}

/// Writes all of it, also to a stream that somebody made non-blocking: a terminal is shared with whoever was started
/// in it, and some programs do that.
pub(super) fn write_patiently(writer: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(2);
    while !bytes.is_empty() {
        match writer.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
