//! `RunLink`: how the holder of a run reaches its loop. `AgentLink`: how a protocol reaches the agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use agent_process::Control;
use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use super::input::{InputLine, InputWriter};

/// An agent that reads nothing must not fill the memory.
const MAX_WAITING_COMMANDS: usize = 1024;

const RUNNING: u8 = 0;
const CANCELLED: u8 = 1;
const ENDED: u8 = 2;

/// Counts a command until it is written, or until its refusal was delivered.
pub(super) type CommandPermit = OwnedSemaphorePermit;

/// Sends commands to a run, and stops it. Cheap to clone; works from any thread and after the handle was dropped.
#[derive(Debug)]
pub struct RunLink<C> {
    pub(super) orders: mpsc::UnboundedSender<Order<C>>,
    pub(super) process: Control,
    pub(super) shared: Arc<Shared>,
    /// Closed once the agent's input is.
    pub(super) input_ended: watch::Receiver<()>,
}

impl<C> Clone for RunLink<C> {
    fn clone(&self) -> Self {
        Self {
            orders: self.orders.clone(),
            process: self.process.clone(),
            shared: self.shared.clone(),
            input_ended: self.input_ended.clone(),
        }
    }
}

/// A message to the loop that owns a run.
#[derive(Debug)]
pub(super) enum Order<C> {
    Command(C, CommandPermit),
    CloseInput,
    Cancel,
}

/// What the loop, its links and its event stream share.
#[derive(Debug)]
pub(super) struct Shared {
    stage: AtomicU8,
    commands: Arc<Semaphore>,
    /// Callers that wait for the agent to read or to answer.
    waiters: AtomicUsize,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self {
            stage: AtomicU8::new(RUNNING),
            commands: Arc::new(Semaphore::new(MAX_WAITING_COMMANDS)),
            waiters: AtomicUsize::new(0),
        }
    }

    pub(super) fn cancel(&self) -> CancelOutcome {
        let stage = &self.stage;
        match stage.compare_exchange(RUNNING, CANCELLED, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => CancelOutcome::Requested,
            Err(CANCELLED) => CancelOutcome::AlreadyRequested,
            Err(_) => CancelOutcome::AlreadyEnded,
        }
    }

    pub(super) fn end(&self) {
        let stage = &self.stage;
        let _ = stage.compare_exchange(RUNNING, ENDED, Ordering::AcqRel, Ordering::Acquire);
    }

    pub(super) fn has_waiters(&self) -> bool {
        self.waiters.load(Ordering::Acquire) > 0
    }
}

/// What a call to cancel did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelOutcome {
    /// The agent is being stopped.
    Requested,
    /// The agent was being stopped already.
    AlreadyRequested,
    /// The process had already ended by itself.
    AlreadyEnded,
}

/// Why a command was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkError {
    /// The run has ended.
    Closed,
    /// Too many commands wait for an agent that does not read.
    Busy,
}

impl<C> RunLink<C> {
    /// Sends a command.
    ///
    /// # Errors
    /// If the run has ended, or too many commands wait.
    pub fn send(&self, command: C) -> Result<(), LinkError> {
        if self.orders.is_closed() {
            return Err(LinkError::Closed);
        }
        let permit = self.shared.commands.clone().try_acquire_owned();
        self.order(command, permit.map_err(|_| LinkError::Busy)?)
    }

    /// Sends a command, and waits while too many others do.
    ///
    /// # Errors
    /// If the run has ended.
    pub async fn send_when_ready(&self, command: C) -> Result<(), LinkError> {
        let permit = tokio::select! {
            permit = self.shared.commands.clone().acquire_owned() => permit.map_err(|_| LinkError::Closed)?,
            () = self.orders.closed() => return Err(LinkError::Closed),
        };
        self.order(command, permit)
    }

    fn order(&self, command: C, permit: CommandPermit) -> Result<(), LinkError> {
        let order = Order::Command(command, permit);
        self.orders.send(order).map_err(|_| LinkError::Closed)
    }

