//! The agents there are.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::launch::BackendInfo;

/// The agents there are.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Backends {
    /// The agents.
    items: Vec<Backend>,
}

/// An agent that could run here.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Backend {
    /// Its name.
    name: String,
    /// For people.
    display_name: String,
    /// Whether it is installed.
    is_installed: bool,
    /// Its version.
    version: Option<String>,
    /// Where it is.
    path: Option<String>,
    /// Whether it takes messages while it works.
    takes_messages: bool,
    /// Its capabilities.
    capabilities: Vec<String>,
    /// What is wrong, and what to do.
    problem: Option<String>,
}

impl From<BackendInfo> for Backend {
    fn from(info: BackendInfo) -> Self {
        Self {
            name: info.name,
            display_name: info.display_name,
            is_installed: info.is_installed,
            version: info.version,
            path: info.path.map(|path| path.to_string_lossy().into_owned()),
            takes_messages: info.takes_messages,
            capabilities: info.capabilities,
            problem: info.problem,
        }
    }
}

/// Lists the agents that could run here.
#[utoipa::path(get, path = "/api/v1/backends", tag = "backends",
    responses((status = 200, description = "The agents.", body = Backends)))]
pub(super) async fn list(State(app): State<Arc<App>>) -> Json<Backends> {
    let items = app
        .launcher
        .backends()
        .await
        .into_iter()
        .map(Backend::from)
        .collect();
    Json(Backends { items })
}
