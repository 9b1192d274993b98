//! A running child, as its caller holds it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use tokio::sync::{mpsc, oneshot};

use crate::exit::{Exit, ExitReport};
use crate::lines::{Framed, LineFramer};
use crate::streams::BoxWrite;

/// A running child. Its parts can be moved apart; each says what dropping it means.
#[derive(Debug)]
pub struct Process {
    /// What the child writes to stdout. Dropping it before its end stops the child and its descendants.
    pub output: Output,
    /// What the child writes to stderr, when it was asked for as [`StderrMode::Stream`](crate::StderrMode::Stream).
    /// Dropping it changes nothing.
    pub stderr: Option<StderrOutput>,
    /// The child's stdin, when it was asked for as [`StdinMode::Piped`](crate::StdinMode::Piped). Dropping it is end of file.
    pub stdin: Option<StdinWriter>,
    /// Signals and stopping. Dropping it changes nothing.
    pub control: Control,
    /// The outcome. Dropping it changes nothing.
    pub exit: ExitWaiter,
}

/// The child's output as it arrives.
#[derive(Debug)]
pub struct Output {
    pub(crate) chunks: mpsc::Receiver<io::Result<Bytes>>,
    pub(crate) max_line_bytes: usize,
}

impl Output {
    /// The next bytes, cut anywhere; `None` at the end, which a descendant that holds the output open can put off
    /// until it was killed. Small pieces may keep a larger buffer in memory: copy what is kept for long. A read error is delivered once and is then the end.
    /// Cancelling the wait loses nothing.
    pub async fn next_chunk(&mut self) -> Option<io::Result<Bytes>> {
        self.chunks.recv().await
    }

    /// [`Self::next_chunk`] for hand-written futures.
    pub fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        self.chunks.poll_recv(context)
    }

    /// The output cut into lines, with the limit of [`Limits::max_line_bytes`](crate::Limits::max_line_bytes).
    #[must_use]
    pub fn into_lines(self) -> Lines {
        Lines {
            framer: LineFramer::new(self.max_line_bytes),
            output: self,
            ended: false,
        }
    }
}

/// The child's stderr as it arrives. It never holds the child up: what is not read in time is left out here, and is
/// still in the log and in the tail of the exit report.
#[derive(Debug)]
pub struct StderrOutput {
    pub(crate) chunks: mpsc::Receiver<Bytes>,
}

impl StderrOutput {
    /// The next bytes, cut anywhere; empty where something was left out, `None` at the end. Cancelling the wait loses
    /// nothing.
    pub async fn next_chunk(&mut self) -> Option<Bytes> {
        self.chunks.recv().await
    }
}

/// The child's output, line by line.
#[derive(Debug)]
pub struct Lines {
    output: Output,
    framer: LineFramer,
    ended: bool,
}

impl Lines {
    /// The next line; `None` at the end. Cancelling the wait loses nothing.
    pub async fn next_line(&mut self) -> Option<io::Result<Framed>> {
        std::future::poll_fn(|context| self.poll_line(context)).await
    }

    /// [`Self::next_line`] for hand-written futures.
    pub fn poll_line(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Framed>>> {
        loop {
            if let Some(framed) = self.framer.next_line() {
                return Poll::Ready(Some(Ok(framed)));
            }
            if self.ended {
                return Poll::Ready(self.framer.finish().map(Ok));
            }
            match std::task::ready!(self.output.poll_chunk(context)) {
                Some(Ok(chunk)) => self.framer.push(chunk),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => self.ended = true,
            }
        }
    }
}

/// The child's stdin. Dropping it is end of file.
pub struct StdinWriter(pub(crate) BoxWrite);

impl std::fmt::Debug for StdinWriter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("StdinWriter")
    }
}

impl AsyncWrite for StdinWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.as_mut().poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_shutdown(context)
    }
}

/// What the holder of a [`Control`] may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Interrupt,
    Stop,
    Kill,
}

/// Signals and stopping. All calls return at once; what comes of them is told by the [`ExitWaiter`].
#[derive(Debug, Clone)]
pub struct Control {
    pub(crate) commands: mpsc::UnboundedSender<Command>,
    pub(crate) pid: u32,
}

impl Control {
    /// The child's process id. It may have ended, and the number may mean another process by now: for display.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends SIGINT to the child's process group and leaves the rest to the child.
    pub fn interrupt(&self) {
        self.send(Command::Interrupt);
    }

    /// Stops the child: interrupt, terminate, then kill everything it started, with the graces of
    /// [`Limits`](crate::Limits). A second call kills at once. After the child's own exit it ends the wait for
    /// output that descendants hold open.
    pub fn stop(&self) {
        self.send(Command::Stop);
    }

    /// Kills the child and everything it started, at once.
    pub fn kill(&self) {
        self.send(Command::Kill);
    }

    /// A child that is gone needs no command.
    fn send(&self, command: Command) {
        let _ = self.commands.send(command);
    }
}

/// Resolves once, when the child and its descendants are gone. Dropping it changes nothing.
#[derive(Debug)]
pub struct ExitWaiter {
    pub(crate) report: Option<oneshot::Receiver<ExitReport>>,
}

impl Future for ExitWaiter {
    type Output = ExitReport;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<ExitReport> {
        let Some(report) = &mut self.report else {
            return Poll::Pending;
        };
        let report = std::task::ready!(Pin::new(report).poll(context));
        self.report = None;
        Poll::Ready(report.unwrap_or_else(|_| unseen()))
    }
}

/// Without a report the runtime was shut down, and the child with it.
fn unseen() -> ExitReport {
    ExitReport {
        exit: Exit::Lost,
        status: None,
        stopped_by: None,
        survivors_killed: 0,
        survivors_remaining: 0,
        stderr_tail: Bytes::new(),
        stderr_bytes: 0,
        stdout_bytes: 0,
        raw_log_error: None,
        stderr_log_error: None,
        log_truncated: false,
        stdin_cut: false,
    }
}
