//! The child's three streams, by transport.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::pin::Pin;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::sync::mpsc;

use crate::error::SpawnError;
use crate::follow::FileFollower;

pub(crate) type BoxRead = Pin<Box<dyn AsyncRead + Send>>;
pub(crate) type BoxWrite = Pin<Box<dyn AsyncWrite + Send>>;

/// Our ends of the child's streams.
pub(crate) struct OurEnds {
    pub(crate) stdin: Option<BoxWrite>,
    pub(crate) stdout: OutputSource,
    pub(crate) stderr: BoxRead,
}

/// Where the child's output is read from.
pub(crate) enum OutputSource {
    Stream(BoxRead),
    /// The spool; `finished` once nobody is left to write to it.
    Spool {
        follower: FileFollower,
        finished: bool,
    },
}

impl OutputSource {
    /// Appends the next bytes to `buffer`; 0 at the end. Cancelling the wait loses nothing.
    pub(crate) async fn read(&mut self, buffer: &mut BytesMut) -> io::Result<usize> {
        match self {
            Self::Stream(stream) => stream.read_buf(buffer).await,
            Self::Spool { follower, finished } => loop {
                let read = follower.read_available(buffer)?;
                if read > 0 || *finished {
                    return Ok(read);
                }
                follower.changed().await;
            },
        }
    }
}

/// The child's stderr on its way to a reader that may be behind. It never waits: what finds no room is left out, and
/// an empty chunk stands in its place.
pub(crate) struct StderrFeed {
    chunks: mpsc::Sender<Bytes>,
    /// Room for the mark of the next gap, so that no gap goes unmarked.
    mark: Option<mpsc::OwnedPermit<Bytes>>,
}

impl StderrFeed {
    pub(crate) fn new(chunks: mpsc::Sender<Bytes>) -> Self {
        Self { chunks, mark: None }
    }

    pub(crate) fn pass(&mut self, chunk: Bytes) {
        if self.mark.is_none() {
            self.mark = self.chunks.clone().try_reserve_owned().ok();
        }
        let is_passed = self.mark.is_some() && self.chunks.try_send(chunk).is_ok();
        if !is_passed && let Some(mark) = self.mark.take() {
            mark.send(Bytes::new());
        }
    }
}

/// Creates a log that only its owner can read. Never follows or overwrites what is there.
pub(crate) fn create_log(path: &Path) -> Result<File, SpawnError> {
    let mut options = OpenOptions::new();
    options.append(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(libc::O_NOFOLLOW);
    }
    options
        .open(path)
        .map_err(|source| match SpawnError::at("creating the log", source) {
            SpawnError::Io { source, .. } => SpawnError::Log {
                path: path.into(),
                source,
            },
            other => other,
        })
}

#[cfg(unix)]
pub(crate) use unix::{ChildEnds, open_streams};

#[cfg(unix)]
mod unix {
    use std::fs::OpenOptions;
    use std::io;
    use std::os::fd::OwnedFd;

    use tokio::net::unix::pipe::{Receiver, Sender};

    use super::{BoxRead, BoxWrite, OurEnds, OutputSource};
    use crate::error::SpawnError;
    use crate::follow::FileFollower;
    use crate::pty;
    use crate::spec::{SpawnSpec, StdinMode, StdoutMode};

    /// The largest pipe an unprivileged process may ask for: a burst fits without the child having to wait.
    #[cfg(target_os = "linux")]
    const PIPE_BYTES: usize = 1024 * 1024;

    /// The child's ends; dropped on our side once the child has them.
    pub(crate) struct ChildEnds {
        pub(crate) stdin: OwnedFd,
        pub(crate) stdout: OwnedFd,
        pub(crate) stderr: OwnedFd,
    }

    /// Opens all three. The raw log must exist already when the transport is the spool.
    pub(crate) fn open_streams(spec: &SpawnSpec) -> Result<(OurEnds, ChildEnds), SpawnError> {
        let (our_stdin, stdin) =
            open_stdin(&spec.stdin).map_err(|error| SpawnError::at("opening stdin", error))?;
        let (our_stdout, stdout) = open_stdout(spec)?;
        let (our_stderr, stderr) = open_pipe().map_err(|error| SpawnError::at("opening stderr", error))?;
        let ours = OurEnds {
            stdin: our_stdin,
            stdout: our_stdout,
            stderr: our_stderr,
        };
        Ok((
            ours,
            ChildEnds {
                stdin,
                stdout,
                stderr,
            },
        ))
    }

