//! `Session`: a conversation with a running CLI. `SessionSender`: sends messages, answers and control requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agent_client::{Expansion, RunLink};
use agent_process::{Control, clock};
use bytes::Bytes;
use json_lines::RawJson;
use tokio::sync::oneshot;

use super::handle::{Completion, Events};
use super::protocol::{Purpose, WireCommand};
use crate::argv::Note;
use crate::capabilities::{Capabilities, Feature};
use crate::error::Error;
use crate::event::{ControlResponseBody, PermissionMode};
use crate::host::Host;
use crate::input::{self, Answer, HostRequest, MessageId, PermissionAnswer, UserMessage};

/// The CLI answers the first request only after it has started, and has connected to every tool server.
const INITIALIZE_DEADLINE: Duration = Duration::from_secs(60);

/// A conversation in progress. Its parts can be moved apart; dropping the events, and so the session, stops the
/// process and everything it started.
#[derive(Debug)]
pub struct Session {
    /// The CLI's events. Each turn begins with an `init` and ends with a `result`; responses to control requests are
    /// among them.
    pub events: Events,
    /// Sends messages, answers and control requests.
    pub sender: SessionSender,
    /// How the process ends.
    pub completion: Completion,
    /// Signals and stopping.
    pub control: Control,
    /// Parts of the request that this version of the CLI cannot fully carry out.
    pub notes: Vec<Note>,
}

/// Sends messages, answers and control requests to a running CLI. Cheap to clone; when the last one is dropped, the
/// CLI sees the end of its input, finishes its turn and exits.
///
/// Calls return once the CLI's pipe has the line. While a call waits, up to 8 MiB of events are read ahead of the
/// consumer, which may be the very task that waits. A CLI that does not read the line in time
/// ([`ClientBuilder::send_deadline`](crate::ClientBuilder::send_deadline)) is an error. A call that is given up, by its
/// caller or for that reason, before its line was begun has no effect.
#[derive(Debug, Clone)]
pub struct SessionSender {
    pub(super) link: RunLink<WireCommand>,
    pub(super) next_request: Arc<AtomicU64>,
    pub(super) capabilities: Capabilities,
    pub(super) expansion: Expansion,
    pub(super) control_deadline: Duration,
    pub(super) send_deadline: Duration,
}

impl SessionSender {
    /// Sends a message. Between turns it starts one; during a turn it waits for the next one, or joins this one while
    /// a tool runs. [`Receipt`](crate::Receipt)s report its progress.
    ///
    /// # Errors
    /// If the message is empty, the CLI does not read it in time, or the session is closed.
    pub async fn send(&self, message: impl Into<UserMessage>) -> Result<MessageId, Error> {
        let mut message = message.into();
        if message.is_blank() {
            return Err(Error::EmptyMessage);
        }
        let id = *message.id.get_or_insert_with(MessageId::random);
        let line = input::composed_message(message, self.expansion, &self.capabilities);
        self.write_in_time(line, Purpose::Message).await?;
        Ok(id)
    }

    /// Ends the turn; its `result` says `error_during_execution`. The session continues.
    ///
    /// # Errors
    /// As [`Self::control`].
    pub async fn interrupt(&self) -> Result<(), Error> {
        self.control(&HostRequest::Interrupt).await.map(drop)
    }

    /// Changes the model; `None` is the default one.
    ///
    /// # Errors
    /// As [`Self::control`].
    pub async fn set_model(&self, model: Option<&str>) -> Result<(), Error> {
        self.control(&HostRequest::SetModel(model.map(str::to_owned)))
            .await
            .map(drop)
    }

    /// Changes the permission mode.
    ///
    /// # Errors
    /// As [`Self::control`].
    pub async fn set_permission_mode(&self, mode: impl Into<PermissionMode>) -> Result<(), Error> {
        self.control(&HostRequest::SetPermissionMode(mode.into()))
            .await
            .map(drop)
    }

