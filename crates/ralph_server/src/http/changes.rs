//! `GET …/changes`: the files that a run changed, as git sees them or as its tool calls reported them.

use std::path::Path;
use std::sync::Arc;

use agent_api::{ChangeKind, FileChange};
use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use ralph_run::git::{self, GitChanges};
use ralph_run::{PageQuery, RecordFilter, RecordHead, RecordLine, RunStarted};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::failures::MAX_READ_BYTES;
use super::input::{InPath, Parameters, limit};
use super::records::{self, Neighbours, range};
use crate::app::App;
use crate::problem::{Problem, ProblemCode};

const MAX_PATH_CHARACTERS: usize = 4096;

/// Which changes.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ChangesParameters {
    /// Only what tool calls reported, even if git knows the net changes.
    #[serde(default)]
    #[param(default = false)]
    reported: bool,
    /// Only this file, relative to the workspace. It has its diff even if that is left out of the list. Only for net changes.
    #[param(nullable = false, min_length = 1, max_length = 4096)]
    path: Option<String>,
    /// Only reported changes after this record.
    #[param(nullable = false)]
    after: Option<u64>,
    /// Only reported changes before this record. Without `after` these are the last ones before it.
    #[param(nullable = false)]
    before: Option<u64>,
    /// `next` of the page before. It continues in the same direction, and replaces `after` and `before`.
    #[param(nullable = false)]
    cursor: Option<String>,
    /// How many tool calls at most, for reported changes.
    #[param(minimum = 1, maximum = 1000, default = 200, nullable = false)]
    limit: Option<u32>,
}

/// The files that a run changed.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Changes {
    /// Where the changes come from.
    basis: Basis,
    /// The commit that the files are compared with, if `basis` is `git`.
    #[schema(required)]
    start_commit: Option<String>,
    /// When the files were compared, if `basis` is `git`.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    compared_at: Option<Timestamp>,
    /// Whether the list is cut off: git lists at most 1,000 files. Pages of reported changes have a `next` instead.
    is_truncated: bool,
    /// Changes when the journal is another one: what was read before means nothing then.
    epoch: String,
    /// The run's last record when this was read.
    head_seq: u64,
    /// One for each file if `basis` is `git`; otherwise one for each change, in order.
    items: Vec<Change>,
    /// Gives the next page of reported changes in the same direction, as `cursor`; null if there is none now.
    #[schema(required)]
    next: Option<String>,
    /// Gives the page behind this one, as `after`; null if there is none now.
    #[schema(required)]
    next_after: Option<u64>,
    /// Gives the page before, as `before`; null if this is the first one.
    #[schema(required)]
    next_before: Option<u64>,
}

/// Where changes come from.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Basis {
    /// A comparison of the commit that was checked out when the run started with the files in the workspace now. It has
    /// everything that changed in between: what shell commands did, and also what was not committed when the run started
    /// and what others changed, during the run or since its end.
    Git,
    /// What completed tool calls reported. Changes that shell commands made are not among them.
    Reported,
}

/// A change of a file.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Change {
    /// The file: relative to the workspace if git says so, otherwise as the agent names it.
    path: String,
    /// What happened to it.
    #[schema(value_type = KindOfChange)]
    kind: ChangeKind,
    /// Lines added; null if not known, as for a binary file.
    #[schema(required)]
    added: Option<u32>,
    /// Lines removed; null if not known.
    #[schema(required)]
    removed: Option<u32>,
    /// The hunks of a unified diff; null for a binary file, one that is too long for this list, or if the agent did not
    /// report them.
    #[schema(required)]
    diff: Option<String>,
    /// The record that reported it; null if `basis` is `git`.
    #[schema(required)]
    seq: Option<u64>,
    /// When it was reported; null if `basis` is `git`.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    at: Option<Timestamp>,
}

/// What happened to a file.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the shape of another type, for the document")]
pub(super) enum KindOfChange {
    /// It was created.
    Added,
    /// It was changed.
    Modified,
    /// It was deleted.
    Deleted,
    /// It was moved or renamed. Git says deleted and added instead.
    Moved,
}