    fn open_stdin(mode: &StdinMode) -> io::Result<(Option<BoxWrite>, OwnedFd)> {
        match mode {
            StdinMode::Null => Ok((None, std::fs::File::open("/dev/null")?.into())),
            StdinMode::Bytes(_) | StdinMode::Piped => {
                let (theirs, ours) = new_pipe()?;
                Ok((Some(Box::pin(Sender::from_owned_fd(ours)?)), theirs))
            }
        }
    }

    fn open_stdout(spec: &SpawnSpec) -> Result<(OutputSource, OwnedFd), SpawnError> {
        let failed = |error| SpawnError::at("opening stdout", error);
        match spec.stdout {
            StdoutMode::Pipe => {
                let (ours, theirs) = open_pipe().map_err(failed)?;
                Ok((OutputSource::Stream(ours), theirs))
            }
            StdoutMode::Pty { columns, rows } => {
                let (ours, theirs) = pty::open(columns, rows).map_err(failed)?;
                Ok((OutputSource::Stream(ours), theirs))
            }
            StdoutMode::Spool => {
                let path = spec.raw_log.as_deref().ok_or(SpawnError::SpoolWithoutLog)?;
                let theirs = OpenOptions::new().append(true).open(path).map_err(failed)?;
                let follower = FileFollower::open(path, 0).map_err(failed)?;
                Ok((
                    OutputSource::Spool {
                        follower,
                        finished: false,
                    },
                    theirs.into(),
                ))
            }
        }
    }

    fn open_pipe() -> io::Result<(BoxRead, OwnedFd)> {
        let (ours, theirs) = new_pipe()?;
        // More room is a favour of the system: without it the child only waits more often.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&ours, PIPE_BYTES);
        Ok((Box::pin(Receiver::from_owned_fd(ours)?), theirs))
    }

    /// Both ends are closed on exec.
    fn new_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
        let (reader, writer) = std::io::pipe()?;
        Ok((reader.into(), writer.into()))
    }
}

/// Waits for ever if there is none.
pub(crate) async fn read_stdout(
    stdout: &mut Option<OutputSource>,
    buffer: &mut BytesMut,
) -> io::Result<usize> {
    match stdout {
        Some(source) => source.read(buffer).await,
        None => std::future::pending().await,
    }
}

/// Waits for ever if there is none.
pub(crate) async fn read_stderr(stderr: &mut Option<BoxRead>) -> io::Result<Bytes> {
    let Some(stderr) = stderr else {
        return std::future::pending().await;
    };
    // Allocated when there is something to read: an idle child's stderr costs nothing.
    let mut buffer = BytesMut::new();
    std::future::poll_fn(|context| {
        // Not zeroed: this is polled with every line of stdout.
        let mut probe = [std::mem::MaybeUninit::uninit(); 8 * 1024];
        let mut read = tokio::io::ReadBuf::uninit(&mut probe);
        std::task::ready!(stderr.as_mut().poll_read(context, &mut read))?;
        buffer.extend_from_slice(read.filled());
        std::task::Poll::Ready(Ok(buffer.split().freeze()))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::StderrFeed;
    use bytes::Bytes;
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn what_a_slow_reader_misses_is_marked_where_it_was() {
        let (sender, mut received) = mpsc::channel(4);
        let mut feed = StderrFeed::new(sender);
        for text in ["1", "2", "3", "lost", "lost"] {
            feed.pass(Bytes::from_static(text.as_bytes()));
        }
        let mut read = Vec::new();
        for _ in 0..2 {
            read.push(received.recv().await.unwrap());
        }
        // One place for what comes next, one for the mark of the next gap.
        for text in ["6", "lost"] {
            feed.pass(Bytes::from_static(text.as_bytes()));
        }
        drop(feed);
        while let Some(chunk) = received.recv().await {
            read.push(chunk);
        }
        assert_eq!(read, ["1", "2", "3", "", "6", ""]);
    }
}
