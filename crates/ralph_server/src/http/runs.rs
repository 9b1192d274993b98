//! Runs: the list, and one of them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use ralph_store::{Cursor, RunQuery, RunSummary};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::input::{InPath, Parameters, limit, time};
use super::live_overlay::overlay;
use super::schema;
use crate::app::App;
use crate::problem::Problem;

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
    /// Only those that have ended, or have not.
    #[param(nullable = false)]
    ended: Option<bool>,
    /// Only those that wait for a person, or do not.
    #[param(nullable = false)]
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
    Parameters(asked): Parameters<RunsParameters>,
) -> Result<Json<RunPage>, Problem> {
    let query = RunQuery {
        workspace: asked.workspace,
        backend: asked.backend,
        has_ended: asked.ended,
        is_waiting: asked.waiting,
        session: None,
        since: time("since", asked.since.as_deref())?,
        until: time("until", asked.until.as_deref())?,
        cursor: asked.cursor,
        limit: limit(asked.limit, 50, 200)?,
    };
    let page = app.store.runs(&query).await?;
    let page = overlay(&app, &query, page).await?;
    Ok(Json(RunPage {
        items: page.items,
        next: page.next.map(|cursor| cursor.0),
    }))
}

/// Shows one run.
#[utoipa::path(get, path = "/api/v1/runs/{id}", operation_id = "runs_get", tag = "runs",
    params(("id" = String, Path, description = "The run.")),
    responses((status = 200, description = "The run.", body = schema::Run)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
) -> Result<Json<RunSummary>, Problem> {
    let summary = app.run(&id).await?;
    Ok(Json(summary))
}
