//! The one loop that owns a running child: it reads, logs, feeds, watches deadlines and ends everything.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::child::{Child, ChildEvent};
use crate::exit::{Exit, ExitReport, StopStep, WaitStatus};
use crate::log::Log;
use crate::process::Command;
use crate::spec::Limits;
use crate::spool::Reservation;
use crate::streams::{BoxRead, BoxWrite, OutputSource, StderrFeed, read_stderr, read_stdout};
use crate::tail::Tail;

/// Reads start small, so that an idle child costs little, and grow with the flow.
const MIN_READ_BYTES: usize = 4 * 1024;
const MAX_READ_BYTES: usize = 128 * 1024;

/// After everything is gone only bytes already in the pipe can come; a stranger that holds it open is not awaited.
const LAST_READ: Duration = Duration::from_millis(500);

/// How long a spool must be quiet after the exit while descendants live. A file has no end of file to wait for.
const SPOOL_QUIET: Duration = Duration::from_millis(200);

/// How long the guard may take to kill everything before we stop waiting for its word.
const KILL_LIMIT: Duration = Duration::from_secs(8);

const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;
const SIGCONT: i32 = 18;

/// Bytes for the child's stdin that are still to be written.
pub(crate) struct StdinFeed {
    pub(crate) writer: BoxWrite,
    pub(crate) bytes: Bytes,
}

pub(crate) struct Pump {
    child: Child,
    limits: Limits,
    marker: Option<String>,
    stdout: Option<OutputSource>,
    stderr: Option<BoxRead>,
    stdin: Option<StdinFeed>,
    raw_log: Log,
    stderr_log: Log,
    stderr_feed: Option<StderrFeed>,
    reservation: Option<Reservation>,
    chunks: mpsc::Sender<io::Result<Bytes>>,
    /// Read and logged, but the consumer has no room yet. Nothing more is read meanwhile, but for what a pipe still
    /// holds once everybody who could write to it is gone.
    pending: VecDeque<io::Result<Bytes>>,
    /// The consumer is gone: output goes to the log only.
    deaf: bool,
    commands: mpsc::UnboundedReceiver<Command>,
    buffer: BytesMut,
    read_bytes: usize,
    tail: Tail,
    exit: Option<oneshot::Sender<ExitReport>>,
    deadlines: Deadlines,
    state: State,
}

/// Every moment at which something must be done if nothing else happens first.
#[derive(Default)]
struct Deadlines {
    timeout: Option<Instant>,
    next_step: Option<Instant>,
    end_of_output: Option<Instant>,
    drained: Option<Instant>,
    /// The latest that `drained` may be moved to. Nothing happens then by itself.
    drain_end: Option<Instant>,
    gone: Option<Instant>,
    last_read: Option<Instant>,
}

impl Deadlines {
    fn next(&self) -> Option<Instant> {
        [
            self.timeout,
            self.next_step,
            self.end_of_output,
            self.drained,
            self.gone,
            self.last_read,
        ]
        .into_iter()
        .flatten()
        .min()
    }
}

/// Takes a deadline that has passed.
fn passed(deadline: &mut Option<Instant>, now: Instant) -> bool {
    deadline.take_if(|at| *at <= now).is_some()
}

#[derive(Default)]
struct State {
    /// Why we stopped it, if we did before it ended by itself.
    cause: Option<Exit>,
    step: Option<StopStep>,
    status: Option<WaitStatus>,
    lost: bool,
    /// The child's family has been ordered to be killed, or is known to be gone.
    killing: bool,
    gone: bool,
    survivors_killed: u32,
    survivors_remaining: u32,
    /// The caller has asked to stop at least once.
    stop_asked: bool,
    stdout_bytes: u64,
    log_truncated: bool,
    stdin_cut: bool,
}

