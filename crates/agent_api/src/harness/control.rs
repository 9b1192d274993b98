//! Speaking to a running agent, and stopping it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use agent_process::Control;
use claude_code::input::MessageId;
use tokio::sync::mpsc;

use crate::backend::{Answer, Command, InterruptBy, Profile};
use crate::capability;
use crate::error::CommandError;
use crate::event::RequestId;
use crate::request::PermissionMode;

/// More than anybody says; an agent that reads nothing must not fill the memory.
const MOST_WAITING_COMMANDS: usize = 1024;

const RUNNING: u8 = 0;
const CANCELLED: u8 = 1;
const ENDED: u8 = 2;

/// Speaks to a running agent, and stops it. Cheap to clone; works after the handle was dropped, and from any thread.
///
/// Calls return at once. What comes of them is told by events: receipts of messages, answers to commands, requests
/// that are closed.
#[derive(Debug, Clone)]
pub struct RunControl {
    pub(super) orders: mpsc::UnboundedSender<Order>,
    pub(super) process: Control,
    pub(super) state: Arc<State>,
    pub(super) profile: Arc<Profile>,
    pub(super) takes_messages: bool,
}

/// What the run's loop is told.
#[derive(Debug)]
pub(super) enum Order {
    Say(Command),
    /// A SIGINT, for agents that have no message for it.
    Signal {
        command_id: String,
    },
    CloseInput,
    Cancel,
}

#[derive(Debug, Default)]
pub(super) struct State {
    stage: AtomicU8,
    waiting: AtomicUsize,
}

impl State {
    /// One more command waits, if there is room for it.
    fn enter(&self) -> Result<(), CommandError> {
        let enter = |waiting: usize| (waiting < MOST_WAITING_COMMANDS).then_some(waiting + 1);
        match self
            .waiting
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, enter)
        {
            Ok(_) => Ok(()),
            Err(_) => Err(CommandError::Busy),
        }
    }

    /// So many wait no more.
    pub(super) fn leave(&self, count: usize) {
        self.waiting.fetch_sub(count, Ordering::AcqRel);
    }

    fn has_ended(&self) -> bool {
        self.stage.load(Ordering::Acquire) == ENDED
    }

    pub(super) fn end(&self) {
        let _ = self
            .stage
            .compare_exchange(RUNNING, ENDED, Ordering::AcqRel, Ordering::Acquire);
    }
}

/// What became of a wish to cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelOutcome {
    /// The agent is being stopped.
    Requested,
    /// It was being stopped already; nothing has changed.
    AlreadyRequested,
    /// The process had already ended by itself.
    AlreadyEnded,
}

impl RunControl {
    /// Stops the agent and everything it started: interrupt, terminate, kill. Can be repeated without effect.
    pub fn cancel(&self) -> CancelOutcome {
        let stage = &self.state.stage;
        match stage.compare_exchange(RUNNING, CANCELLED, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                // The loop knows whether all was done by then. Should it be gone, so is the process.
                let _ = self.orders.send(Order::Cancel);
                CancelOutcome::Requested
            }
            Err(CANCELLED) => CancelOutcome::AlreadyRequested,
            Err(_) => CancelOutcome::AlreadyEnded,
        }
    }

    /// Stops the agent and everything it started, at once.
    pub fn kill(&self) -> CancelOutcome {
        let outcome = self.cancel();
        self.process.kill();
        outcome
    }

    /// The agent's process id, for display.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Says something. Gives the id that receipts ([`MessageUpdated`](crate::Body::MessageUpdated)) carry.
    ///
    /// # Errors
    /// When the run takes no messages, or none any more.
    pub fn send(&self, text: impl Into<String>) -> Result<String, CommandError> {
        let message_id = new_message_id();
        self.send_as(message_id.clone(), text)?;
        Ok(message_id)
    }

    /// [`Self::send`] under an id of [`new_message_id`]'s.
    ///
    /// # Errors
    /// When the run takes no messages, or none any more.
    pub fn send_as(&self, message_id: String, text: impl Into<String>) -> Result<(), CommandError> {
        let text = text.into();
        if text.trim().is_empty() {
            return Err(CommandError::Empty);
        }
        self.say(capability::SEND, Command::Send { message_id, text })
    }

    /// Ends the turn. In a run that takes messages the agent then waits for one. Gives the id of the answer.
    ///
    /// An agent that has no message for that, or takes none, gets a SIGINT: most of them exit then.
    ///
    /// # Errors
    /// When the process has ended, or too many commands wait.
    pub fn interrupt(&self) -> Result<String, CommandError> {
        if self.state.has_ended() {
            return Err(CommandError::Closed);
        }
        let by_message =
            self.profile.interrupt_by == InterruptBy::Message && self.profile.has(capability::INTERRUPT);
        let command_id = next_id("interrupt");
        let order = if self.takes_messages && by_message {
            Order::Say(Command::Interrupt {
                command_id: command_id.clone(),
            })
        } else {
            Order::Signal {
                command_id: command_id.clone(),
            }
        };
        self.order(order)?;
        Ok(command_id)
    }

    /// Answers a request. The first answer counts; a further one is refused by a
    /// [`CommandAnswered`](crate::Body::CommandAnswered) under the request's id.
    ///
    /// # Errors
    /// When the run takes no answers.
    pub fn answer(&self, request: &RequestId, answer: Answer) -> Result<(), CommandError> {
        let request = request.clone();
        self.say(capability::ANSWER, Command::Answer { request, answer })
    }

    /// Uses another model from now on; `None` is the default one. Gives the id of the answer.
    ///
    /// # Errors
    /// When the run takes no settings.
    pub fn set_model(&self, model: Option<String>) -> Result<String, CommandError> {
        let command_id = next_id("set_model");
        self.say(
            capability::SET,
            Command::SetModel {
                command_id: command_id.clone(),
                model,
            },
        )?;
        Ok(command_id)
    }

    /// Changes what may happen without asking. Gives the id of the answer.
    ///
    /// # Errors
    /// When the run takes no settings.
    pub fn set_permission_mode(&self, mode: PermissionMode) -> Result<String, CommandError> {
        let command_id = next_id("set_permission_mode");
        self.say(
            capability::SET,
            Command::SetPermissionMode {
                command_id: command_id.clone(),
                mode,
            },
        )?;
        Ok(command_id)
    }

    /// Ends the agent's input after all that was said: it finishes what it does and exits.
    pub fn close_input(&self) {
        // A run that is over has no input.
        let _ = self.orders.send(Order::CloseInput);
    }

    fn say(&self, capability: &'static str, command: Command) -> Result<(), CommandError> {
        let reason = if !self.profile.has(capability) {
            "the backend cannot do that"
        } else if !self.takes_messages {
            "it was started with its prompt only: ask for `Input::Messages`"
        } else {
            return self.order(Order::Say(command));
        };
        Err(CommandError::Unsupported { capability, reason })
    }

    /// For orders of which an event will tell.
    fn order(&self, order: Order) -> Result<(), CommandError> {
        if self.orders.is_closed() {
            return Err(CommandError::Closed);
        }
        self.state.enter()?;
        self.orders.send(order).map_err(|_| CommandError::Closed)
    }
}

/// An id for a message that nobody else has: a UUID.
#[must_use]
pub fn new_message_id() -> String {
    MessageId::random().to_string()
}

/// An id that no other command of this process has.
fn next_id(what: &str) -> String {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    format!("{what}-{}", LAST.fetch_add(1, Ordering::Relaxed) + 1)
}
