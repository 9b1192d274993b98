//! Starting a session.

use std::sync::Arc;

use agent_process::Control;
use tokio::sync::{mpsc, watch};

use super::connection::PendingRequests;
use super::sender::SessionSender;
use super::tasks::{read_events, write_lines};
use crate::argv::Note;
use crate::client::{Client, Completion, Events, Launched, event_queue, launch};
use crate::error::Error;
use crate::request::SessionRequest;

/// How many lines may wait to be written; then senders wait.
const MOST_WAITING_LINES: usize = 64;

/// A conversation in progress. Its parts can be moved apart; dropping the events, and so the session, stops the
/// process and everything it started.
#[derive(Debug)]
pub struct Session {
    /// What the CLI says. Each turn begins with an `init` and ends with a `result`; responses to control requests
    /// are among them.
    pub events: Events,
    /// Speaks to the CLI.
    pub sender: SessionSender,
    /// How the process ends.
    pub completion: Completion,
    /// Signals and stopping.
    pub control: Control,
    /// What was asked for and cannot be had in full.
    pub notes: Vec<Note>,
}

impl Client {
    /// Starts a conversation. Nothing happens until the first message; the process lives until its input is closed.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use claude_code::event::ControlRequestBody;
    /// use claude_code::input::PermissionAnswer;
    /// use claude_code::{Client, Kind, PermissionHost, SessionRequest};
    ///
    /// let request = SessionRequest::new().permission_host(PermissionHost::Session);
    /// let mut session = Client::builder().build().session(request).await?;
    /// session.sender.send("Remove the build folder.").await?;
    /// while let Some(item) = session.events.next().await {
    ///     let event = item?;
    ///     match event.kind() {
    ///         Kind::ControlRequest(asked) => {
    ///             let ControlRequestBody::CanUseTool(tool) = &asked.body else { continue };
    ///             let (Some(id), Some(input)) = (&asked.request_id, &tool.input) else { continue };
    ///             let answer = match tool.tool_name.as_deref() {
    ///                 Some("Bash") => PermissionAnswer::deny("use the Makefile instead"),
    ///                 _ => PermissionAnswer::allow(input)?,
    ///             };
    ///             session.sender.answer(id, answer).await?;
    ///         }
    ///         Kind::Result(_) => session.sender.close().await,
    ///         _ => {}
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the request cannot be carried out, or the process cannot be started.
    pub async fn session(&self, request: SessionRequest) -> Result<Session, Error> {
        let request = SessionRequest {
            options: request.options.or(self.defaults()),
            ..request
        };
        let (argv, capabilities) = self.command_line(&request).await?;
        let launched = launch(self.binary(), argv, &request.options).await?;
        let Launched {
            reader,
            stdin,
            control,
            completion,
            files,
            notes,
        } = launched;
        let pending = Arc::new(PendingRequests::default());
        let (sink, queue, busy) = event_queue();
        tokio::spawn(read_events(reader, sink, pending.clone()));
        let (orders, received) = mpsc::channel(MOST_WAITING_LINES);
        let (closing, told_to_close) = watch::channel(false);
        let deadline = self.control_deadline();
        if let Some(stdin) = stdin {
            tokio::spawn(write_lines(stdin, received, told_to_close, deadline));
        }
        let sender = SessionSender {
            orders,
            closing: Arc::new(closing),
            pending,
            busy,
            capabilities,
            expansion: request.options.expansion.unwrap_or_default(),
            deadline,
        };
        Ok(Session {
            events: Events::queued(queue, files),
            sender,
            completion,
            control,
            notes,
        })
    }
}
