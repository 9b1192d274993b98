//! Messages to an agent, and those that still wait.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use ralph_run::control::{ControlCommand, SendMode};
use ralph_store::{MessageRow, MessageState};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::commands::{CommandReceipt, Told, tell};
use super::input::{CommandId, InPath, JsonBody};
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

/// The messages to an agent, in order.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Queue {
    /// The messages.
    items: Vec<Message>,
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
#[utoipa::path(get, path = "/api/v1/runs/{id}/queue", operation_id = "messages_list", tag = "commands",
    params(("id" = String, Path, description = "The run.")),
    responses((status = 200, description = "The messages, in order.", body = Queue)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    InPath(run): InPath<String>,
) -> Result<Json<Queue>, Problem> {
    app.run(&run).await?;
    let items = app.store.messages(&run).await?;
    let items = items.into_iter().map(Message::from).collect();
    Ok(Json(Queue { items }))
}

/// Changes a message that the agent was not given yet.
#[utoipa::path(patch, path = "/api/v1/runs/{id}/queue/{message_id}", operation_id = "messages_edit", tag = "commands",
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
#[utoipa::path(delete, path = "/api/v1/runs/{id}/queue/{message_id}", operation_id = "messages_withdraw", tag = "commands",
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
        return Err(Problem::new(ProblemCode::Unprocessable, "the message is empty"));
    }
    Ok(())
}
