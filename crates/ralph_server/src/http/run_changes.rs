//! `PATCH` and `DELETE runs/{id}`: the title and tags of a run, and its removal.

use std::io;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use ralph_store::RunSummary;
use serde::Deserialize;
use utoipa::ToSchema;

use super::input::{InPath, JsonBody};
use super::schema;
use crate::app::App;
use crate::problem::{Problem, ProblemCode};
use crate::runners::Removal;

const MAX_TITLE_CHARACTERS: usize = 200;
const MAX_TAGS: usize = 20;
const MAX_TAG_CHARACTERS: usize = 64;

/// What to change about a run. What is left out stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeRun {
    /// The title; null for the start of the prompt.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 200)]
    title: Option<Option<String>>,
    /// All tags of the run.
    #[serde(default)]
    #[schema(max_items = 20, nullable = false)]
    tags: Option<Vec<String>>,
}

/// Tells `null` from a field that is left out.
fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Changes the title and the tags of a run.
#[utoipa::path(patch, path = "/api/v1/runs/{id}", operation_id = "runs_update", tag = "runs",
    params(("id" = String, Path, description = "The run.")), request_body = ChangeRun,
    responses((status = 200, description = "The run as it is now.", body = schema::Run)))]
pub(super) async fn update(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
    JsonBody(change): JsonBody<ChangeRun>,
) -> Result<Json<RunSummary>, Problem> {
    app.run(&id).await?;
    let labels = app.live.board().labels();
    let mut wanted = labels.get(&id);
    if let Some(title) = change.title {
        wanted.title = title.map(|title| check_title(&title)).transpose()?;
    }
    if let Some(tags) = change.tags {
        wanted.tags = check_tags(tags)?;
    }
    match Arc::clone(labels).set(&id, wanted).await {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Problem::no_run(&id)),
        Err(error) => return Err(Problem::internal("cannot write the labels of a run", &error)),
    }
    app.live.board().relabel(&id);
    Ok(Json(app.run(&id).await?))
}

fn check_title(title: &str) -> Result<String, Problem> {
    let title = title.trim();
    let is_good = !title.is_empty()
        && title.chars().count() <= MAX_TITLE_CHARACTERS
        && !title.chars().any(char::is_control);
    if is_good {
        return Ok(title.to_owned());
    }
    let detail = "a title is one line of 1 to 200 characters";
    Err(Problem::new(ProblemCode::Unprocessable, detail).in_field("/title"))
}

pub(super) fn is_tag(text: &str) -> bool {
    (1..=MAX_TAG_CHARACTERS).contains(&text.chars().count())
        && !text
            .chars()
            .any(|char| char.is_control() || char.is_whitespace() || char == ',')
}

fn check_tags(tags: Vec<String>) -> Result<Vec<String>, Problem> {
    if tags.len() > MAX_TAGS {
        let detail = "a run has at most 20 tags";
        return Err(Problem::new(ProblemCode::Unprocessable, detail).in_field("/tags"));
    }
    let mut checked: Vec<String> = Vec::new();
    for (index, tag) in tags.into_iter().enumerate() {
        if !is_tag(&tag) {
            let detail = "a tag has 1 to 64 characters without spaces and commas";
            let problem = Problem::new(ProblemCode::Unprocessable, detail);
            return Err(problem.in_field(format!("/tags/{index}")));
        }
        if !checked.contains(&tag) {
            checked.push(tag);
        }
    }
    Ok(checked)
}

/// Deletes a run that has ended: its journal, its raw output and what the index has of it.
#[utoipa::path(delete, path = "/api/v1/runs/{id}", operation_id = "runs_delete", tag = "runs",
    params(("id" = String, Path, description = "The run.")),
    responses((status = 204, description = "The run is deleted.")))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
) -> Result<StatusCode, Problem> {
    // Only those who may see its workspace are told; without the index nobody but they can know it.
    let workspace = app.live.workspace_of(&id).await.ok().flatten();
    match app.runners.remove(&id).await {
        Ok(Removal::Removed) => {}
        Ok(Removal::NotEnded) => {
            let detail = "the run has not ended: stop it first";
            return Err(Problem::new(ProblemCode::Busy, detail));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Problem::no_run(&id)),
        Err(error) => return Err(Problem::internal("deleting a run failed", &error)),
    }
    app.live.remove(&id, workspace.as_deref());
    app.live.board().labels().forget(&id);
    if let Err(error) = app.store.remove(&[id]).await {
        // The next comparison with the disk does it.
        tracing::warn!(%error, "the index still has a run that was deleted");
    }
    Ok(StatusCode::NO_CONTENT)
}
