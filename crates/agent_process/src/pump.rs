//! `Pump`: the task that owns a running child. Reads and logs its output, writes its stdin, stops it, and reports its
//! exit.

mod ending;
mod output;

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::child::{Child, ChildSignal};
use crate::clock;
use crate::exit::{Exit, ExitReport, StopStep, WaitStatus};
use crate::log::Log;
use crate::process::Command;
use crate::spec::{Limits, Marker};
use crate::streams::{BoxRead, BoxWrite, OutputSource, ReadFirst, StderrFeed, read_next};
use crate::suspend::Registration;
use crate::tail::Tail;

/// Reads start small, so that an idle child costs little memory, and grow with the amount of output.
const MIN_READ_BYTES: usize = 4 * 1024;
const MAX_READ_BYTES: usize = 128 * 1024;

/// How long the guard may take to kill everything before it counts as unresponsive.
const KILL_TIMEOUT: Duration = Duration::from_secs(8);

/// Upper bound for what waits after all descendants are gone, and for the last reads: more than a
/// pipe can hold, in case a process that is not a descendant keeps writing.
const MAX_LAST_READ_BYTES: usize = 4 << 20;

/// Bytes for the child's stdin that are still to be written.
pub(crate) struct StdinFeed {
    pub(crate) writer: BoxWrite,
    pub(crate) bytes: Bytes,
}

pub(crate) struct Pump {
    child: Child,
    limits: Limits,
    marker: Option<Marker>,
    stdout: Option<OutputSource>,
    stderr: Option<BoxRead>,
    stdin: Option<StdinFeed>,
    raw_log: Log,
    stderr_log: Log,
    stderr_feed: Option<StderrFeed>,
    chunks: mpsc::Sender<io::Result<Bytes>>,
    /// Read and logged, but the channel is full. Until it has room, nothing more is read, except the rest of a pipe
    /// after all its writers are gone.
    pending: VecDeque<io::Result<Bytes>>,
    /// The consumer was dropped: output goes to the log only.
    consumer_gone: bool,
    commands: mpsc::UnboundedReceiver<Command>,
    /// Suspends the child together with this process.
    _registration: Option<Registration>,
    /// Dropped when the child has stopped.
    freezing: Option<mpsc::UnboundedSender<()>>,
    buffer: BytesMut,
    read_bytes: usize,
    read_first: ReadFirst,
    tail: Tail,
    exit: Option<oneshot::Sender<ExitReport>>,
    deadlines: Deadlines,
    state: State,
}

/// When something must be done if nothing else happens first.
#[derive(Default)]
struct Deadlines {
    timeout: Option<Instant>,
    next_step: Option<Instant>,
    end_of_output: Option<Instant>,
    drained: Option<Instant>,
    /// Upper bound for `drained`, which moves while a spool grows. Not a deadline of its own.
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

/// Clears the deadline if it has passed.
fn passed(deadline: &mut Option<Instant>, now: Instant) -> bool {
    deadline.take_if(|at| *at <= now).is_some()
}

#[derive(Default)]
struct State {
    /// Why we stopped the child, unless it ended by itself first.
    cause: Option<Exit>,
    step: Option<StopStep>,
    status: Option<WaitStatus>,
    lost: bool,
    /// The kill of all descendants was requested, or they are known to be gone.
    killing: bool,
    gone: bool,
    survivors_killed: u32,
    survivors_remaining: u32,
    stop_requested: bool,
    stdout_bytes: u64,
    /// The length of the spool when its drain deadline was set.
    spool_bytes: u64,
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
            chunks,
            pending: VecDeque::new(),
            consumer_gone: false,
            commands,
            _registration: None,
            freezing: None,
            buffer: BytesMut::new(),
            read_bytes: MIN_READ_BYTES,
            read_first: ReadFirst::default(),
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
        // The child writes a spool itself.
        if !self.is_spooled() {
            self.raw_log = Log::new(raw_log);
        }
        self.stderr_log = Log::new(stderr_log);
        self
    }

    pub(crate) fn with_registration(mut self, registration: Registration) -> Self {
        self._registration = Some(registration);
        self
    }

    pub(crate) fn with_marker(mut self, marker: Option<Marker>) -> Self {
        self.marker = marker;
        self
    }

