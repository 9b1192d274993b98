//! Looking for words in everything that happened.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use jiff::Timestamp;
use ralph_store::{Cursor, Hit, SearchMode, SearchQuery, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::confinement::{retain_visible, visible_workspaces};
use super::input::{Parameters, limit, time, words};
use crate::app::App;
use crate::auth::Principal;
use crate::problem::{Problem, ProblemCode};

const MAX_TEXT_CHARACTERS: usize = 200;

/// What to look for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SearchParameters {
    /// Words, `"phrases in quotes"` and `beginnings*`; all must be there.
    #[param(min_length = 1, max_length = 200)]
    q: String,
    /// How they are meant.
    #[serde(default)]
    #[param(inline)]
    mode: Mode,
    /// Only this run.
    #[param(nullable = false)]
    run: Option<String>,
    /// Only this workspace.
    #[param(nullable = false)]
    workspace: Option<String>,
    /// Only this agent.
    #[param(nullable = false)]
    backend: Option<String>,
    /// Only these kinds of records, with commas between them.
    #[param(nullable = false)]
    kinds: Option<String>,
    /// Only calls of this tool.
    #[param(nullable = false)]
    tool: Option<String>,
    /// From then on.
    #[param(format = DateTime, nullable = false)]
    since: Option<String>,
    /// Before that.
    #[param(format = DateTime, nullable = false)]
    until: Option<String>,
    /// `next` of the page before.
    #[param(value_type = Option<String>, nullable = false)]
    cursor: Option<Cursor>,
    /// How many at most.
    #[param(minimum = 1, maximum = 100, default = 20, nullable = false)]
    limit: Option<u32>,
}

/// How a search text is meant.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Mode {
    /// Words, by the index.
    #[default]
    Words,
    /// Exactly these characters, anywhere: newest first, within a time limit.
    Substring,
}

/// What was found.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Found {
    /// The records, best first.
    items: Vec<FoundRecord>,
    /// Gives the next page, as `cursor`; null on the last one.
    #[schema(required)]
    next: Option<String>,
    /// Whether everything was looked at.
    is_complete: bool,
    /// How many records the index lacks yet, of the workspaces that may be seen.
    lag: u64,
}

/// A record that was found.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FoundRecord {
    /// The run.
    run: String,
    /// The record.
    seq: u64,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// Its kind.
    kind: String,
    /// Some words around the first place, as plain text.
    snippet: String,
    /// Where the words are in the snippet.
    marks: Vec<Mark>,
}

/// A place in a snippet, in characters.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Mark {
    /// Where it begins.
    start: u32,
    /// Where it ends.
    end: u32,
}

impl From<Hit> for FoundRecord {
    fn from(hit: Hit) -> Self {
        Self {
            run: hit.run,
            seq: hit.seq,
            at: hit.at,
            kind: hit.kind,
            snippet: hit.snippet,
            marks: hit
                .marks
                .into_iter()
                .map(|(start, end)| Mark { start, end })
                .collect(),
        }
    }
}

/// Looks for words in everything that happened.
#[utoipa::path(get, path = "/api/v1/search", operation_id = "search", tag = "search", params(SearchParameters),
    responses((status = 200, description = "What was found.", body = Found)))]
pub(super) async fn search(
    State(app): State<Arc<App>>,
    Extension(principal): Extension<Principal>,
    Parameters(asked): Parameters<SearchParameters>,
) -> Result<Json<Found>, Problem> {
    if asked.q.is_empty() || asked.q.chars().count() > MAX_TEXT_CHARACTERS {
        return Err(Problem::new(
            ProblemCode::InvalidParameter,
            "`q` must have 1 to 200 characters",
        ));
    }
    let reveal = |given| app.hidden_cursors.reveal(&principal, given);
    let cursor = match asked.cursor {
        Some(given) => Some(reveal(given).ok_or(StoreError::BadCursor)?),
        None => None,
    };
    let query = SearchQuery {
        within: visible_workspaces(&app, &principal).await?,
        text: asked.q,
        mode: match asked.mode {
            Mode::Words => SearchMode::Words,
            Mode::Substring => SearchMode::Substring,
        },
        run: asked.run,
        workspace: asked.workspace,
        backend: asked.backend,
        kinds: words(asked.kinds.as_deref()),
        tool: asked.tool,
        since: time("since", asked.since.as_deref())?,
        until: time("until", asked.until.as_deref())?,
        cursor,
        limit: limit(asked.limit, 20, 100)?,
    };
    let mut page = app.store.search(&query).await?;
    retain_visible(&app, &principal, &mut page.hits).await?;
    Ok(Json(Found {
        items: page.hits.into_iter().map(FoundRecord::from).collect(),
        next: page.next.map(|next| app.hidden_cursors.hide(&principal, next).0),
        is_complete: page.is_complete,
        lag: page.lag,
    }))
}
