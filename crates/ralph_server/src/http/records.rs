//! `GET …/records`: pages of what happened in a run, read from its journal.

use std::io;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use ralph_run::{JournalPage, PageQuery, RecordLine};
use ralph_store::StoreError;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::input::{InPath, Parameters, limit, words};
use crate::app::App;
use crate::problem::{Problem, ProblemCode};

const MAX_RECORDS: u32 = 1000;
/// A page has fewer records than were asked for if they are longer than this.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// Which records.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RecordsParameters {
    /// Only those after this one.
    #[param(nullable = false)]
    after: Option<u64>,
    /// Only those before this one. Without `after` these are the last ones before it.
    #[param(nullable = false)]
    before: Option<u64>,
    /// `next` of the page before. It continues in the same direction, and replaces `after` and `before`.
    #[param(nullable = false)]
    cursor: Option<String>,
    /// How many at most.
    #[param(minimum = 1, maximum = 1000, default = 200, nullable = false)]
    limit: Option<u32>,
    /// Only these kinds, with commas between them.
    #[param(nullable = false)]
    kinds: Option<String>,
}

/// A page of records, in order. Pieces of text are not among them: the whole text is.
#[derive(Serialize, ToSchema)]
pub(super) struct RecordPage {
    /// Changes when the journal is another one: what was read before means nothing then.
    epoch: String,
    /// The run's last record.
    head_seq: u64,
    /// The records, as they are in the journal.
    #[schema(value_type = Vec<Record>)]
    items: Vec<Box<RawValue>>,
    /// Gives the next page in the same direction, as `cursor`; null if there is none now.
    #[schema(required)]
    next: Option<String>,
    /// Gives the page behind this one, as `after`; null if there is none now.
    #[schema(required)]
    next_after: Option<u64>,
    /// Gives the page before, as `before`; null if this is the first one.
    #[schema(required)]
    next_before: Option<u64>,
}

/// One line of a journal.
#[derive(Serialize, ToSchema)]
pub(super) struct Record {
    /// Counts from 1 in each run.
    seq: u64,
    /// When.
    #[schema(format = DateTime)]
    at: String,
    /// Which prompt of the loop.
    iteration: u32,
    /// Which process of the iteration.
    attempt: u32,
    /// What happened: its `type`, its `data`, and more.
    event: serde_json::Map<String, serde_json::Value>,
}

/// Reads records of a run.
#[utoipa::path(get, path = "/api/v1/runs/{id}/records", operation_id = "records_list", tag = "records",
    params(("id" = String, Path, description = "The run."), RecordsParameters),
    responses((status = 200, description = "A page of records.", body = RecordPage)))]
pub(super) async fn page(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
    Parameters(asked): Parameters<RecordsParameters>,
) -> Result<Json<RecordPage>, Problem> {
    let summary = app.run(&id).await?;
    let (after, before) = range(asked.after, asked.before, asked.cursor.as_deref())?;
    let query = PageQuery {
        after,
        before,
        kinds: words(asked.kinds.as_deref()),
        filter: None,
        limit: limit(asked.limit, 200, MAX_RECORDS)?,
        max_bytes: MAX_BYTES,
    };
    let is_backward = query.is_backward();
    let head = app
        .journals
        .head(&id)
        .await
        .map_err(|error| unreadable(&id, &error))?;
    let (epoch, head_seq) = match head {
        Some(head) => (head.epoch, head.seq),
        None => (summary.epoch, summary.head_seq),
    };
    let page = read(&app, &id, query).await?;
    let neighbours = Neighbours::of(&page, is_backward);
    Ok(Json(RecordPage {
        epoch,
        head_seq,
        items: page.records.iter().map(parse).collect::<Result<_, _>>()?,
        next: neighbours.next,
        next_after: neighbours.next_after,
        next_before: neighbours.next_before,
    }))
}

/// Where the pages before and after a page of records begin.
pub(super) struct Neighbours {
    /// The next page in the same direction, as `cursor`.
    pub(super) next: Option<String>,
    pub(super) next_after: Option<u64>,
    pub(super) next_before: Option<u64>,
}

impl Neighbours {
    pub(super) fn of(page: &JournalPage, is_backward: bool) -> Self {
        let first = page.records.first().map(|record| record.seq);
        let last = page.records.last().map(|record| record.seq);
        if is_backward {
            Self {
                next: page.next.map(|seq| format!("before:{seq}")),
                next_after: last,
                next_before: page.next,
            }
        } else {
            Self {
                next: page.next.map(|seq| format!("after:{seq}")),
                next_after: page.next,
                next_before: first.filter(|first| *first > 1),
            }
        }
    }
}

/// Which records are asked for: those after a seq, those before one, or both. A cursor replaces them.
pub(super) fn range(
    after: Option<u64>,
    before: Option<u64>,
    cursor: Option<&str>,
) -> Result<(Option<u64>, Option<u64>), Problem> {
    let invalid = |detail: &str| Problem::new(ProblemCode::InvalidParameter, detail);
    let (after, before) = match cursor {
        None => (after, before),
        Some(_) if after.is_some() || before.is_some() => {
            let detail = "`cursor` cannot be used with `after` or `before`";
            return Err(Problem::new(ProblemCode::Unprocessable, detail));
        }
        Some(cursor) => {
            let place = cursor.split_once(':').and_then(|(side, seq)| {
                let seq = seq.parse().ok()?;
                match side {
                    "after" => Some((Some(seq), None)),
                    "before" => Some((None, Some(seq))),
                    _ => None,
                }
            });
            place.ok_or(StoreError::BadCursor)?
        }
    };
    if after
        .into_iter()
        .chain(before)
        .any(|seq| i64::try_from(seq).is_err())
    {
        return Err(invalid("no record has such a number"));
    }
    Ok((after, before))
}

/// Reads one record.
#[utoipa::path(get, path = "/api/v1/runs/{id}/records/{seq}", operation_id = "records_get", tag = "records",
    params(("id" = String, Path, description = "The run."), ("seq" = u64, Path, description = "The record.")),
    responses((status = 200, description = "The record.", body = Record)))]
pub(super) async fn one(
    State(app): State<Arc<App>>,
    InPath((id, seq)): InPath<(String, u64)>,
) -> Result<Json<Box<RawValue>>, Problem> {
    app.run(&id).await?;
    let none = || {
        Problem::new(
            ProblemCode::RecordNotFound,
            format!("the run has no record {seq}"),
        )
    };
    let query = PageQuery {
        after: Some(seq.checked_sub(1).ok_or_else(none)?),
        before: Some(seq.checked_add(1).ok_or_else(none)?),
        kinds: Vec::new(),
        filter: None,
        limit: 1,
        max_bytes: usize::MAX,
    };
    let page = read(&app, &id, query).await?;
    Ok(Json(parse(page.records.first().ok_or_else(none)?)?))
}

pub(super) async fn read(app: &App, run: &str, query: PageQuery) -> Result<JournalPage, Problem> {
    let page = app.journals.page(run, query).await;
    page.map_err(|error| unreadable(run, &error))
}

fn parse(record: &RecordLine) -> Result<Box<RawValue>, Problem> {
    serde_json::from_slice(&record.line).map_err(|error| Problem::internal("a record is damaged", &error))
}

fn unreadable(run: &str, error: &io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::NotFound => Problem::no_run(run),
        _ => Problem::internal("cannot read a journal", error),
    }
}