    pub(crate) fn with_stderr_stream(mut self, chunks: Option<mpsc::Sender<Bytes>>) -> Self {
        self.stderr_feed = chunks.map(StderrFeed::new);
        self
    }

    /// Runs the child to its end and delivers its output.
    pub(crate) async fn run(mut self) {
        self.run_child().await;
        let child = self.into_child();
        let _ = tokio::time::timeout(KILL_TIMEOUT, child.close()).await;
    }

    /// Ends the output: its reader must not wait until the guard is reaped.
    fn into_child(self) -> Child {
        self.child
    }

    async fn run_child(&mut self) {
        while !self.is_finished() {
            let deadline = self.deadlines.next();
            let reads_stdout = self.reads_stdout();
            self.buffer
                .reserve(if reads_stdout { self.read_bytes } else { 0 });
            tokio::select! {
                biased;
                Some(command) = self.commands.recv() => self.handle_command(command),
                event = self.child.next_event(), if !self.state.gone => self.on_child(event),
                () = wait_until(deadline), if deadline.is_some() => self.on_deadline(),
                () = self.chunks.closed(), if !self.consumer_gone => self.on_consumer_gone(),
                () = channel_ready(&self.chunks), if !self.pending.is_empty() => {
                    if let Some(chunk) = self.pending.pop_front() {
                        self.deliver_now(chunk);
                    }
                }
                written = write_stdin(&mut self.stdin), if self.stdin.is_some() => self.on_stdin(written),
                read = read_next(
                    self.stdout.as_mut().filter(|_| reads_stdout),
                    &mut self.buffer,
                    self.stderr.as_mut(),
                    self.read_first,
                ), if reads_stdout || self.stderr.is_some() => self.on_read(read),
            }
            self.report_when_known();
        }
    }

    /// Whether stdout may be read now.
    fn reads_stdout(&self) -> bool {
        match &self.stdout {
            // After the last writer is gone, the pipe is emptied so that log and report are complete.
            Some(OutputSource::Stream(_)) => {
                self.pending.is_empty() || (self.state.gone && self.pending_bytes() < MAX_LAST_READ_BYTES)
            }
            // The spool is its own log, so without a consumer it need not be read.
            Some(OutputSource::Spool { .. }) => self.pending.is_empty() && !self.consumer_gone,
            None => false,
        }
    }

    fn pending_bytes(&self) -> usize {
        let chunks = self.pending.iter().flatten();
        chunks.map(Bytes::len).sum()
    }

    fn is_finished(&self) -> bool {
        self.state.gone && self.stdout.is_none() && self.stderr.is_none() && self.pending.is_empty()
    }

    fn handle_command(&mut self, command: Command) {
        let is_first_stop =
            matches!(command, Command::Stop) && !std::mem::replace(&mut self.state.stop_requested, true);
        match command {
            // After the exit the process id may belong to another process.
            Command::Interrupt if self.state.status.is_some() => {}
            Command::Interrupt => self.child.signal(ChildSignal::Interrupt),
            // Only descendants are left. They had time to end while the output was drained.
            Command::Stop | Command::Kill if self.state.status.is_some() => self.kill_descendants(),
            Command::Stop if is_first_stop => self.begin_stop(Exit::Cancelled),
            Command::Stop | Command::Kill => {
                self.set_stop_cause(Exit::Cancelled);
                self.kill();
            }
            Command::Freeze(frozen) => {
                let will_report = !self.state.gone && self.child.freeze();
                self.freezing = will_report.then_some(frozen);
            }
            Command::Thaw => {
                self.freezing = None;
                self.child.thaw();
            }
        }
    }

    fn on_consumer_gone(&mut self) {
        self.consumer_gone = true;
        self.pending.clear();
        self.begin_stop(Exit::Cancelled);
        self.end_unread_spool();
    }

    fn on_stdin(&mut self, written: io::Result<bool>) {
        match written {
            Ok(false) => {}
            Ok(true) => self.stdin = None,
            Err(_) => {
                self.state.stdin_cut = true;
                self.stdin = None;
            }
        }
    }
}

/// `None` if the duration is too long for the clock.
fn after(duration: Duration) -> Option<Instant> {
    clock::now().checked_add(duration)
}

