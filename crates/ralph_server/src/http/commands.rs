//! Telling a run something.

use std::sync::Arc;

use agent_api::MicroUsd;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use ralph_run::control::{ControlCommand, ControlRequest, PermissionChoice, Receipt, TopUp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::input::{CommandId, InPath, JsonBody, OptionalJsonBody};
use super::start::whole;
use crate::app::App;
use crate::auth::Principal;
use crate::problem::{Problem, ProblemCode};

const MAX_MODEL_BYTES: usize = 256;

/// The run was told. What comes of it is in its records.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CommandReceipt {
    /// Names the command in the records.
    command_id: String,
    /// Names the message in the records, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    message_id: Option<String>,
    /// Whether it was being done already.
    is_already_done: bool,
    /// More, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    note: Option<String>,
}

/// What may happen without asking.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum PermissionMode {
    /// The agent asks.
    Ask,
    /// Edits need no asking.
    AcceptEdits,
    /// Nothing changes before a plan is approved.
    Plan,
    /// What would be asked is refused.
    Refuse,
    /// Everything is allowed; questions and plans are still asked.
    Bypass,
}

impl From<PermissionMode> for PermissionChoice {
    fn from(mode: PermissionMode) -> Self {
        match mode {
            PermissionMode::Ask => Self::Ask,
            PermissionMode::AcceptEdits => Self::AcceptEdits,
            PermissionMode::Plan => Self::Plan,
            PermissionMode::Refuse => Self::Refuse,
            PermissionMode::Bypass => Self::Bypass,
        }
    }
}

impl From<PermissionChoice> for PermissionMode {
    fn from(choice: PermissionChoice) -> Self {
        match choice {
            PermissionChoice::Ask => Self::Ask,
            PermissionChoice::AcceptEdits => Self::AcceptEdits,
            PermissionChoice::Plan => Self::Plan,
            PermissionChoice::Refuse => Self::Refuse,
            PermissionChoice::Bypass => Self::Bypass,
        }
    }
}

/// How to stop.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Stop {
    /// At once, instead of in good order.
    #[serde(default)]
    kill: bool,
}

/// Which model.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SetModel {
    /// The model; the agent's default if null.
    #[schema(min_length = 1, max_length = 256)]
    model: Option<String>,
}

/// What may happen without asking.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SetPermissionMode {
    mode: PermissionMode,
}

/// How much to add to each limit. At least one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddToLimits {
    /// To the cost limit, in millionths of a dollar.
    #[serde(default, deserialize_with = "whole", alias = "cost")]
    #[schema(minimum = 1)]
    cost_micro_usd: Option<u64>,
    /// To the token limit.
    #[serde(default, deserialize_with = "whole")]
    #[schema(minimum = 1)]
    tokens: Option<u64>,
    /// To the iteration limit.
    #[serde(default, deserialize_with = "whole")]
    #[schema(minimum = 1)]
    iterations: Option<u32>,
    /// To the time limit.
    #[serde(default, deserialize_with = "whole")]
    #[schema(minimum = 1)]
    seconds: Option<u64>,
}

pub(super) type Told = Result<(StatusCode, Json<CommandReceipt>), Problem>;

/// Tells a run something. The answer says that the run has it in its journal.
pub(super) async fn tell(
    app: &App,
    run: &str,
    CommandId { id, principal }: CommandId,
    command: ControlCommand,
) -> Told {
    if let Some(principal) = &principal {
        principal.may_command(&command)?;
    }
    let by = principal.as_ref().map(Principal::actor);
    let command_id = id.clone();
    let receipt: Receipt = app
        .runners
        .command(run, ControlRequest { id, by, command })
        .await?;
    let told = CommandReceipt {
        command_id,
        message_id: receipt.message_id,
        is_already_done: receipt.is_already_done,
        note: receipt.note,
    };
    Ok((StatusCode::ACCEPTED, Json(told)))
}

/// Ends the agent's turn.
#[utoipa::path(post, path = "/api/v1/runs/{id}/interrupt", operation_id = "runs_interrupt", tag = "commands",
    params(("id" = String, Path, description = "The run.")),
    responses((status = 202, description = "The run has it.", body = CommandReceipt)))]
