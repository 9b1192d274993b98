//! `TerminalOutput`: stdout as a screen. Writes whole frames, and never waits for a terminal that does not read.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{Mode, OFlags};
use tokio::net::unix::pipe;

/// The terminal on stdout, opened again: not waiting is a property of an open file, and stdout is shared with the shell.
#[derive(Debug)]
pub struct TerminalOutput {
    /// A terminal is written and waited for as a pipe is.
    file: pipe::Sender,
    pending: Vec<u8>,
    written: usize,
}

impl TerminalOutput {
    /// Must be called in a runtime of tokio.
    pub fn open() -> io::Result<Self> {
        let file = pipe::Sender::from_file_unchecked(File::from(reopen()?))?;
        Ok(Self {
            file,
            pending: Vec::new(),
            written: 0,
        })
    }

    /// Whether a part of the last frame still has to be written.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.written < self.pending.len()
    }

    /// Writes a frame, or as much of it as the terminal takes now. The rest is written by [`Self::flush`].
    pub fn write(&mut self, frame: &[u8]) -> io::Result<()> {
        self.pending.drain(..std::mem::take(&mut self.written));
        self.pending.extend_from_slice(frame);
        self.write_pending()
    }

    /// Writes pending output as soon as the terminal accepts it. Cancel-safe.
    pub async fn flush(&mut self) -> io::Result<()> {
        while self.is_pending() {
            self.file.writable().await?;
            self.write_pending()?;
        }
        Ok(())
    }

    /// Discards pending output: the screen is drawn again.
    pub fn discard(&mut self) {
        self.pending.clear();
        self.written = 0;
    }

    fn write_pending(&mut self) -> io::Result<()> {
        while self.is_pending() {
            let rest = self.pending.get(self.written..).unwrap_or_default();
            match self.file.try_write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => self.written += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.discard();
        Ok(())
    }
}

fn reopen() -> io::Result<OwnedFd> {
    let stdout = rustix::stdio::stdout();
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    // The name of a terminal may mean nothing in a container; the link of the system always does.
    let own = rustix::fs::open("/proc/self/fd/1", flags, Mode::empty());
    let opened = own.or_else(|_| {
        let name = rustix::termios::ttyname(stdout, Vec::new())?;
        rustix::fs::open(name, flags, Mode::empty())
    });
    match opened {
        Ok(file) => Ok(file),
        // Waits for the terminal, but works.
        Err(_) => stdout.as_fd().try_clone_to_owned(),
    }
}

/// Columns and rows of the terminal on stdout; `None` if it does not know them.
#[must_use]
pub fn terminal_size() -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}
