//! `RunControl`: sends commands to a running agent, and stops it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_client::{CancelOutcome, LinkError, PermissionMode, RunLink};
use agent_process::clock;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::protocol::RunCommand;
use crate::backend::{Answer, Command, InterruptBy, Profile};
use crate::capability;
use crate::error::CommandError;
use crate::event::RequestId;
use crate::request::Attachment;

/// How long an agent may take to answer a request in its own words.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Sends commands to a running agent, and stops it. Cheap to clone; works after the handle was dropped, and from any
/// thread.
///
/// Calls return at once. Their results are events: receipts of messages, answers to commands, closed requests.
#[derive(Debug, Clone)]
pub struct RunControl {
    pub(super) link: RunLink<RunCommand>,
    pub(super) profile: Arc<Profile>,
    pub(super) takes_messages: bool,
}

impl RunControl {
    /// Stops the agent and everything it started: interrupt, terminate, kill. Can be repeated without effect.
    pub fn cancel(&self) -> CancelOutcome {
        self.link.cancel()
    }

    /// Kills the agent and everything it started at once.
    pub fn kill(&self) -> CancelOutcome {
        self.link.kill()
    }

    /// The agent's process id, for display.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.link.process().pid()
    }

    /// Sends a message. Returns the id that receipts ([`MessageUpdated`](crate::Body::MessageUpdated)) carry.
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
        let attachments = Vec::new();
        let command = Command::Send {
            message_id,
            text,
            attachments,
        };
        self.encode(capability::SEND, command)
    }

    /// [`Self::send`] with images and documents.
    ///
    /// # Errors
    /// When the run takes no messages, or none any more, or the agent takes no such attachments.
    pub fn send_with(
        &self,
        text: impl Into<String>,
        attachments: Vec<Attachment>,
    ) -> Result<String, CommandError> {
        let (message_id, text) = (new_message_id(), text.into());
        if text.trim().is_empty() && attachments.is_empty() {
            return Err(CommandError::Empty);
        }
        for attachment in &attachments {
            self.check(attachment.capability())?;
        }
        let command = Command::Send {
            message_id: message_id.clone(),
            text,
            attachments,
        };
        self.encode(capability::SEND, command)?;
        Ok(message_id)
    }

    /// Ends the turn. In a run that takes messages the agent then waits for one. Returns the id that its answer carries.
    ///
    /// An agent that has no message for this, or takes none, gets SIGINT; most of them exit then.
    ///
    /// # Errors
    /// When the process has ended, or too many commands wait.
    pub fn interrupt(&self) -> Result<String, CommandError> {
        if self.link.has_ended() {
            return Err(CommandError::Closed);
        }
        let by_message =
            self.profile.interrupt_by == InterruptBy::Message && self.profile.has(capability::INTERRUPT);
        let command_id = next_id("interrupt");
        self.pass_on(if self.takes_messages && by_message {
            RunCommand::Encode(Command::Interrupt {
                command_id: command_id.clone(),
            })
        } else {
            RunCommand::Signal {
                command_id: command_id.clone(),
            }
        })?;
        Ok(command_id)
    }

    /// Answers a request. The first answer counts; a further one is refused by a
    /// [`CommandAnswered`](crate::Body::CommandAnswered) under the request's id.
    ///
    /// # Errors
    /// When the run takes no answers.
    pub fn answer(&self, request: &RequestId, answer: Answer) -> Result<(), CommandError> {
        let request = request.clone();
        self.encode(capability::ANSWER, Command::Answer { request, answer })
    }

    /// Changes the model; `None` is the default one. Returns the id that its answer carries.
    ///
    /// # Errors
    /// When the run takes no settings.
    pub fn set_model(&self, model: Option<String>) -> Result<String, CommandError> {
        let command_id = next_id("set_model");
        self.encode(
            capability::SET,
            Command::SetModel {
                command_id: command_id.clone(),
                model,
            },
        )?;
        Ok(command_id)
    }

    /// Changes the permission mode. Returns the id that its answer carries.
    ///
    /// # Errors
    /// When the run takes no settings.
    pub fn set_permission_mode(&self, mode: PermissionMode) -> Result<String, CommandError> {
        if mode == PermissionMode::Auto {
            self.check(capability::CONFIG_AUTO_PERMISSIONS)?;
        }
        let command_id = next_id("set_permission_mode");
        self.encode(
            capability::SET,
            Command::SetPermissionMode {
                command_id: command_id.clone(),
                mode,
            },
        )?;
        Ok(command_id)
    }

    /// Sends a request in the vendor's own words, and waits for the agent's answer, at most a minute. Only agents with
    /// [`capability::REQUEST`] take one: `get_context_usage` for example, or `mcp_status`.
    ///
    /// While it waits, up to 8 MiB of output are read ahead of the consumer, which may be the very task that waits.
    ///
    /// # Errors
    /// When the run takes no such request, the agent refuses it or does not answer, or the run ends before.
    pub async fn request(
        &self,
        name: impl Into<String>,
        body: Map<String, Value>,
    ) -> Result<Value, CommandError> {
        self.check(capability::REQUEST)?;
        let _waiting = self.link.wait_guard();
        let (answer, answered) = oneshot::channel();
        let command = Command::Other {
            command_id: next_id("request"),
            name: name.into(),
            body,
        };
        self.pass_on(RunCommand::Request(command, answer))?;
        match clock::timeout(REQUEST_TIMEOUT, answered).await {
            Some(answer) => answer.map_err(|_| CommandError::Closed)?,
            None => Err(CommandError::Unanswered {
                timeout: REQUEST_TIMEOUT,
            }),
        }
    }

    /// Closes the agent's input after everything that was sent: it finishes its work and exits.
    pub fn close_input(&self) {
        self.link.close_input();
    }

    fn encode(&self, capability: &'static str, command: Command) -> Result<(), CommandError> {
        self.check(capability)?;
        self.pass_on(RunCommand::Encode(command))
    }

    fn check(&self, capability: &'static str) -> Result<(), CommandError> {
        let reason = if !self.profile.has(capability) {
            "the backend cannot do that"
        } else if !self.takes_messages {
            "it was started with its prompt only: ask for `Input::Messages`"
        } else {
            return Ok(());
        };
        Err(CommandError::Unsupported { capability, reason })
    }

    fn pass_on(&self, command: RunCommand) -> Result<(), CommandError> {
        self.link.send(command).map_err(|error| match error {
            LinkError::Closed => CommandError::Closed,
            LinkError::Busy => CommandError::Busy,
        })
    }
}

/// A new unique id for a message: a UUID.
#[must_use]
pub fn new_message_id() -> String {
    Uuid::now_v7().to_string()
}

/// A new id for [`SessionChoice::NewWithId`](agent_client::SessionChoice::NewWithId): a random UUID (version 4), because
/// some agents refuse newer versions.
#[must_use]
pub fn new_session_id() -> String {
    Uuid::new_v4().to_string()
}

/// An id that is unique within this process.
fn next_id(what: &str) -> String {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    format!("{what}-{}", LAST.fetch_add(1, Ordering::Relaxed) + 1)
}