pub(super) async fn interrupt(
    State(app): State<Arc<App>>,
    InPath(run): InPath<String>,
    id: CommandId,
) -> Told {
    tell(&app, &run, id, ControlCommand::Interrupt).await
}

/// Ends a run.
#[utoipa::path(post, path = "/api/v1/runs/{id}/stop", operation_id = "runs_stop", tag = "commands",
    params(("id" = String, Path, description = "The run.")), request_body = Option<Stop>,
    responses((status = 202, description = "The run has it.", body = CommandReceipt)))]
pub(super) async fn stop(
    State(app): State<Arc<App>>,
    InPath(run): InPath<String>,
    id: CommandId,
    OptionalJsonBody(how): OptionalJsonBody<Stop>,
) -> Told {
    let command = if how.kill {
        ControlCommand::Kill
    } else {
        ControlCommand::Stop
    };
    tell(&app, &run, id, command).await
}

/// Lets the agent go on with another model.
#[utoipa::path(post, path = "/api/v1/runs/{id}/model", operation_id = "runs_set_model", tag = "commands",
    params(("id" = String, Path, description = "The run.")), request_body = SetModel,
    responses((status = 202, description = "The run has it.", body = CommandReceipt)))]
pub(super) async fn set_model(
    State(app): State<Arc<App>>,
    InPath(run): InPath<String>,
    id: CommandId,
    JsonBody(SetModel { model }): JsonBody<SetModel>,
) -> Told {
    let is_model =
        |name: &String| (1..=MAX_MODEL_BYTES).contains(&name.len()) && !name.chars().any(char::is_control);
    if !model.as_ref().is_none_or(is_model) {
        let detail = "this cannot be the name of a model";
        return Err(Problem::new(ProblemCode::Unprocessable, detail).in_field("/model"));
    }
    tell(&app, &run, id, ControlCommand::SetModel { model }).await
}

/// Raises limits of a run. One that waits for that continues.
#[utoipa::path(post, path = "/api/v1/runs/{id}/top-up", operation_id = "runs_top_up", tag = "commands",
    params(("id" = String, Path, description = "The run.")), request_body = AddToLimits,
    responses((status = 202, description = "The run has it.", body = CommandReceipt)))]
pub(super) async fn top_up(
    State(app): State<Arc<App>>,
    InPath(run): InPath<String>,
    id: CommandId,
    JsonBody(amounts): JsonBody<AddToLimits>,
) -> Told {
    let AddToLimits {
        cost_micro_usd,
        tokens,
        iterations,
        seconds,
    } = amounts;
    let given = [
        ("/cost_micro_usd", cost_micro_usd),
        ("/tokens", tokens),
        ("/iterations", iterations.map(u64::from)),
        ("/seconds", seconds),
    ];
    if let Some((pointer, _)) = given.iter().find(|(_, amount)| *amount == Some(0)) {
        let detail = "an amount is 0: leave it out, or give at least 1";
        return Err(Problem::new(ProblemCode::Unprocessable, detail).in_field(*pointer));
    }
    let amounts = TopUp {
        cost: cost_micro_usd.map(MicroUsd::new),
        tokens,
        iterations,
        seconds,
    };
    tell(&app, &run, id, ControlCommand::TopUp(amounts)).await
}

/// Changes what may happen without asking.
#[utoipa::path(post, path = "/api/v1/runs/{id}/permission-mode", operation_id = "runs_set_permission_mode", tag = "commands",
    params(("id" = String, Path, description = "The run.")), request_body = SetPermissionMode,
    responses((status = 202, description = "The run has it.", body = CommandReceipt)))]
pub(super) async fn set_permission_mode(
    State(app): State<Arc<App>>,
    InPath(run): InPath<String>,
    id: CommandId,
    JsonBody(SetPermissionMode { mode }): JsonBody<SetPermissionMode>,
) -> Told {
    let mode = mode.into();
    tell(&app, &run, id, ControlCommand::SetPermissionMode { mode }).await
}
