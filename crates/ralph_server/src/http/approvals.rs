//! `GET approvals`, `POST runs/{id}/approvals/{request}`: permission requests, questions and plans.

use std::sync::Arc;

use agent_api::{GrantId, RequestId};
use axum::extract::State;
use axum::{Extension, Json};
use jiff::Timestamp;
use ralph_run::control::{AnswerChoice, ControlCommand};
use ralph_store::{ApprovalKind, ApprovalQuery, ApprovalRow, ApprovalState, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::commands::{CommandReceipt, Told, tell};
use super::confinement::visible_workspaces;
use super::input::{CommandId, InPath, JsonBody, Parameters, limit};
use crate::app::App;
use crate::auth::Principal;
use crate::problem::{Problem, ProblemCode};

/// Which requests.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ApprovalsParameters {
    /// Only those that wait for an answer.
    #[serde(default)]
    #[param(default = false)]
    pending: bool,
    /// Only those of this run.
    #[param(nullable = false)]
    run: Option<String>,
    /// `next` of the page before.
    #[param(nullable = false)]
    cursor: Option<String>,
    /// How many at most.
    #[param(minimum = 1, maximum = 1000, default = 200, nullable = false)]
    limit: Option<u32>,
}

/// What agents asked, oldest first.
#[derive(Serialize, ToSchema)]
pub(super) struct Approvals {
    /// The requests.
    items: Vec<Approval>,
    /// Gives the next page, as `cursor`; null on the last one.
    #[schema(required)]
    next: Option<String>,
}

/// What an agent asked, and what became of it.
#[derive(Serialize, ToSchema)]
pub(super) struct Approval {
    /// The run.
    run: String,
    /// What the answer must name.
    request: String,
    /// What kind of question.
    #[schema(value_type = KindOfApproval)]
    kind: ApprovalKind,
    /// The record that asked.
    seq: u64,
    /// When it was asked.
    #[schema(value_type = String, format = DateTime)]
    asked_at: Timestamp,
    /// What was asked: the data of the record.
    #[schema(value_type = Object)]
    data: Box<RawValue>,
    /// What became of it.
    #[schema(value_type = StateOfApproval)]
    state: ApprovalState,
    /// When it was closed.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    closed_at: Option<Timestamp>,
}

/// What kind of question.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the shape of another type, for the document")]
pub(super) enum KindOfApproval {
    /// May this tool run?
    Permission,
    /// The agent asks a person.
    Question,
    /// Is this plan good?
    Plan,
}

/// What became of a question.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the shape of another type, for the document")]
pub(super) enum StateOfApproval {
    /// Somebody has to answer.
    Pending,
    /// Somebody did.
    Answered,
    /// Nobody waits for an answer any more.
    Withdrawn,
}

impl From<ApprovalRow> for Approval {
    fn from(row: ApprovalRow) -> Self {
        Self {
            run: row.run,
            request: row.request,
            kind: row.kind,
            seq: row.seq,
            asked_at: row.asked_at,
            data: row.data,
            state: row.state,
            closed_at: row.closed_at,
        }
    }
}

/// An answer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Answer {
    /// It may run this once; a plan is approved.
    Allow {
        /// The lasting permissions that are given with it: ids from the `grants` of the request. None by default.
        #[serde(default)]
        grants: Vec<String>,
    },
    /// Of older clients. Accepted only if the request offers exactly one grant and that is a rule: send `allow` with
    /// `grants` instead.
    AllowAlways,
    /// It may run with these arguments instead.
    AllowChanged {
        /// The arguments.
        input: serde_json::Map<String, serde_json::Value>,
    },
    /// It may not run.
    Deny {
        /// What the model is told.
        #[serde(default)]
        reason: String,
    },
    /// It may not run, and the turn ends.
    DenyAndInterrupt {
        /// What the model is told.
        #[serde(default)]
        reason: String,
    },
    /// Answers to the questions, one for each, in their order.
    Answers {
        /// The answers.
        answers: Vec<String>,
    },
}

impl From<Answer> for AnswerChoice {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Allow { grants } => Self::Allow {
                grants: grants.iter().map(|id| GrantId::new(id)).collect(),
            },
            Answer::AllowAlways => Self::AllowAlways,
            Answer::AllowChanged { input } => Self::AllowChanged { input: input.into() },
            Answer::Deny { reason } => Self::Deny { reason },
            Answer::DenyAndInterrupt { reason } => Self::DenyAndInterrupt { reason },
            Answer::Answers { answers } => Self::Answers { answers },
        }
    }
}

/// Lists what agents asked.
#[utoipa::path(get, path = "/api/v1/approvals", operation_id = "approvals_list", tag = "approvals", params(ApprovalsParameters),
    responses((status = 200, description = "The requests, oldest first.", body = Approvals)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(principal): Extension<Principal>,
    Parameters(asked): Parameters<ApprovalsParameters>,
) -> Result<Json<Approvals>, Problem> {
    let limit = limit(asked.limit, 200, 1000)?;
    let query = ApprovalQuery {
        within: visible_workspaces(&app, &principal).await?,
        run: asked.run,
        is_pending: asked.pending,
        after: asked.cursor.as_deref().map(place).transpose()?,
        limit,
    };
    let page = app.store.approvals(&query).await?;
    let next = page.next.map(mark);
    let items = page.items.into_iter().map(Approval::from).collect();
    Ok(Json(Approvals { items, next }))
}

/// Where the next page begins, as clients give it back.
fn mark((asked_at, run, seq): (Timestamp, String, u64)) -> String {
    format!("{asked_at}/{run}/{seq}")
}

fn place(mark: &str) -> Result<(Timestamp, String, u64), Problem> {
    let mut parts = mark.splitn(3, '/');
    let mut part = || parts.next();
    let place = (|| Some((part()?.parse().ok()?, part()?.to_owned(), part()?.parse().ok()?)))();
    place.ok_or_else(|| StoreError::BadCursor.into())
}

/// Answers a request of an agent. The first answer counts.
#[utoipa::path(post, path = "/api/v1/runs/{id}/approvals/{request}", operation_id = "approvals_answer", tag = "approvals",
    params(("id" = String, Path, description = "The run."), ("request" = String, Path, description = "The request.")),
    request_body = Answer,
    responses((status = 202, description = "The run has it.", body = CommandReceipt)))]
pub(super) async fn answer(
    State(app): State<Arc<App>>,
    InPath((run, request)): InPath<(String, String)>,
    id: CommandId,
    JsonBody(answer): JsonBody<Answer>,
) -> Told {
    if request.len() > 256 {
        let start: String = request.chars().take(64).collect();
        let detail = format!("there is no open request `{start}…`");
        return Err(Problem::new(ProblemCode::RequestNotFound, detail));
    }
    let command = ControlCommand::Answer {
        request: RequestId::new(&request),
        answer: answer.into(),
    };
    tell(&app, &run, id, command).await
}
