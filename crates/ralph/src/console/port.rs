//! Where the console writes to.

use std::io::Write;

use super::stdio::write_all;

/// Takes text for a stream, and notices when nobody reads it any more.
pub trait Port {
    /// Writes the text, or keeps it to be written. Never fails: a stream that is closed takes nothing.
    fn send(&mut self, text: &str);

    /// Whether nobody reads the stream any more.
    fn is_closed(&self) -> bool;
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
            let written = write_all(&mut self.writer, text.as_bytes());
            self.is_closed = written.and_then(|()| self.writer.flush()).is_err();
        }
    }

    fn is_closed(&self) -> bool {
        self.is_closed
    }
}
