//! What was spent.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use ralph_store::{CostGroup, CostQuery, CostRow};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::input::{Parameters, time};
use super::schema;
use crate::app::App;
use crate::problem::Problem;

/// Which costs.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct CostsParameters {
    /// By what they are added up.
    #[serde(default)]
    #[param(inline)]
    group: Group,
    /// From then on.
    #[param(format = DateTime, nullable = false)]
    since: Option<String>,
    /// Before that.
    #[param(format = DateTime, nullable = false)]
    until: Option<String>,
    /// Only this workspace.
    #[param(nullable = false)]
    workspace: Option<String>,
}

/// By what costs are added up.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Group {
    /// Each day, in UTC.
    #[default]
    Day,
    /// Each model.
    Model,
    /// Each workspace.
    Workspace,
    /// Each agent.
    Backend,
    /// Each run.
    Run,
}

/// What was spent.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Costs {
    /// One for each day, model, workspace, agent or run.
    items: Vec<Cost>,
}

/// What something cost in all.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Cost {
    /// The day, model, workspace, agent or run.
    key: String,
    /// Messages of the model.
    messages: u64,
    /// What they used.
    #[schema(value_type = schema::Tokens)]
    tokens: agent_api::Tokens,
    /// What they cost, in millionths of a dollar.
    cost_micro_usd: u64,
    /// Whether some of it is an estimate.
    is_estimate: bool,
}

impl From<CostRow> for Cost {
    fn from(row: CostRow) -> Self {
        Self {
            key: row.key,
            messages: row.messages,
            tokens: row.tokens,
            cost_micro_usd: row.cost.as_micro_usd(),
            is_estimate: row.is_estimate,
        }
    }
}

/// Adds up what was spent.
#[utoipa::path(get, path = "/api/v1/costs", tag = "costs", params(CostsParameters),
    responses((status = 200, description = "What was spent.", body = Costs)))]
pub(super) async fn costs(
    State(app): State<Arc<App>>,
    Parameters(asked): Parameters<CostsParameters>,
) -> Result<Json<Costs>, Problem> {
    let query = CostQuery {
        since: time("since", asked.since.as_deref())?,
        until: time("until", asked.until.as_deref())?,
        workspace: asked.workspace,
        group: match asked.group {
            Group::Day => CostGroup::Day,
            Group::Model => CostGroup::Model,
            Group::Workspace => CostGroup::Workspace,
            Group::Backend => CostGroup::Backend,
            Group::Run => CostGroup::Run,
        },
    };
    let rows = app.store.costs(&query).await?;
    let items = rows.into_iter().map(Cost::from).collect();
    Ok(Json(Costs { items }))
}