impl Pump {
    #[expect(
        clippy::too_many_arguments,
        reason = "called once; a struct of these would be this struct"
    )]
    pub(crate) fn new(
        child: Child,
        stdout: OutputSource,
        stderr: BoxRead,
        stdin: Option<StdinFeed>,
        limits: Limits,
        chunks: mpsc::Sender<io::Result<Bytes>>,
        commands: mpsc::UnboundedReceiver<Command>,
        exit: oneshot::Sender<ExitReport>,
    ) -> Self {
        let timeout = limits.timeout.and_then(after);
        Self {
            child,
            marker: None,
            stdout: Some(stdout),
            stderr: Some(stderr),
            stdin,
            raw_log: Log::default(),
            stderr_log: Log::default(),
            stderr_feed: None,
            reservation: None,
            chunks,
            pending: VecDeque::new(),
            deaf: false,
            commands,
            buffer: BytesMut::new(),
            read_bytes: MIN_READ_BYTES,
            tail: Tail::new(limits.stderr_tail_bytes),
            exit: Some(exit),
            deadlines: Deadlines {
                timeout,
                ..Deadlines::default()
            },
            state: State::default(),
            limits,
        }
    }

    pub(crate) fn with_logs(mut self, raw_log: Option<File>, stderr_log: Option<File>) -> Self {
        match self.stdout {
            // The child writes the spool itself; we only see to it that there is room.
            // Without a guard it is never certain that nobody writes any more, so the room could not be given back.
            Some(OutputSource::Spool { .. }) if !self.child.is_guarded() => {}
            Some(OutputSource::Spool { .. }) => self.reservation = raw_log.map(Reservation::new),
            Some(OutputSource::Stream(_)) | None => self.raw_log = Log::new(raw_log),
        }
        self.stderr_log = Log::new(stderr_log);
        self
    }

    pub(crate) fn with_marker(mut self, marker: Option<String>) -> Self {
        self.marker = marker;
        self
    }

    pub(crate) fn with_stderr_stream(mut self, chunks: Option<mpsc::Sender<Bytes>>) -> Self {
        self.stderr_feed = chunks.map(StderrFeed::new);
        self
    }

    pub(crate) async fn run(mut self) {
        while !self.is_finished() {
            let deadline = self.deadlines.next();
            let reads_stdout = self.reads_stdout();
            self.buffer
                .reserve(if reads_stdout { self.read_bytes } else { 0 });
            tokio::select! {
                biased;
                Some(command) = self.commands.recv() => self.obey(command),
                event = self.child.next_event(), if !self.state.gone => self.on_child(event),
                () = wait_until(deadline), if deadline.is_some() => self.on_deadline(),
                () = self.chunks.closed(), if !self.deaf => self.on_deaf(),
                () = room(&self.chunks), if !self.pending.is_empty() => {
                    if let Some(chunk) = self.pending.pop_front() {
                        self.deliver_now(chunk);
                    }
                }
                written = feed(&mut self.stdin), if self.stdin.is_some() => self.on_stdin(written),
                read = read_stderr(&mut self.stderr), if self.stderr.is_some() => self.on_stderr(read),
                read = read_stdout(&mut self.stdout, &mut self.buffer), if reads_stdout => self.on_stdout(read),
            }
            self.report_when_known();
        }
        let _ = tokio::time::timeout(KILL_LIMIT, self.child.close()).await;
    }

    /// Whether there is somewhere to put what could be read.
    fn reads_stdout(&self) -> bool {
        match &self.stdout {
            // A pipe that nobody can write to any more is emptied, so that log and report are complete.
            Some(OutputSource::Stream(_)) => self.pending.is_empty() || self.state.gone,
            // The spool is its own log: without a consumer there is nothing to do.
            Some(OutputSource::Spool { .. }) => self.pending.is_empty() && !self.deaf,
            None => false,
        }
    }

    fn is_finished(&self) -> bool {
        self.state.gone && self.stdout.is_none() && self.stderr.is_none() && self.pending.is_empty()
    }

    fn obey(&mut self, command: Command) {
        let is_first_stop = command == Command::Stop && !std::mem::replace(&mut self.state.stop_asked, true);
        match command {
            // What has ended must not be signalled: its number may be somebody else's by now.
            Command::Interrupt if self.state.status.is_some() => {}
            Command::Interrupt => self.child.signal(SIGINT),
            // Only descendants are left; they had their chance while the output was drained.
            Command::Stop | Command::Kill if self.state.status.is_some() => self.end_family(),
            Command::Stop if is_first_stop => self.begin_stop(Exit::Cancelled),
            Command::Stop | Command::Kill => {
                self.blame(Exit::Cancelled);
                self.kill();
            }
        }
    }

    /// Remembers why the child is being stopped; the first reason holds, and none if it has ended already.
    fn blame(&mut self, cause: Exit) {
        if self.state.status.is_none() {
            self.state.cause.get_or_insert(cause);
        }
    }

    fn begin_stop(&mut self, cause: Exit) {
        if self.state.status.is_some() || self.state.step.is_some() {
            return;
        }
        self.blame(cause);
        self.child.signal(SIGINT);
        self.state.step = Some(StopStep::Interrupt);
        self.deadlines.next_step = after(self.limits.interrupt_grace);
    }

    fn next_step(&mut self) {
        match self.state.step {
            Some(StopStep::Interrupt) => {
                self.child.signal(SIGTERM);
                // One that was stopped by a signal could not act on that one.
                self.child.signal(SIGCONT);
                self.state.step = Some(StopStep::Terminate);
                self.deadlines.next_step = after(self.limits.terminate_grace);
            }
            Some(StopStep::Terminate) => self.kill(),
            Some(StopStep::Kill) | None => {}
        }
    }

    fn kill(&mut self) {
        if self.state.status.is_none() {
            self.state.step = Some(StopStep::Kill);
        }
        self.end_family();
    }

    /// Has everything killed that is left of the child's family.
    fn end_family(&mut self) {
        if !self.state.killing {
            self.state.killing = true;
            self.child.kill_all();
            self.deadlines.gone = after(KILL_LIMIT);
        }
    }

    fn on_child(&mut self, event: ChildEvent) {
        match event {
            ChildEvent::Exited { status, descendants } => {
                self.state.status = Some(status);
                self.deadlines.timeout = None;
                self.deadlines.next_step = None;
                self.deadlines.end_of_output = None;
                if self.is_drained() || (descendants == Some(0) && self.is_spooled()) {
                    self.end_family();
                } else {
                    self.deadlines.drain_end = after(self.limits.drain);
                    self.await_quiet();
                }
            }
            ChildEvent::Gone { killed, remaining } => {
                self.state.survivors_killed = killed;
                self.state.survivors_remaining = remaining;
                if remaining > 0 {
                    tracing::warn!(remaining, "processes of an ended agent could not be killed");
                }
                self.on_gone();
            }
            ChildEvent::Lost => {
                self.state.lost = self.state.status.is_none();
                #[cfg(target_os = "linux")]
                self.kill_unguarded();
                self.on_gone();
            }
        }
    }

    /// The guard was killed: what it watched is found by the marker and by the child's own number.
    #[cfg(target_os = "linux")]
    fn kill_unguarded(&mut self) {
        let swept = self.marker.as_deref().map_or(0, crate::sweep::sweep);
        self.state.survivors_killed = swept.saturating_sub(1);
        self.child.kill_orphan();
    }

    fn on_gone(&mut self) {
        self.state.gone = true;
        self.state.killing = true;
        self.deadlines = Deadlines {
            last_read: after(LAST_READ),
            ..Deadlines::default()
        };
        if let Some(OutputSource::Spool { finished, .. }) = &mut self.stdout {
            *finished = true;
        }
        self.end_unread_spool();
    }

    /// Nobody reads a spool whose consumer is gone; it is complete as it is.
    fn end_unread_spool(&mut self) {
        if self.deaf && self.state.gone && self.is_spooled() {
            self.end_stdout();
        }
    }

    /// Sets the moment at which what is left of the output is given up.
    fn await_quiet(&mut self) {
        let end = self.deadlines.drain_end;
        self.deadlines.drained = if self.is_spooled() {
            after(SPOOL_QUIET).into_iter().chain(end).min()
        } else {
            end
        };
    }

    fn is_drained(&self) -> bool {
        self.stdout.is_none() && self.stderr.is_none()
    }

    fn is_spooled(&self) -> bool {
        matches!(self.stdout, Some(OutputSource::Spool { .. }))
    }

    fn on_deaf(&mut self) {
        self.deaf = true;
        self.pending.clear();
        self.begin_stop(Exit::Cancelled);
        self.end_unread_spool();
    }

    fn on_stdin(&mut self, written: io::Result<bool>) {
        match written {
            Ok(false) => {}
            Ok(true) => self.stdin = None,
            Err(_) => {
                // The child closed its stdin or died; its exit tells which.
                self.state.stdin_cut = true;
                self.stdin = None;
            }
        }
    }

    fn on_stderr(&mut self, read: io::Result<Bytes>) {
        match read {
            Ok(bytes) if !bytes.is_empty() => {
                self.tail.push(&bytes);
                self.stderr_log.write(&bytes);
                if let Some(feed) = &mut self.stderr_feed {
                    feed.pass(bytes);
                }
            }
            Ok(_) | Err(_) => {
                self.stderr = None;
                self.stderr_feed = None;
                self.on_stream_end();
            }
        }
    }

    fn on_stdout(&mut self, read: io::Result<usize>) {
        match read {
            Ok(0) => self.end_stdout(),
            Ok(read) => {
                self.read_bytes = next_read_bytes(self.read_bytes, read);
                let chunk = self.buffer.split().freeze();
                self.state.stdout_bytes += chunk.len() as u64;
                self.log(&chunk);
                if self.is_spooled() && self.deadlines.drained.is_some() {
                    self.await_quiet();
                }
                self.deliver(Ok(chunk));
            }
            Err(error) => {
                self.deliver(Err(error));
                self.end_stdout();
            }
        }
    }

    /// Tee before anybody parses: what cannot be logged is still delivered, and the failure reported.
    fn log(&mut self, chunk: &[u8]) {
        self.raw_log.write(chunk);
        if let Some(reservation) = &mut self.reservation {
            reservation.keep_ahead_of(self.state.stdout_bytes);
        }
    }

    /// Hands a chunk to the consumer, after those that wait already.
    fn deliver(&mut self, chunk: io::Result<Bytes>) {
        match self.pending.is_empty() {
            _ if self.deaf => {}
            true => self.deliver_now(chunk),
            false => self.pending.push_back(chunk),
        }
    }

    fn deliver_now(&mut self, chunk: io::Result<Bytes>) {
        match self.chunks.try_send(chunk) {
            Ok(()) => {}
            Err(mpsc::error::TrySendError::Full(chunk)) => self.pending.push_front(chunk),
            Err(mpsc::error::TrySendError::Closed(_)) => self.on_deaf(),
        }
    }

    fn end_stdout(&mut self) {
        if let Some(OutputSource::Spool { follower, .. }) = &self.stdout {
            self.state.log_truncated = follower.was_truncated();
        }
        // Only when it is certain that nobody writes any more: giving back room must not cut a late line.
        let is_certain = self.state.gone && !self.state.lost && self.state.survivors_remaining == 0;
        if let Some(reservation) = self.reservation.take().filter(|_| is_certain) {
            reservation.release();
        }
        self.stdout = None;
        self.on_stream_end();
    }

    /// A stream has ended: before the exit that starts a deadline for it, after it the drain may be over.
    fn on_stream_end(&mut self) {
        if self.state.status.is_some() {
            if self.is_drained() {
                self.deadlines.drained = None;
                self.end_family();
            }
        } else if self.stdout.is_none() && self.state.step.is_none() {
            self.deadlines.end_of_output = after(self.limits.exit_after_end_of_output);
        }
    }

    fn on_deadline(&mut self) {
        let now = Instant::now();
        if passed(&mut self.deadlines.timeout, now) {
            self.begin_stop(Exit::TimedOut);
        }
        if passed(&mut self.deadlines.next_step, now) {
            self.next_step();
        }
        if passed(&mut self.deadlines.end_of_output, now) {
            // It has nothing more to say and does not leave.
            self.begin_stop(Exit::TimedOut);
        }
        if passed(&mut self.deadlines.drained, now) {
            self.end_family();
        }
        if passed(&mut self.deadlines.gone, now) {
            // It was stopped, or worse: what it watches must not live on for that.
            tracing::warn!("a guard does not answer; its agent is killed without it");
            self.state.lost = self.state.status.is_none();
            #[cfg(target_os = "linux")]
            self.kill_unguarded();
            self.on_gone();
        }
        if passed(&mut self.deadlines.last_read, now) {
            self.stderr = None;
            if matches!(self.stdout, Some(OutputSource::Stream(_))) {
                self.end_stdout();
            }
        }
    }

    /// Tells the outcome once: when all is read, or when only the consumer of a spool holds up the rest.
    fn report_when_known(&mut self) {
        let spool_bytes = match &self.stdout {
            Some(OutputSource::Spool { follower, .. }) if !self.pending.is_empty() => {
                Some(follower.length_bytes())
            }
            Some(OutputSource::Spool { .. } | OutputSource::Stream(_)) | None => None,
        };
        let is_known = self.stderr.is_none() && (self.stdout.is_none() || spool_bytes.is_some());
        if !self.state.gone || !is_known {
            return;
        }
        let Some(exit) = self.exit.take() else { return };
        let state = &mut self.state;
        let outcome = match (state.cause, state.lost, state.status) {
            (Some(cause), _, _) => cause,
            (None, true, _) | (None, _, None) => Exit::Lost,
            (None, false, Some(WaitStatus::Code(code))) => Exit::Code(code),
            (None, false, Some(WaitStatus::Signal(signal))) => Exit::Signal(signal),
        };
        // Nobody may be waiting; that is fine.
        let _ = exit.send(ExitReport {
            exit: outcome,
            status: state.status,
            stopped_by: state.step,
            survivors_killed: state.survivors_killed,
            survivors_remaining: state.survivors_remaining,
            stderr_tail: self.tail.bytes(),
            stderr_bytes: self.tail.total_bytes(),
            stdout_bytes: spool_bytes.unwrap_or(state.stdout_bytes).max(state.stdout_bytes),
            raw_log_error: self.raw_log.take_error(),
            stderr_log_error: self.stderr_log.take_error(),
            log_truncated: state.log_truncated,
            stdin_cut: state.stdin_cut || self.stdin.is_some(),
        });
    }
}

/// The moment after a while; none for a while that never ends.
fn after(duration: Duration) -> Option<Instant> {
    Instant::now().checked_add(duration)
}

/// A full read asks for a larger one, a mostly empty one for a smaller.
fn next_read_bytes(current: usize, read: usize) -> usize {
    if read >= current {
        (current * 4).min(MAX_READ_BYTES)
    } else if read < current / 8 {
        (current / 4).max(MIN_READ_BYTES)
    } else {
        current
    }
}

/// Waits until the consumer has room. We are the only sender, so the room stays.
async fn room(chunks: &mpsc::Sender<io::Result<Bytes>>) {
    drop(chunks.reserve().await);
}

/// Writes some of what is left; `true` when all is written and the stream can be closed.
async fn feed(stdin: &mut Option<StdinFeed>) -> io::Result<bool> {
    let Some(StdinFeed { writer, bytes }) = stdin else {
        return std::future::pending().await;
    };
    if bytes.is_empty() {
        return Ok(true);
    }
    let written = writer.write(bytes).await?;
    bytes.advance(written);
    Ok(bytes.is_empty())
}

async fn wait_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
