//! `GET runs` and `GET runs/{id}`: the list of runs, and one of them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use ralph_store::{Cursor, RunQuery, RunSummary};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::confinement::visible_workspaces;
use super::input::{InPath, Parameters, limit, time};
use super::live_overlay::{overlay, tagged};
use super::run_changes::is_tag;
use super::schema;
use super::static_files::is_known;
use crate::app::App;
use crate::auth::{Principal, digest_hex};
use crate::problem::{Problem, ProblemCode};

/// Which runs.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RunsParameters {
    /// Only those in this workspace.
    #[param(nullable = false)]
    workspace: Option<String>,
    /// Only those of this agent.
    #[param(nullable = false)]
    backend: Option<String>,
    /// Only those with this tag.
    #[param(min_length = 1, max_length = 64, nullable = false)]
    tag: Option<String>,
    /// Only those in this state.
    #[param(inline, nullable = false)]
    state: Option<StateFilter>,
    /// Only those that have ended, or have not, as earlier versions had it.
    #[param(ignore)]
    ended: Option<bool>,
    /// Only those that wait for a person, or do not, as earlier versions had it.
    #[param(ignore)]
    waiting: Option<bool>,
    /// Only those that began then or later.
    #[param(format = DateTime, nullable = false)]
    since: Option<String>,
    /// Only those that began before.
    #[param(format = DateTime, nullable = false)]
    until: Option<String>,
    /// `next` of the page before.
    #[param(value_type = Option<String>, nullable = false)]
    cursor: Option<Cursor>,
    /// How many at most; runs that began a moment ago may come in addition.
    #[param(minimum = 1, maximum = 200, default = 50, nullable = false)]
    limit: Option<u32>,
}

/// The states of runs that a list can be narrowed to.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum StateFilter {
    /// It has not ended.
    Active,
    /// It has not ended, and needs nothing from a person.
    Working,
    /// It waits for a person.
    Waiting,
    /// It has ended.
    Ended,
}

impl RunsParameters {
    /// Whether the runs have ended, and whether they wait for a person.
    fn state(&self) -> Result<(Option<bool>, Option<bool>), Problem> {
        let Some(state) = self.state else {
            return Ok((self.ended, self.waiting));
        };
        if self.ended.is_some() || self.waiting.is_some() {
            let detail = "give `state` alone: `ended` and `waiting` are its old names";
            return Err(Problem::new(ProblemCode::InvalidParameter, detail));
        }
        Ok(match state {
            StateFilter::Active => (Some(false), None),
            StateFilter::Working => (Some(false), Some(false)),
            StateFilter::Waiting => (Some(false), Some(true)),
            StateFilter::Ended => (Some(true), None),
        })
    }
}

/// A page of runs, newest first.
#[derive(Serialize, ToSchema)]
pub(super) struct RunPage {
    /// The runs.
    #[schema(value_type = Vec<schema::Run>)]
    items: Vec<RunSummary>,
    /// Gives the next page, as `cursor`; null on the last one.
    #[schema(required)]
    next: Option<String>,
}

/// Lists runs, newest first.
#[utoipa::path(get, path = "/api/v1/runs", operation_id = "runs_list", tag = "runs", params(RunsParameters),
    responses((status = 200, description = "A page of runs.", body = RunPage)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(principal): Extension<Principal>,
    Parameters(asked): Parameters<RunsParameters>,
) -> Result<Json<RunPage>, Problem> {
    let (has_ended, is_waiting) = asked.state()?;
    if asked.tag.as_ref().is_some_and(|tag| !is_tag(tag)) {
        let detail = "`tag` must be a tag: 1 to 64 characters without spaces and commas";
        return Err(Problem::new(ProblemCode::Unprocessable, detail));
    }
    let query = RunQuery {
        within: visible_workspaces(&app, &principal).await?,
        workspace: asked.workspace,
        backend: asked.backend,
        has_ended,
        is_waiting,
        session: None,
        since: time("since", asked.since.as_deref())?,
        until: time("until", asked.until.as_deref())?,
        cursor: asked.cursor,
        limit: limit(asked.limit, 50, 200)?,
    };
    let page = match &asked.tag {
        Some(tag) => tagged(&app, tag, &query).await?,
        None => {
            let page = app.store.runs(&query).await?;
            overlay(&app, &query, page).await?
        }
    };
    Ok(Json(RunPage {
        items: page.items,
        next: page.next.map(|cursor| cursor.0),
    }))
}

/// Shows one run.
#[utoipa::path(get, path = "/api/v1/runs/{id}", operation_id = "runs_get", tag = "runs",
    params(("id" = String, Path, description = "The run."),
        ("if-none-match" = Option<String>, Header, description = "`etag` of an earlier answer.")),
    responses((status = 200, description = "The run.", body = schema::Run,
            headers(("etag" = String, description = "Changes with the run."))),
        (status = 304, description = "The run has not changed.")))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
    asked: HeaderMap,
) -> Result<Response, Problem> {
    let summary = app.run(&id).await?;
    let body = serde_json::to_string(&summary)
        .map_err(|error| Problem::internal("a run cannot be written", &error))?;
    // It is about what is said, whether or not that is compressed on its way.
    let tag = format!("W/\"{}\"", &digest_hex(&[body.as_bytes()])[..32]);
    let headers = [(header::ETAG, tag.clone())];
    if is_known(&asked, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let kind = [(header::CONTENT_TYPE, "application/json")];
    Ok((headers, kind, body).into_response())
}
