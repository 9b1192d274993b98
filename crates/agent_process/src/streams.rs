//! The child's stdin, stdout and stderr, for each transport.

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

pub(crate) enum OutputSource {
    Stream(BoxRead),
    /// `finished` once no process is left that could write to it.
    Spool {
        follower: FileFollower,
        finished: bool,
    },
}

impl OutputSource {
    /// Appends the next bytes to `buffer`. Returns 0 at the end. Cancel-safe.
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

/// Passes stderr to a reader that may be slow, without waiting: chunks that do not fit are replaced by one empty chunk.
pub(crate) struct StderrFeed {
    chunks: mpsc::Sender<Bytes>,
    /// A channel slot reserved for the empty chunk that marks the next gap.
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

/// Creates a log that only its owner can read. Fails if the path exists, also as a link.
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

    /// The largest pipe that an unprivileged process may have, so that the child rarely blocks on a burst.
    #[cfg(target_os = "linux")]
    const PIPE_BYTES: usize = 1024 * 1024;

    /// The child's ends. We drop our copies once the child has them.
    pub(crate) struct ChildEnds {
        pub(crate) stdin: OwnedFd,
        pub(crate) stdout: OwnedFd,
        pub(crate) stderr: OwnedFd,
    }

    /// For the spool, the raw log must exist already.
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
        // If this fails the child only blocks more often.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&ours, PIPE_BYTES);
        Ok((Box::pin(Receiver::from_owned_fd(ours)?), theirs))
    }

    /// Both ends are close-on-exec.
    fn new_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
        let (reader, writer) = std::io::pipe()?;
        Ok((reader.into(), writer.into()))
    }
}

/// Lets the runtime wait until a descriptor is readable.
#[cfg(unix)]
#[expect(
    unsafe_code,
    reason = "tokio cannot check that the descriptor stays open while it is registered"
)]
pub(crate) fn register_readable(
    descriptor: std::os::fd::OwnedFd,
) -> io::Result<tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>> {
    use tokio::io::{Interest, unix::AsyncFd};
    // SAFETY: an `OwnedFd` keeps its descriptor open until it is dropped, and `AsyncFd` deregisters before that.
    Ok(unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }?)
}

/// Which of the two output streams is polled first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ReadFirst {
    #[default]
    Stdout,
    Stderr,
}

/// The result of [`read_next`].
#[derive(Debug)]
pub(crate) enum OutputRead {
    /// That many bytes were appended to the buffer; 0 at the end.
    Stdout(io::Result<usize>),
    /// These bytes; empty at the end.
    Stderr(io::Result<Bytes>),
}

/// Reads from whichever stream has data. The caller alternates `first`, so that a flood on one stream cannot starve the
/// other. Waits forever if both are `None`. Cancel-safe.
pub(crate) async fn read_next(
    stdout: Option<&mut OutputSource>,
    buffer: &mut BytesMut,
    stderr: Option<&mut BoxRead>,
    first: ReadFirst,
) -> OutputRead {
    let stdout = async {
        match stdout {
            Some(source) => source.read(buffer).await,
            None => std::future::pending().await,
        }
    };
    let stderr = read_stderr(stderr);
    match first {
        ReadFirst::Stdout => tokio::select! {
            biased;
            read = stdout => OutputRead::Stdout(read),
            read = stderr => OutputRead::Stderr(read),
        },
        ReadFirst::Stderr => tokio::select! {
            biased;
            read = stderr => OutputRead::Stderr(read),
            read = stdout => OutputRead::Stdout(read),
        },
    }
}

async fn read_stderr(stderr: Option<&mut BoxRead>) -> io::Result<Bytes> {
    let Some(stderr) = stderr else {
        return std::future::pending().await;
    };
    std::future::poll_fn(|context| {
        // On the stack and not zeroed: this is polled with every read of stdout, and most often there is nothing to read.
        let mut space = [std::mem::MaybeUninit::uninit(); 8 * 1024];
        let mut read = tokio::io::ReadBuf::uninit(&mut space);
        std::task::ready!(stderr.as_mut().poll_read(context, &mut read))?;
        std::task::Poll::Ready(Ok(Bytes::copy_from_slice(read.filled())))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::{OutputRead, OutputSource, ReadFirst, StderrFeed, read_next};
    use bytes::{Bytes, BytesMut};
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn of_two_streams_that_are_always_readable_either_can_be_first() {
        let mut stdout = OutputSource::Stream(Box::pin(tokio::io::repeat(b'o')));
        let mut stderr = Box::pin(tokio::io::repeat(b'e')) as super::BoxRead;
        for first in [ReadFirst::Stdout, ReadFirst::Stderr] {
            let mut buffer = BytesMut::with_capacity(16);
            let read = read_next(Some(&mut stdout), &mut buffer, Some(&mut stderr), first).await;
            let was_stdout = matches!(read, OutputRead::Stdout(Ok(1..)));
            assert_eq!(was_stdout, first == ReadFirst::Stdout);
            assert_eq!(buffer.is_empty(), !was_stdout);
        }
    }

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
