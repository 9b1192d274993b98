//! `Process`: a running child, as its caller holds it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use tokio::sync::{mpsc, oneshot};

use crate::exit::{Exit, ExitReport};
use crate::streams::BoxWrite;

/// A running child. Its fields can be moved out; each documents what dropping it does.
#[derive(Debug)]
pub struct Process {
    /// The child's stdout. Dropping it before its end stops the child and its descendants.
    pub output: Output,
    /// The child's stderr, with [`StderrMode::Stream`](crate::StderrMode::Stream). Dropping it has no effect.
    pub stderr: Option<StderrOutput>,
    /// The child's stdin, with [`StdinMode::Piped`](crate::StdinMode::Piped). Dropping it closes the pipe.
    pub stdin: Option<StdinWriter>,
    /// Interrupts and stops the child. Dropping it has no effect.
    pub control: Control,
    /// Resolves to the outcome. Dropping it has no effect.
    pub exit: ExitWaiter,
}

/// The child's stdout as it arrives.
#[derive(Debug)]
pub struct Output {
    pub(crate) chunks: mpsc::Receiver<io::Result<Bytes>>,
}

impl Output {
    /// The next bytes, cut anywhere, or `None` at the end. A descendant that holds the output open delays the end until
    /// it is killed. A read error is delivered once and is the last item. A small chunk may keep a larger buffer alive:
    /// copy what you keep for long. Cancel-safe.
    pub async fn next_chunk(&mut self) -> Option<io::Result<Bytes>> {
        self.chunks.recv().await
    }
}

/// The child's stderr as it arrives. It never blocks the child: chunks that are not read in time are skipped here, but
/// are still in the log and in the tail of the exit report.
#[derive(Debug)]
pub struct StderrOutput {
    pub(crate) chunks: mpsc::Receiver<Bytes>,
}

impl StderrOutput {
    /// The next bytes, cut anywhere, or `None` at the end. An empty chunk marks a gap. Cancel-safe.
    pub async fn next_chunk(&mut self) -> Option<Bytes> {
        self.chunks.recv().await
    }
}

/// The child's stdin. Dropping it closes the pipe.
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

#[derive(Debug)]
pub(crate) enum Command {
    Interrupt,
    Stop,
    Kill,
    /// Stops the child and its descendants by SIGSTOP. The sender is dropped when that is done.
    Freeze(mpsc::UnboundedSender<()>),
    /// Continues what was frozen.
    Thaw,
}

/// Interrupts and stops a child. All calls return at once and do nothing after the child is gone; the result is in the
/// [`ExitReport`].
#[derive(Debug, Clone)]
pub struct Control {
    pub(crate) commands: mpsc::UnboundedSender<Command>,
    pub(crate) pid: u32,
}

impl Control {
    /// The child's process id, for display. The system may reuse it after the child's exit.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends SIGINT to the child's process group, once. Has no effect on Windows.
    pub fn interrupt(&self) {
        self.send(Command::Interrupt);
    }

    /// Stops the child: SIGINT, then SIGTERM, then kills it and all its descendants, with the grace periods of
    /// [`Limits`](crate::Limits). On Windows it kills at once. A second call kills at once. After the child's own exit
    /// it ends the wait for output that descendants hold open.
    pub fn stop(&self) {
        self.send(Command::Stop);
    }

    /// Kills the child and all its descendants at once.
    pub fn kill(&self) {
        self.send(Command::Kill);
    }

    fn send(&self, command: Command) {
        let _ = self.commands.send(command);
    }
}

/// Resolves once, when the child and its descendants are gone. Dropping it has no effect.
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
        // The sender is dropped without a report when the runtime shuts down, which ends the child as well.
        let report = std::task::ready!(Pin::new(report).poll(context));
        self.report = None;
        Poll::Ready(report.unwrap_or_else(|_| ExitReport::new(Exit::Lost)))
    }
}
