//! Where agents have worked.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use jiff::Timestamp;
use ralph_store::{RunQuery, RunSummary};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::confinement::visible_workspaces;
use super::input::{Parameters, limit};
use super::live_overlay::overlay;
use super::page_of::{RunPlace, page_of, parse_cursor};
use crate::app::App;
use crate::auth::Principal;
use crate::problem::Problem;

/// How many runs are looked at: what was before them is not recent.
const RECENT_RUNS: usize = 1000;

/// Which workspaces.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct WorkspacesParameters {
    /// `next` of the page before.
    #[param(nullable = false)]
    cursor: Option<String>,
    /// How many at most.
    #[param(minimum = 1, maximum = 200, default = 50, nullable = false)]
    limit: Option<u32>,
}

/// Where agents have worked, the last one first.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Workspaces {
    /// The workspaces.
    items: Vec<Workspace>,
    /// Gives the next page, as `cursor`; null on the last one.
    #[schema(required)]
    next: Option<String>,
}

/// Where agents have worked.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Workspace {
    /// The directory.
    path: String,
    /// Whether it is still there.
    is_there: bool,
    /// How many of the last 1,000 runs were there.
    runs: u32,
    /// The newest of them.
    last_run: String,
    /// Which agent that was.
    last_backend: String,
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    last_started_at: Timestamp,
}

/// Lists where agents have worked lately.
#[utoipa::path(get, path = "/api/v1/workspaces", operation_id = "workspaces_list", tag = "runs", params(WorkspacesParameters),
    responses((status = 200, description = "The workspaces, the last one first.", body = Workspaces)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(principal): Extension<Principal>,
    Parameters(asked): Parameters<WorkspacesParameters>,
) -> Result<Json<Workspaces>, Problem> {
    let limit = limit(asked.limit, 50, 200)?;
    let within = visible_workspaces(&app, &principal).await?;
    let recent = workspaces_of(&recent_runs(&app, within).await?);
    let after = parse_cursor(asked.cursor.as_deref())?;
    let place = |item: &Workspace| RunPlace::new(item.last_started_at, &item.last_run);
    let (mut items, next) = page_of(recent, after.as_ref(), limit, place);
    let next = next.map(|place| place.to_string());
    let paths = items.iter().map(|item| item.path.clone()).collect();
    let looked = app.directory_probe.probe(paths).await;
    for (item, is_there) in items.iter_mut().zip(looked) {
        item.is_there = is_there;
    }
    Ok(Json(Workspaces { items, next }))
}

/// The last runs in these workspaces, newest first, those that go on included; `None` for all workspaces.
pub(super) async fn recent_runs(app: &App, within: Option<Vec<String>>) -> Result<Vec<RunSummary>, Problem> {
    let query = RunQuery {
        within,
        limit: RECENT_RUNS,
        ..RunQuery::default()
    };
    let page = app.store.runs(&query).await?;
    Ok(overlay(app, &query, page).await?.items)
}

fn workspaces_of(runs: &[RunSummary]) -> Vec<Workspace> {
    let mut items: Vec<Workspace> = Vec::new();
    let mut places = HashMap::new();
    // Of a run whose first record is lost nobody knows where it was.
    for run in runs.iter().filter(|run| !run.workspace.is_empty()) {
        let place = *places.entry(&run.workspace).or_insert(items.len());
        match items.get_mut(place) {
            Some(item) => item.runs += 1,
            None => items.push(Workspace {
                path: run.workspace.clone(),
                is_there: false,
                runs: 1,
                last_run: run.id.clone(),
                last_backend: run.backend.clone(),
                last_started_at: run.started_at,
            }),
        }
    }
    items
}
