//! `GET …/failures`: what went wrong in a run, without the rest of its records.

use std::sync::Arc;

use agent_api::ErrorInfo;
use axum::Json;
use axum::extract::State;
use ralph_run::{PageQuery, RecordFilter, RecordHead, RecordLine};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::input::{InPath, Parameters, limit};
use super::records::{self, Neighbours, range};
use crate::app::App;
use crate::problem::Problem;

/// The records that are read for a page. Their outputs are not sent, so a page is much smaller.
pub(super) const MAX_READ_BYTES: usize = 16 << 20;
const MAX_MESSAGE_CHARACTERS: usize = 500;

/// Which failures.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct FailuresParameters {
    /// Only those after this record.
    #[param(nullable = false)]
    after: Option<u64>,
    /// Only those before this record. Without `after` these are the last ones before it.
    #[param(nullable = false)]
    before: Option<u64>,
    /// `next` of the page before. It continues in the same direction, and replaces `after` and `before`.
    #[param(nullable = false)]
    cursor: Option<String>,
    /// How many at most.
    #[param(minimum = 1, maximum = 1000, default = 100, nullable = false)]
    limit: Option<u32>,
}

/// A page of failures, in order.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FailurePage {
    /// The failures.
    items: Vec<Failure>,
    /// Gives the next page in the same direction, as `cursor`; null if there is none now. A page can be empty and still have
    /// a next one: only a part of a long journal is searched at once.
    #[schema(required)]
    next: Option<String>,
    /// Gives the page behind this one, as `after`; null if there is none now.
    #[schema(required)]
    next_after: Option<u64>,
    /// Gives the page before, as `before`; null if this is the first one.
    #[schema(required)]
    next_before: Option<u64>,
}

/// Something that went wrong.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Failure {
    /// The record that says so.
    seq: u64,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    at: jiff::Timestamp,
    /// What failed.
    kind: FailureKind,
    /// The tool call, if `kind` is `tool`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    item: Option<String>,
    /// The verify command, if `kind` is `verify`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    command: Option<String>,
    /// What is known about it: the error, or the end of the output.
    message: String,
}

/// What failed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum FailureKind {
    /// A tool call.
    Tool,
    /// A verify command.
    Verify,
    /// The agent reported an error.
    Error,
    /// The agent's process ended with an error.
    Attempt,
}

/// Lists what went wrong in a run: failed tool calls and verify commands, errors, and attempts that ended with an error.
#[utoipa::path(get, path = "/api/v1/runs/{id}/failures", operation_id = "failures_list", tag = "records",
    params(("id" = String, Path, description = "The run."), FailuresParameters),
    responses((status = 200, description = "A page of failures.", body = FailurePage)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
    Parameters(asked): Parameters<FailuresParameters>,
) -> Result<Json<FailurePage>, Problem> {
    app.run(&id).await?;
    let (after, before) = range(asked.after, asked.before, asked.cursor.as_deref())?;
    let query = PageQuery {
        after,
        before,
        kinds: Vec::new(),
        filter: Some(RecordFilter::Failures),
        limit: limit(asked.limit, 100, 1000)?,
        max_bytes: MAX_READ_BYTES,
    };
    let is_backward = query.is_backward();
    let page = records::read(&app, &id, query).await?;
    let neighbours = Neighbours::of(&page, is_backward);
    Ok(Json(FailurePage {
        items: page.records.iter().filter_map(failure).collect(),
        next: neighbours.next,
        next_after: neighbours.next_after,
        next_before: neighbours.next_before,
    }))
}

fn failure(record: &RecordLine) -> Option<Failure> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Data {
        item: Option<String>,
        command: Option<String>,
        output: String,
        message: String,
        error: Option<ErrorInfo>,
    }
    let head = RecordHead::parse(&record.line)?;
    let data: Data = head.data().unwrap_or_default();
    let error = data.error.map(|error| error.message);
    let (kind, text) = match head.event.kind.as_ref() {
        "tool_finished" => (FailureKind::Tool, data.output),
        "verify_finished" => (FailureKind::Verify, data.output),
        "attempt_ended" => (FailureKind::Attempt, error.unwrap_or_default()),
        _ => (FailureKind::Error, data.message),
    };
    Some(Failure {
        seq: record.seq,
        at: head.at(),
        kind,
        item: data.item,
        command: data.command,
        message: end_of(text.trim_end()),
    })
}

fn end_of(text: &str) -> String {
    let start = text.char_indices().rev().nth(MAX_MESSAGE_CHARACTERS - 1);
    text.get(start.map_or(0, |(index, _)| index)..)
        .unwrap_or_default()
        .to_owned()
}
