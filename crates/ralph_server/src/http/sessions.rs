//! The agents' conversations.

use std::collections::HashSet;
use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use jiff::Timestamp;
use ralph_store::{Cursor, RunQuery, RunSummary};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::confinement::visible_workspaces;
use super::input::{InPath, Parameters, limit};
use super::live_overlay::overlay;
use super::schema;
use crate::app::App;
use crate::auth::Principal;
use crate::problem::Problem;

/// Which conversations.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SessionsParameters {
    /// Only those in this workspace.
    #[param(nullable = false)]
    workspace: Option<String>,
    /// Only those of this agent.
    #[param(nullable = false)]
    backend: Option<String>,
    /// `next` of the page before.
    #[param(value_type = Option<String>, nullable = false)]
    cursor: Option<Cursor>,
    /// Of how many runs at most.
    #[param(minimum = 1, maximum = 200, default = 50, nullable = false)]
    limit: Option<u32>,
}

/// The conversations of a page of runs, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SessionPage {
    /// The conversations.
    items: Vec<Session>,
    /// Gives the next page, as `cursor`; null on the last one.
    #[schema(required)]
    next: Option<String>,
}

/// An agent's conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Session {
    /// The agent's own name for it.
    id: String,
    /// The newest run that had it.
    run: String,
    /// Which agent.
    backend: String,
    /// Where.
    workspace: String,
    /// The start of that run's first prompt.
    title: String,
    /// When something happened last.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// Whether that run goes on.
    is_running: bool,
}

/// Which runs of a conversation.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SessionRunsParameters {
    /// `next` of the page before.
    #[param(value_type = Option<String>, nullable = false)]
    cursor: Option<Cursor>,
    /// How many at most.
    #[param(minimum = 1, maximum = 200, default = 50, nullable = false)]
    limit: Option<u32>,
}

/// A page of the runs that had a conversation, newest first.
#[derive(Serialize, ToSchema)]
pub(super) struct SessionRuns {
    /// The runs.
    #[schema(value_type = Vec<schema::Run>)]
    items: Vec<RunSummary>,
    /// Gives the next page, as `cursor`; null on the last one.
    #[schema(required)]
    next: Option<String>,
}

/// Lists conversations, newest first. One that goes on over several runs may come again on a later page.
#[utoipa::path(get, path = "/api/v1/sessions", operation_id = "sessions_list", tag = "sessions", params(SessionsParameters),
    responses((status = 200, description = "A page of conversations.", body = SessionPage)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(principal): Extension<Principal>,
    Parameters(asked): Parameters<SessionsParameters>,
) -> Result<Json<SessionPage>, Problem> {
    let query = RunQuery {
        within: visible_workspaces(&app, &principal).await?,
        workspace: asked.workspace,
        backend: asked.backend,
        cursor: asked.cursor,
        limit: limit(asked.limit, 50, 200)?,
        ..RunQuery::default()
    };
    let page = app.store.runs(&query).await?;
    Ok(Json(SessionPage {
        items: sessions_of(&page.items),
        next: page.next.map(|cursor| cursor.0),
    }))
}

/// Lists the runs that had a conversation.
#[utoipa::path(get, path = "/api/v1/sessions/{session}/runs", operation_id = "sessions_runs", tag = "sessions",
    params(("session" = String, Path, description = "The agent's own name for the conversation."),
        SessionRunsParameters),
    responses((status = 200, description = "The runs, newest first; none if nobody knows it.", body = SessionRuns)))]
pub(super) async fn runs_of(
    State(app): State<Arc<App>>,
    Extension(principal): Extension<Principal>,
    InPath(session): InPath<String>,
    Parameters(asked): Parameters<SessionRunsParameters>,
) -> Result<Json<SessionRuns>, Problem> {
    let query = RunQuery {
        within: visible_workspaces(&app, &principal).await?,
        session: Some(session),
        cursor: asked.cursor,
        limit: limit(asked.limit, 50, 200)?,
        ..RunQuery::default()
    };
    let page = app.store.runs(&query).await?;
    let page = overlay(&app, &query, page).await?;
    Ok(Json(SessionRuns {
        items: page.items,
        next: page.next.map(|cursor| cursor.0),
    }))
}

fn sessions_of(runs: &[RunSummary]) -> Vec<Session> {
    let mut seen = HashSet::new();
    let sessions = runs
        .iter()
        .flat_map(|run| run.session_ids.iter().rev().map(move |id| (run, id)));
    sessions
        .filter(|(run, id)| seen.insert((run.backend.as_str(), id.as_str())))
        .map(|(run, id)| Session {
            id: id.clone(),
            run: run.id.clone(),
            backend: run.backend.clone(),
            workspace: run.workspace.clone(),
            title: run.title.clone(),
            updated_at: run.updated_at,
            is_running: !run.activity.has_ended(),
        })
        .collect()
}
