//! Speaking to a running CLI.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot, watch};

use super::connection::PendingRequests;
use super::tasks::Order;
use crate::capabilities::{Capabilities, Feature};
use crate::client::Busy;
use crate::error::Error;
use crate::event::{ControlResponseBody, PermissionMode};
use crate::input::{self, Answer, HostRequest, MessageId, PermissionAnswer, UserMessage};
use crate::json::RawJson;
use crate::request::Expansion;

/// Speaks to a running CLI. Cheap to clone; when the last one is dropped, the CLI sees the end of its input, finishes
/// its turn and exits.
///
/// Calls return once the CLI's pipe has the line. Events are read all the while, also if the caller is the one who
/// should read them. A call that is given up before its line was begun has no effect.
#[derive(Debug, Clone)]
pub struct SessionSender {
    pub(super) orders: mpsc::Sender<Order>,
    /// Beside the orders, which may wait for a process that does not read.
    pub(super) closing: Arc<watch::Sender<bool>>,
    pub(super) pending: Arc<PendingRequests>,
    pub(super) busy: Busy,
    pub(super) capabilities: Capabilities,
    pub(super) expansion: Expansion,
    pub(super) deadline: Duration,
}

impl SessionSender {
    /// Says something. Between turns it starts one; during a turn it waits for the next one, or joins this one
    /// while a tool runs. What becomes of it is told by [`Receipt`](super::Receipt)s.
    ///
    /// # Errors
    /// When the message is empty or the session is closed.
    pub async fn send(&self, message: impl Into<UserMessage>) -> Result<MessageId, Error> {
        let mut message = message.into();
        if message.is_blank() {
            return Err(Error::EmptyMessage);
        }
        let id = *message.id.get_or_insert_with(MessageId::random);
        self.write(input::composed_message(
            message,
            self.expansion,
            &self.capabilities,
        ))
        .await?;
        Ok(id)
    }

    /// Ends the turn; its `result` says `error_during_execution`. The session goes on.
    ///
    /// # Errors
    /// As [`Self::control`].
    pub async fn interrupt(&self) -> Result<(), Error> {
        self.control(&HostRequest::Interrupt).await.map(drop)
    }

    /// Uses another model from now on; `None` is the default one.
    ///
    /// # Errors
    /// As [`Self::control`].
    pub async fn set_model(&self, model: Option<&str>) -> Result<(), Error> {
        self.control(&HostRequest::SetModel(model.map(str::to_owned)))
            .await
            .map(drop)
    }

    /// Changes what may happen without asking.
    ///
    /// # Errors
    /// As [`Self::control`].
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<(), Error> {
        self.control(&HostRequest::SetPermissionMode(mode))
            .await
            .map(drop)
    }

    /// Asks the CLI to do something and waits for its response. The response is among the events too.
    ///
    /// # Errors
    /// When it refuses, does not answer in time, or the session is closed.
    pub async fn control(&self, request: &HostRequest) -> Result<Option<RawJson>, Error> {
        let _busy = self.busy.enter();
        let (request_id, response) = self.pending.begin().ok_or(Error::Closed)?;
        let forget = Forget {
            pending: &self.pending,
            request_id: &request_id,
        };
        let exchange = async {
            self.write(input::host_request(&request_id, request)).await?;
            response.await.map_err(|_| Error::Closed)
        };
        let response = tokio::time::timeout(self.deadline, exchange).await;
        drop(forget);
        let subtype = || request.subtype().to_owned();
        match response
            .map_err(|_| Error::Unanswered {
                subtype: subtype(),
                deadline: self.deadline,
            })??
            .body
        {
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

    /// Answers a request of the CLI: `can_use_tool`, or any other by [`Answer::Body`].
    ///
    /// # Errors
    /// When the session is closed. An answer that nobody waits for any more is ignored by the CLI.
    pub async fn answer(&self, request_id: &str, answer: impl Into<Answer>) -> Result<(), Error> {
        self.write(input::answer(request_id, &answer.into())).await
    }

    /// Answers the questions of an `AskUserQuestion` request: pairs of the question's text and the answer.
    ///
    /// # Errors
    /// When the request's input cannot be sent back, or the session is closed.
    pub async fn answer_questions<'a>(
        &self,
        request_id: &str,
        request_input: &RawJson,
        answers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<(), Error> {
        let answer = PermissionAnswer::answers(request_input, answers)?;
        self.answer(request_id, answer).await
    }

    /// Ends the CLI's input after all that was sent: it finishes its turn, waits for background work and exits.
    /// Further calls fail, also of clones.
    ///
    /// A CLI that does not read what was sent is given as long as for answering a control request
    /// ([`ClientBuilder::control_deadline`](crate::ClientBuilder::control_deadline)). Then its input ends where it is,
    /// possibly within a line, and calls that still wait fail.
    pub async fn close(&self) {
        let _busy = self.busy.enter();
        self.closing.send_replace(true);
        // The writer is gone once the input has ended.
        self.closing.closed().await;
    }

    /// Asks the CLI to exit now, and ends its input. One that is too old to be asked exits after its turn.
    ///
    /// # Errors
    /// As [`Self::control`]; its input is ended in any case.
    pub async fn end(&self) -> Result<(), Error> {
        let asked = if self.capabilities.has(Feature::EndSession) {
            self.control(&HostRequest::EndSession).await.map(drop)
        } else {
            Ok(())
        };
        self.close().await;
        asked
    }

    async fn write(&self, line: Bytes) -> Result<(), Error> {
        let _busy = self.busy.enter();
        let (written, confirmation) = oneshot::channel();
        self.orders
            .send(Order { line, written })
            .await
            .map_err(|_| Error::Closed)?;
        confirmation.await.map_err(|_| Error::Closed)
    }
}

/// Removes a request that nobody waits for any more, also if the caller gave up.
struct Forget<'a> {
    pending: &'a PendingRequests,
    request_id: &'a str,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.pending.forget(self.request_id);
    }
}
