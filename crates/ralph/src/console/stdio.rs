//! `Output`: a stream that is written to until it is closed, and the streams of this process.

use std::fs::File;
use std::io::{self, Write};

/// A stream for text. A closed stream is not an error: from then on nothing is written.
pub(super) struct Output {
    writer: Box<dyn Write + Send>,
    is_closed: bool,
}

impl Output {
    pub(super) fn new(writer: impl Write + Send + 'static) -> Self {
        Self {
            writer: Box::new(writer),
            is_closed: false,
        }
    }

    /// Writes all of it, and waits for the reader if it must.
    pub(super) fn write(&mut self, text: &str) {
        if !self.is_closed && !text.is_empty() {
            let written = write_all(&mut self.writer, text.as_bytes());
            self.is_closed = written.and_then(|()| self.writer.flush()).is_err();
        }
    }

    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }
}

/// Writes all of it, also to a stream that is non-blocking: a terminal is shared with other programs, and some of them
/// make it so.
fn write_all(writer: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    const RETRY_INTERVAL: std::time::Duration = std::time::Duration::from_millis(2);
    while !bytes.is_empty() {
        match writer.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(RETRY_INTERVAL),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// This process's stdout.
pub(super) fn stdout() -> impl Write + Send + 'static {
    unbuffered(std::io::stdout())
}

/// This process's stderr.
pub(super) fn stderr() -> impl Write + Send + 'static {
    unbuffered(std::io::stderr())
}

/// Whether stdout and stderr go to the same place, a terminal or a file.
#[cfg(unix)]
pub fn is_stderr_shared() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let place = |file: Option<File>| {
        let metadata = file?.metadata().ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    let stdout = place(duplicate(&std::io::stdout()));
    stdout.is_some() && stdout == place(duplicate(&std::io::stderr()))
}

/// Whether stdout and stderr go to the same place: two terminals are always the same one here.
#[cfg(not(unix))]
pub fn is_stderr_shared() -> bool {
    use std::io::IsTerminal as _;
    std::io::stdout().is_terminal() && std::io::stderr().is_terminal()
}

/// The stream without the buffer of the standard library, which would cut an update after its last newline.
#[cfg(unix)]
fn unbuffered(stream: impl std::os::fd::AsFd) -> Box<dyn Write + Send> {
    match duplicate(&stream) {
        Some(file) => Box::new(file),
        // There is no such stream, so there is nothing to write to.
        None => Box::new(std::io::sink()),
    }
}

#[cfg(unix)]
fn duplicate(stream: &impl std::os::fd::AsFd) -> Option<File> {
    stream.as_fd().try_clone_to_owned().ok().map(File::from)
}

#[cfg(not(unix))]
fn unbuffered(stream: impl Write + Send + 'static) -> impl Write + Send + 'static {
    stream
}