    /// Counts the caller as waiting for the agent until the guard is dropped. Meanwhile the output is read on,
    /// although the consumer may not take it: the consumer may be the very task that waits.
    #[must_use]
    pub fn wait_guard(&self) -> WaitGuard {
        self.shared.waiters.fetch_add(1, Ordering::AcqRel);
        WaitGuard(self.shared.clone())
    }

    /// Closes the agent's input after everything that was sent.
    pub fn close_input(&self) {
        // A run that has ended has no input.
        let _ = self.orders.send(Order::CloseInput);
    }

    /// Resolves once the agent's input is closed.
    pub async fn input_closed(&self) {
        let mut ended = self.input_ended.clone();
        while ended.changed().await.is_ok() {}
    }

    /// Stops the agent and everything it started: interrupt, terminate, kill.
    pub fn cancel(&self) -> CancelOutcome {
        let outcome = self.shared.cancel();
        if outcome == CancelOutcome::Requested {
            // The loop knows what was done by then. If it is gone, so is the process.
            let _ = self.orders.send(Order::Cancel);
        }
        outcome
    }

    /// Kills the agent and everything it started at once.
    pub fn kill(&self) -> CancelOutcome {
        let outcome = self.cancel();
        self.process.kill();
        outcome
    }

    /// The agent's process.
    #[must_use]
    pub fn process(&self) -> &Control {
        &self.process
    }

    /// Whether the process has ended by itself.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.shared.stage.load(Ordering::Acquire) == ENDED
    }
}

/// A caller that waits for the agent.
#[derive(Debug)]
pub struct WaitGuard(Arc<Shared>);

impl Drop for WaitGuard {
    fn drop(&mut self) {
        self.0.waiters.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The agent, as a protocol sees it while it handles a line or a command.
#[derive(Debug)]
pub struct AgentLink<'a> {
    pub(super) input: &'a mut InputWriter,
    pub(super) process: &'a Control,
    pub(super) has_exited: bool,
    /// The agent is being stopped: it gets no more commands.
    pub(super) is_stopping: bool,
    /// Of the command that is being handled: goes with its first line.
    pub(super) permit: Option<CommandPermit>,
}

impl AgentLink<'_> {
    /// Whether the agent takes commands: its input is open, and it is not being stopped.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.is_stopping && self.input.is_open()
    }

    /// Whether the process has exited.
    #[must_use]
    pub fn has_exited(&self) -> bool {
        self.has_exited
    }

    /// Queues bytes for the agent's input, line end included. Returns whether the agent can still get them. Works also
    /// while the agent is being stopped, for replies that it needs to end in order.
    pub fn write(&mut self, bytes: Bytes) -> bool {
        self.queue(bytes, None, false)
    }

    /// [`AgentLink::write`], with a receipt: `written` is resolved when the bytes are in the agent's pipe, and dropped
    /// if they never get there.
    pub fn write_with_receipt(&mut self, bytes: Bytes, written: oneshot::Sender<()>) -> bool {
        self.queue(bytes, Some(written), false)
    }

    /// [`AgentLink::write_with_receipt`], except that the bytes are left out if the receiver of `written` is dropped
    /// before they are written: a caller that gives up takes them back.
    pub fn write_revocable(&mut self, bytes: Bytes, written: oneshot::Sender<()>) -> bool {
        self.queue(bytes, Some(written), true)
    }

    /// Sends SIGINT to the agent.
    pub fn interrupt(&self) {
        self.process.interrupt();
    }

    fn queue(&mut self, bytes: Bytes, written: Option<oneshot::Sender<()>>, is_revocable: bool) -> bool {
        if !self.input.is_open() {
            return false;
        }
        let permit = self.permit.take();
        self.input.queue(InputLine {
            bytes,
            written,
            is_revocable,
            // Replies are written while a line or a callback's answer is handled, not a command of the holder.
            is_reply: permit.is_none(),
            permit,
        })
    }
}