/// Grows after a full read, shrinks after a mostly empty one.
fn next_read_bytes(current: usize, read: usize) -> usize {
    if read >= current {
        (current * 4).min(MAX_READ_BYTES)
    } else if read < current / 8 {
        (current / 4).max(MIN_READ_BYTES)
    } else {
        current
    }
}

/// Waits for a free slot. We are the only sender, so it stays free.
async fn channel_ready(chunks: &mpsc::Sender<io::Result<Bytes>>) {
    drop(chunks.reserve().await);
}

/// Writes some of the remaining bytes. Returns `true` once all are written and the pipe can be closed.
async fn write_stdin(stdin: &mut Option<StdinFeed>) -> io::Result<bool> {
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
        Some(deadline) => clock::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::Pump;
    use super::ending::LAST_READ_TIMEOUT;
    use crate::child::Child;
    use crate::exit::{ExitReport, WaitStatus};
    use crate::process::Command;
    use crate::spec::{Limits, SpawnSpec, StdinMode, StdoutMode};
    use crate::streams::{BoxRead, ChildEnds, OutputSource, open_streams};
    use bytes::{Bytes, BytesMut};
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use std::time::Duration;
    use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};
    use tokio::sync::{mpsc, oneshot};
    use tokio::time::Instant;

    /// A pipe with a few chunks left, each of which takes long to read because the disk with the log is slow.
    struct SlowReader {
        chunks: usize,
    }

    impl AsyncRead for SlowReader {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<std::io::Result<()>> {
            let Some(left) = self.chunks.checked_sub(1) else {
                // A process that is not a descendant holds the pipe open.
                return Poll::Pending;
            };
            self.chunks = left;
            std::thread::sleep(LAST_READ_TIMEOUT / 2);
            buffer.put_slice(b"chunk\n");
            Poll::Ready(Ok(()))
        }
    }

    /// A pump for a real child without a guard, with other streams in place of the child's own.
    fn pump(
        program: &str,
        theirs: ChildEnds,
        stdout: OutputSource,
        stderr: BoxRead,
    ) -> (
        Pump,
        mpsc::Receiver<std::io::Result<Bytes>>,
        oneshot::Receiver<ExitReport>,
    ) {
        let child =
            crate::portable::spawn_portable(crate::resolve::resolved_command(program), theirs).unwrap();
        let (chunks, output) = mpsc::channel(16);
        let (_, commands) = mpsc::unbounded_channel();
        let (exit, report) = oneshot::channel();
        let limits = Limits::default().drain(Duration::ZERO);
        let pump = Pump::new(
            Child::Portable(child),
            stdout,
            stderr,
            None,
            limits,
            chunks,
            commands,
            exit,
        );
        (pump, output, report)
    }

    #[tokio::test]
    async fn a_flood_on_stderr_does_not_starve_stdout() {
        let (_, theirs) = open_streams(&SpawnSpec::new("cat")).unwrap();
        let stdout = OutputSource::Stream(Box::pin(&b"heard\n"[..]));
        let (pump, mut output, _report) = pump("cat", theirs, stdout, Box::pin(tokio::io::repeat(b'e')));
        let pump = tokio::spawn(pump.run());
        assert_eq!(output.recv().await.unwrap().unwrap(), "heard\n");
        pump.abort();
    }

    #[tokio::test]
    async fn a_flood_on_stdout_does_not_starve_stderr() {
        let (_, theirs) = open_streams(&SpawnSpec::new("cat")).unwrap();
        let stdout = OutputSource::Stream(Box::pin(tokio::io::repeat(b'o')));
        let (pump, mut output, _report) = pump("cat", theirs, stdout, Box::pin(&b"heard\n"[..]));
        let (chunks, mut heard) = tokio::sync::mpsc::channel(2);
        let pump = tokio::spawn(pump.with_stderr_stream(Some(chunks)).run());
        let reading = tokio::spawn(async move { while output.recv().await.is_some() {} });
        assert_eq!(heard.recv().await.unwrap(), "heard\n");
        pump.abort();
        reading.await.unwrap();
    }

    #[tokio::test]
    async fn a_writer_that_is_no_descendant_does_not_fill_the_memory_at_the_end() {
        let (ours, theirs) = open_streams(&SpawnSpec::new("true")).unwrap();
        let (mut pump, _output, _report) = pump("true", theirs, ours.stdout, ours.stderr);
        pump.on_gone();
        let mut read_bytes = 0;
        while pump.reads_stdout() && read_bytes < 10 * super::MAX_LAST_READ_BYTES {
            pump.buffer.resize(super::MAX_READ_BYTES, b'o');
            pump.on_stdout(Ok(super::MAX_READ_BYTES));
            read_bytes += super::MAX_READ_BYTES;
        }
        assert!(read_bytes < 2 * super::MAX_LAST_READ_BYTES, "{read_bytes}");
    }

    #[tokio::test]
    async fn a_spool_that_grows_is_drained_although_nobody_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("raw.ndjson");
        std::fs::write(&log, "").unwrap();
        let mut spec = SpawnSpec::new("cat");
        spec.stdin = StdinMode::Piped;
        spec.stdout = StdoutMode::Spool;
        spec.raw_log = Some(log.clone());
        let (ours, theirs) = open_streams(&spec).unwrap();
        let (mut pump, _output, _report) = pump("cat", theirs, ours.stdout, ours.stderr);
        let far = super::after(Duration::from_secs(600));
        pump.state.status = Some(WaitStatus::Code(0));
        pump.deadlines.drain_end = far;
        pump.arm_drain_deadline();
        std::fs::write(&log, "a descendant still writes\n").unwrap();
        pump.deadlines.drained = Some(Instant::now());
        pump.on_deadline();
        assert!(!pump.state.killing && pump.deadlines.drained.is_some());
        // Nothing was written since.
        pump.deadlines.drained = Some(Instant::now());
        pump.on_deadline();
        assert!(pump.state.killing && pump.deadlines.drained.is_none());
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn without_a_guard_the_child_is_no_survivor_of_itself() {
        use crate::child::ChildEvent;
        use crate::spec::Marker;
        use std::io::Read;
        use std::process::Stdio;
        for (status, survivors) in [(Some(WaitStatus::Code(0)), 1), (None, 0)] {
            let marker = Marker::new("AGENT_PROCESS_PUMP_TEST", std::process::id().to_string());
            let mut marked = std::process::Command::new("/bin/sh");
            marked
                .args(["-c", "echo; read line"])
                .env(marker.variable(), marker.value());
            let mut marked = marked
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            marked.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
            let (ours, theirs) = open_streams(&SpawnSpec::new("true")).unwrap();
            let (pump, _output, _report) = pump("true", theirs, ours.stdout, ours.stderr);
            let mut pump = pump.with_marker(Some(marker));
            pump.state.status = status;
            pump.on_child(ChildEvent::Lost);
            marked.wait().unwrap();
            assert_eq!(pump.state.survivors_killed, survivors, "{status:?}");
        }
    }

    #[tokio::test]
    async fn after_the_exit_no_signal_is_sent() {
        let mut spec = SpawnSpec::new("cat");
        spec.stdin = StdinMode::Piped;
        let (ours, theirs) = open_streams(&spec).unwrap();
        let (mut pump, _output, _report) = pump("cat", theirs, ours.stdout, ours.stderr);
        // The process is still there, but for the pump its id may have been reused.
        pump.state.status = Some(WaitStatus::Code(0));
        pump.handle_command(Command::Interrupt);
        let mut stdin = ours.stdin.unwrap();
        stdin.write_all(b"alive").await.unwrap();
        let mut buffer = BytesMut::with_capacity(16);
        pump.stdout.as_mut().unwrap().read(&mut buffer).await.unwrap();
        assert_eq!(&buffer[..], b"alive");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn bytes_left_in_the_pipe_are_read_even_after_the_last_deadline() {
        let (_, theirs) = open_streams(&SpawnSpec::new("true")).unwrap();
        let stdout = OutputSource::Stream(Box::pin(SlowReader { chunks: 6 }));
        let (pump, mut output, report) = pump("true", theirs, stdout, Box::pin(tokio::io::empty()));
        tokio::spawn(pump.run());
        assert_eq!(report.await.unwrap().stdout_bytes, 36);
        let mut delivered = 0;
        while let Some(chunk) = output.recv().await {
            delivered += chunk.unwrap().len();
        }
        assert_eq!(delivered, 36);
    }
}