/// Lists the files that a run changed, with their diffs. If the workspace is a git repository and had a commit when the run
/// started, these are the net changes, including those that shell commands made; otherwise they are what tool calls reported.
#[utoipa::path(get, path = "/api/v1/runs/{id}/changes", operation_id = "changes_list", tag = "files",
    params(("id" = String, Path, description = "The run."), ChangesParameters),
    responses((status = 200, description = "The changes.", body = Changes)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
    Parameters(asked): Parameters<ChangesParameters>,
) -> Result<Json<Changes>, Problem> {
    if (asked.path.as_ref()).is_some_and(|path| path.is_empty() || path.chars().count() > MAX_PATH_CHARACTERS)
    {
        let detail = "`path` must have 1 to 4096 characters";
        return Err(Problem::new(ProblemCode::InvalidParameter, detail));
    }
    let run = app.run(&id).await?;
    let (after, before) = range(asked.after, asked.before, asked.cursor.as_deref())?;
    let limit = limit(asked.limit, 200, 1000)?;
    let is_page = after.is_some() || before.is_some();
    if !asked.reported
        && !is_page
        && let Some(start) = start_commit(&app, &id).await?
        && let Some(found) = app
            .runners
            .changes(Path::new(&run.workspace), &start, asked.path.as_deref())
            .await
    {
        return Ok(Json(net(found, start, run.epoch, run.head_seq)));
    }
    let query = PageQuery {
        after,
        before,
        kinds: Vec::new(),
        filter: Some(RecordFilter::FileChanges),
        limit,
        max_bytes: MAX_READ_BYTES,
    };
    let is_backward = query.is_backward();
    let page = records::read(&app, &id, query).await?;
    let neighbours = Neighbours::of(&page, is_backward);
    Ok(Json(Changes {
        basis: Basis::Reported,
        start_commit: None,
        compared_at: None,
        is_truncated: false,
        epoch: run.epoch,
        head_seq: run.head_seq,
        items: page.records.iter().flat_map(reported).collect(),
        next: neighbours.next,
        next_after: neighbours.next_after,
        next_before: neighbours.next_before,
    }))
}

/// The commit that was checked out when the run started, from its first record.
async fn start_commit(app: &App, id: &str) -> Result<Option<String>, Problem> {
    let query = PageQuery {
        after: None,
        before: Some(2),
        kinds: vec!["run_started".to_owned()],
        filter: None,
        limit: 1,
        max_bytes: usize::MAX,
    };
    let page = records::read(app, id, query).await?;
    let head = page
        .records
        .first()
        .and_then(|record| RecordHead::parse(&record.line));
    let started: Option<RunStarted> = head.and_then(|head| head.data());
    Ok(started.and_then(|started| started.start_commit))
}

fn net(found: GitChanges, start_commit: String, epoch: String, head_seq: u64) -> Changes {
    let change = |file: git::ChangedFile| Change {
        path: file.path,
        kind: file.kind,
        added: file.lines.map(|(added, _)| added),
        removed: file.lines.map(|(_, removed)| removed),
        diff: file.diff,
        seq: None,
        at: None,
    };
    Changes {
        basis: Basis::Git,
        start_commit: Some(start_commit),
        compared_at: Some(Timestamp::now()),
        is_truncated: !found.is_complete,
        epoch,
        head_seq,
        items: found.files.into_iter().map(change).collect(),
        next: None,
        next_after: None,
        next_before: None,
    }
}

/// The changes that one tool call reported.
fn reported(record: &RecordLine) -> Vec<Change> {
    #[derive(Deserialize)]
    struct Data {
        changes: Vec<FileChange>,
    }
    let Some(head) = RecordHead::parse(&record.line) else {
        return Vec::new();
    };
    let (seq, at) = (record.seq, head.at());
    let changes = head.data::<Data>().map(|data| data.changes).unwrap_or_default();
    let change = |change: FileChange| Change {
        added: change.lines.map(|(added, _)| added),
        removed: change.lines.map(|(_, removed)| removed),
        path: change.path,
        kind: change.kind,
        diff: change.diff,
        seq: Some(seq),
        at: Some(at),
    };
    changes.into_iter().map(change).collect()
}
