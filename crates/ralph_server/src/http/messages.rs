//! `…/messages`: messages to an agent, sent, listed, changed and withdrawn. `…/queue` is the old name of the same.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use ralph_run::control::{ControlCommand, SendMode};
use ralph_store::{MessageRow, MessageState};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::commands::{CommandReceipt, Told, tell};
use super::input::{CommandId, InPath, JsonBody, Parameters, limit};
use super::page_of::{page_of, parse_cursor};
use crate::app::App;
use crate::problem::{Problem, ProblemCode};

/// A message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewMessage {
    /// What the agent is told.
    #[schema(min_length = 1)]
    text: String,
    /// When the agent is to see it.
    #[serde(default)]
    mode: MessageMode,
}

/// When an agent is to see a message.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum MessageMode {
    /// As soon as it can.
    #[default]
    Steer,
    /// When its turn is over.
    Queue,
}

/// Another text.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EditMessage {
    /// What the agent is told instead.
    #[schema(min_length = 1)]
    text: String,
}

/// Which messages.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct MessagesParameters {
    /// `next` of the page before.
    #[param(nullable = false)]
    cursor: Option<String>,
    /// How many at most.
    #[param(minimum = 1, maximum = 1000, default = 1000, nullable = false)]
    limit: Option<u32>,
}

/// A page of the messages to an agent, in order.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MessagePage {
    /// The messages.
    items: Vec<Message>,
    /// Gives the next page, as `cursor`; null on the last one.
    #[schema(required)]
    next: Option<String>,
}

/// A message to an agent.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Message {
    /// Names it.
    id: String,
    /// The command that brought it.
    command_id: String,
    /// The record.
    seq: u64,
    /// When it came.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// `steer` or `queue`.
    mode: String,
    /// The message, redacted.
    text: String,
    /// What became of it.
    #[schema(value_type = StateOfMessage)]
    state: MessageState,
}

/// What became of a message.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the shape of another type, for the document")]
pub(super) enum StateOfMessage {
    /// It waits for the end of the turn.
    Queued,
    /// It was given to the agent.
    Sent,
    /// The agent says that it has it.
    Delivered,
    /// Somebody took it back.
    Withdrawn,
    /// The run ended first.
    Lost,
}

impl From<MessageRow> for Message {
    fn from(row: MessageRow) -> Self {
        Self {
            id: row.id,
            command_id: row.command_id,
            seq: row.seq,
            at: row.at,
            mode: row.mode,
            text: row.text,
            state: row.state,
        }
    }
}

/// Says something to the agent.
#[utoipa::path(post, path = "/api/v1/runs/{id}/messages", operation_id = "messages_send", tag = "commands",
    params(("id" = String, Path, description = "The run.")), request_body = NewMessage,
    responses((status = 202, description = "The run has it, and it is in its journal.", body = CommandReceipt)))]
pub(super) async fn send(
    State(app): State<Arc<App>>,
    InPath(run): InPath<String>,
    id: CommandId,
    JsonBody(NewMessage { text, mode }): JsonBody<NewMessage>,
) -> Told {
    check(&text)?;
    let mode = match mode {
        MessageMode::Steer => SendMode::Steer,
        MessageMode::Queue => SendMode::Queue,
    };
    tell(&app, &run, id, ControlCommand::Send { text, mode }).await
}

/// Lists the messages to an agent, and what became of them.
#[utoipa::path(get, path = "/api/v1/runs/{id}/messages", operation_id = "messages_list", tag = "commands",
    params(("id" = String, Path, description = "The run."), MessagesParameters),
    responses((status = 200, description = "The messages, in order.", body = MessagePage)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    InPath(run): InPath<String>,
    Parameters(asked): Parameters<MessagesParameters>,
) -> Result<Json<MessagePage>, Problem> {
    let limit = limit(asked.limit, 1000, 1000)?;
    app.run(&run).await?;
    let messages = app.store.messages(&run).await?;
    let messages = messages.into_iter().map(Message::from).collect();
    let after = parse_cursor(asked.cursor.as_deref())?;
    let (items, next) = page_of(messages, after.as_ref(), limit, |message: &Message| message.seq);
    let next = next.map(|seq| seq.to_string());
    Ok(Json(MessagePage { items, next }))
}

/// Changes a message that the agent was not given yet.
#[utoipa::path(patch, path = "/api/v1/runs/{id}/messages/{message_id}", operation_id = "messages_edit", tag = "commands",
    params(("id" = String, Path, description = "The run."), ("message_id" = String, Path, description = "The message.")),
    request_body = EditMessage,
    responses((status = 202, description = "The run has it.", body = CommandReceipt)))]
pub(super) async fn edit(
    State(app): State<Arc<App>>,
    InPath((run, message_id)): InPath<(String, String)>,
    id: CommandId,
    JsonBody(EditMessage { text }): JsonBody<EditMessage>,
) -> Told {
    check(&text)?;
    tell(&app, &run, id, ControlCommand::EditMessage { message_id, text }).await
}

/// Takes back a message that the agent was not given yet.
#[utoipa::path(delete, path = "/api/v1/runs/{id}/messages/{message_id}", operation_id = "messages_withdraw", tag = "commands",
    params(("id" = String, Path, description = "The run."), ("message_id" = String, Path, description = "The message.")),
    responses((status = 202, description = "The run has it.", body = CommandReceipt)))]
pub(super) async fn withdraw(
    State(app): State<Arc<App>>,
    InPath((run, message_id)): InPath<(String, String)>,
    id: CommandId,
) -> Told {
    tell(&app, &run, id, ControlCommand::WithdrawMessage { message_id }).await
}

fn check(text: &str) -> Result<(), Problem> {
    if text.trim().is_empty() {
        let problem = Problem::new(ProblemCode::Unprocessable, "the message is empty");
        return Err(problem.in_field("/text"));
    }
    Ok(())
}
