//! `/health` and `/ready`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;

/// How the server is, for those who only watch over it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct HealthReport {
    status: HealthStatus,
}

/// How the server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum HealthStatus {
    /// Everything works.
    Ok,
    /// Runs go on; something else does not work. `/ready` says what.
    Degraded,
}

/// Whether the server can be used.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ReadyReport {
    /// Whether everything works.
    is_ready: bool,
    /// The server's version.
    version: &'static str,
    /// `sqlite` or `postgres`.
    engine: &'static str,
    /// What is wrong.
    problems: Vec<String>,
    /// How many records the text index lacks.
    text_lag: u64,
    /// How many runs have something that is not in the index yet.
    runs_waiting: usize,
}

/// Says whether the server works, to everybody on this machine.
#[utoipa::path(get, path = "/health", operation_id = "health", tag = "server",
    responses((status = 200, description = "It answers.", body = HealthReport)))]
pub(super) async fn health(State(app): State<Arc<App>>) -> Json<HealthReport> {
    // Anybody may ask, so this waits for nothing and asks no database: writing to it says often enough how it is.
    let is_ok = app.live.index_problem().is_none();
    let status = if is_ok {
        HealthStatus::Ok
    } else {
        HealthStatus::Degraded
    };
    Json(HealthReport { status })
}

/// Says whether the server can be used, and what is wrong if not.
#[utoipa::path(get, path = "/ready", operation_id = "ready", tag = "server",
    responses(
        (status = 200, description = "It can.", body = ReadyReport),
        (status = 503, description = "Something does not work.", body = ReadyReport),
    ))]
pub(super) async fn ready(State(app): State<Arc<App>>) -> (StatusCode, Json<ReadyReport>) {
    let health = app.store.health().await;
    let catching_up =
        (!app.live.has_caught_up()).then_some("the index is being brought up to date with the runs on disk");
    let problems: Vec<String> = health
        .problem
        .into_iter()
        .chain(app.live.index_problem())
        .chain(catching_up.map(ToOwned::to_owned))
        .collect();
    let is_ready = problems.is_empty();
    let report = ReadyReport {
        is_ready,
        version: app.version,
        engine: health.engine,
        problems,
        text_lag: health.text_lag,
        runs_waiting: app.live.index_waiting(),
    };
    let status = if is_ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(report))
}
