//! `open`: a pseudo-terminal for the child's stdout only.
//!
//! Opened by hand because existing crates connect all three streams to the terminal, and a terminal on stdin truncates
//! lines at 4,096 bytes and makes some agents ignore their input.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{OptionalActions, Winsize};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, ReadBuf};

use crate::streams::{BoxRead, register_readable};

/// Opens a terminal in raw mode (no echo, line ends unchanged). Returns our end and the child's.
pub(crate) fn open(columns: u16, rows: u16) -> io::Result<(BoxRead, OwnedFd)> {
    let ours = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
    rustix::pty::grantpt(&ours)?;
    rustix::pty::unlockpt(&ours)?;
    let name = rustix::pty::ptsname(&ours, Vec::new())?;
    let theirs = rustix::fs::open(
        &name,
        OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let mut settings = rustix::termios::tcgetattr(&theirs)?;
    settings.make_raw();
    rustix::termios::tcsetattr(&theirs, OptionalActions::Now, &settings)?;
    let size = Winsize {
        ws_col: columns,
        ws_row: rows,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    rustix::termios::tcsetwinsize(&theirs, size)?;
    rustix::io::ioctl_fionbio(&ours, true)?;
    Ok((Box::pin(Master(register_readable(ours)?)), theirs))
}

struct Master(AsyncFd<OwnedFd>);

impl AsyncRead for Master {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.0.poll_read_ready(context))?;
            let room = buffer.initialize_unfilled();
            match guard.try_io(|master| Ok(rustix::io::read(master, &mut *room)?)) {
                Ok(Ok(read)) => {
                    buffer.advance(read);
                    return Poll::Ready(Ok(()));
                }
                // On Linux, EIO is how a terminal reports that the last writer has closed it.
                Ok(Err(error)) if error.raw_os_error() == Some(libc::EIO) => return Poll::Ready(Ok(())),
                Ok(Err(error)) => return Poll::Ready(Err(error)),
                Err(_would_block) => {}
            }
        }
    }
}
