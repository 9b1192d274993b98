//! What was spent.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use ralph_store::{CostGroup, CostQuery, CostRow};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::confinement::visible_workspaces;
use super::input::{Parameters, limit, time};
use super::schema;
use crate::app::App;
use crate::auth::Principal;
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
    /// `next` of the page before.
    #[param(nullable = false)]
    cursor: Option<String>,
    /// How many at most.
    #[param(minimum = 1, maximum = 1000, default = 1000, nullable = false)]
    limit: Option<u32>,
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
    /// Gives the next page, as `cursor`; null on the last one.
    #[schema(required)]
    next: Option<String>,
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
///
/// Of runs that ended more than a day ago, and of removed ones, daily sums are kept: what such a run used on a day (UTC)
/// counts at the time of its last message of that day.
#[utoipa::path(get, path = "/api/v1/costs", operation_id = "costs_list", tag = "costs", params(CostsParameters),
    responses((status = 200, description = "What was spent.", body = Costs)))]
pub(super) async fn costs(
    State(app): State<Arc<App>>,
    Extension(principal): Extension<Principal>,
    Parameters(asked): Parameters<CostsParameters>,
) -> Result<Json<Costs>, Problem> {
    let limit = limit(asked.limit, 1000, 1000)?;
    let query = CostQuery {
        within: visible_workspaces(&app, &principal).await?,
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
        after: asked.cursor,
        // One more, to know whether there are more.
        limit: limit + 1,
    };
    let mut rows = app.store.costs(&query).await?;
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| has_more).map(|last| last.key.clone());
    let items = rows.into_iter().map(Cost::from).collect();
    Ok(Json(Costs { items, next }))
}
