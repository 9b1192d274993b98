//! `GET backends`: the agents that could run here.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use ralph_store::RunSummary;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::commands::PermissionMode;
use super::input::Parameters;
use super::workspaces::recent_runs;
use crate::app::App;
use crate::launch::{BackendInfo, UntrustedWorkspace};
use crate::problem::Problem;

const MOST_MODELS: usize = 20;

/// The agents there are.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Backends {
    /// The agents.
    items: Vec<Backend>,
    /// Always null: all agents fit on one page.
    #[schema(required)]
    next: Option<String>,
    /// The settings of the workspace that were not used to find them, because its `ralph.yml` is not trusted; null if
    /// there are none.
    untrusted: Option<UntrustedWorkspace>,
}

/// Where to look.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct BackendsParameters {
    /// The workspace whose settings apply: an absolute path; the server's own directory by default.
    #[param(nullable = false)]
    workspace: Option<String>,
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
    #[schema(required)]
    version: Option<String>,
    /// Where it is.
    #[schema(required)]
    path: Option<String>,
    /// Whether it takes messages while it works.
    takes_messages: bool,
    /// Whether it can be told which model to use.
    takes_model: bool,
    /// The models that its last runs used, newest first.
    models: Vec<String>,
    /// What it can be told about what may happen without asking; none if it never asks.
    permission_modes: Vec<PermissionMode>,
    /// Whether an earlier conversation can be gone on with.
    can_resume: bool,
    /// Whether a copy of an earlier conversation can be gone on with.
    can_fork: bool,
    /// Whether it can keep nothing of a conversation.
    can_be_ephemeral: bool,
    /// Its capabilities.
    capabilities: Vec<String>,
    /// What is wrong, and what to do.
    #[schema(required)]
    problem: Option<String>,
}

impl Backend {
    fn new(info: BackendInfo, runs: &[RunSummary]) -> Self {
        let own = runs.iter().filter(|run| run.backend == info.name);
        let mut models: Vec<String> = Vec::new();
        for model in own.filter_map(|run| run.model.as_ref()) {
            if models.len() < MOST_MODELS && !models.contains(model) {
                models.push(model.clone());
            }
        }
        Self {
            name: info.name,
            display_name: info.display_name,
            is_installed: info.is_installed,
            version: info.version,
            path: info.path.map(|path| path.to_string_lossy().into_owned()),
            takes_messages: info.takes_messages,
            takes_model: info.takes_model,
            models,
            permission_modes: info
                .permission_modes
                .into_iter()
                .map(PermissionMode::from)
                .collect(),
            can_resume: info.can_resume,
            can_fork: info.can_fork,
            can_be_ephemeral: info.can_be_ephemeral,
            capabilities: info.capabilities,
            problem: info.problem,
        }
    }
}

/// Lists the agents that could run here. Nothing of a workspace that is not trusted is used or run to find them.
#[utoipa::path(get, path = "/api/v1/backends", operation_id = "backends_list", tag = "backends", params(BackendsParameters),
    responses((status = 200, description = "The agents.", body = Backends)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Parameters(asked): Parameters<BackendsParameters>,
) -> Result<Json<Backends>, Problem> {
    let workspace = asked.workspace.map(PathBuf::from);
    let found = app.launcher.backends(workspace.as_deref()).await?;
    // Without the index it is only unknown which models were used.
    let runs = recent_runs(&app, None).await.unwrap_or_default();
    let items = found.items.into_iter();
    Ok(Json(Backends {
        items: items.map(|info| Backend::new(info, &runs)).collect(),
        next: None,
        untrusted: found.untrusted,
    }))
}