    /// Sends a control request and waits for its response. The response is among the events too.
    ///
    /// # Errors
    /// If the CLI refuses, does not answer in time, or the session is closed.
    pub async fn control(&self, request: &HostRequest) -> Result<Option<RawJson>, Error> {
        let _waiting = self.link.wait_guard();
        let number = self.next_request.fetch_add(1, Ordering::Relaxed) + 1;
        let request_id = format!("host-{number}");
        let line = input::host_request(&request_id, request);
        let (response, received) = oneshot::channel();
        let purpose = Purpose::Request { request_id, response };
        let exchange = async {
            self.write(line, purpose).await?;
            received.await.map_err(|_| Error::Closed)
        };
        let subtype = || request.subtype().to_owned();
        let response = clock::timeout(self.control_deadline, exchange).await;
        let response = response.ok_or_else(|| Error::Unanswered {
            subtype: subtype(),
            deadline: self.control_deadline,
        })??;
        match response.body {
            ControlResponseBody::Success { response, .. } => Ok(response),
            ControlResponseBody::Error {
                error, error_code, ..
            } => Err(Error::Refused {
                subtype: subtype(),
                message: error.map(|error| error.to_string()).unwrap_or_default().into(),
                code: error_code.map(|code| code.to_string()),
            }),
            ControlResponseBody::Other { raw, .. } => Ok(Some(raw)),
        }
    }

    /// Announces the hooks and tools of a host. The CLI must know them before its first message.
    pub(super) async fn initialize(&self, host: &Host) -> Result<(), Error> {
        let Some(request) = host.initialize() else {
            return Ok(());
        };
        let patient = Self {
            control_deadline: self.control_deadline.max(INITIALIZE_DEADLINE),
            ..self.clone()
        };
        patient.control(&request).await.map(drop)
    }

    /// Answers a request of the CLI: `can_use_tool`, or any other by [`Answer::Body`].
    ///
    /// # Errors
    /// If the CLI does not read the answer in time, or the session is closed. The CLI ignores an answer that it no longer waits for.
    pub async fn answer(&self, request_id: &str, answer: impl Into<Answer>) -> Result<(), Error> {
        let line = input::answer(request_id, &answer.into());
        let request_id = request_id.to_owned();
        self.write_in_time(line, Purpose::Answer { request_id }).await
    }

    /// Answers the questions of an `AskUserQuestion` request: pairs of the question's text and the answer.
    ///
    /// # Errors
    /// If the request's input cannot be sent back, or the session is closed.
    pub async fn answer_questions<'a>(
        &self,
        request_id: &str,
        request_input: &RawJson,
        answers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<(), Error> {
        let answer = PermissionAnswer::answers(request_input, answers)?;
        self.answer(request_id, answer).await
    }

    /// Closes the CLI's input after everything that was sent: it finishes its turn, waits for background work and
    /// exits. Further calls fail, also those of clones.
    ///
    /// A CLI that does not read what was sent gets as long as for answering a control request
    /// ([`ClientBuilder::control_deadline`](crate::ClientBuilder::control_deadline)). Then its input ends where it is,
    /// possibly within a line, and calls that still wait fail.
    pub async fn close(&self) {
        let _waiting = self.link.wait_guard();
        self.link.close_input();
        self.link.input_closed().await;
    }

    /// Asks the CLI to exit now, and closes its input. A CLI that is too old to be asked exits after its turn.
    ///
    /// # Errors
    /// As [`Self::control`]; the input is closed in any case.
    pub async fn end(&self) -> Result<(), Error> {
        let asked = if self.capabilities.has(Feature::EndSession) {
            self.control(&HostRequest::EndSession).await.map(drop)
        } else {
            Ok(())
        };
        self.close().await;
        asked
    }

    async fn write_in_time(&self, line: Bytes, purpose: Purpose) -> Result<(), Error> {
        let deadline = self.send_deadline;
        let written = clock::timeout(deadline, self.write(line, purpose)).await;
        written.ok_or(Error::Unread { deadline })?
    }

    async fn write(&self, line: Bytes, purpose: Purpose) -> Result<(), Error> {
        let _waiting = self.link.wait_guard();
        let (written, receipt) = oneshot::channel();
        let command = WireCommand {
            line,
            written: Some(written),
            purpose,
        };
        let sent = self.link.send_when_ready(command).await;
        sent.map_err(|_| Error::Closed)?;
        receipt.await.map_err(|_| Error::Closed)
    }
}
