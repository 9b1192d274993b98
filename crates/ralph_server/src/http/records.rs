//! What happened in a run, as its journal says.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use ralph_run::RunDirectory;
use ralph_store::{RecordQuery, RecordRow, read_journal_page};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::input::{InPath, Parameters, limit, words};
use super::unindexed::{self, Found};
use crate::app::App;
use crate::problem::{Problem, ProblemCode};

const MOST_RECORDS: u32 = 1000;
/// A page has fewer records than were asked for if they are longer than this.
const MOST_BYTES: u64 = 2 * 1024 * 1024;

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
    records: Vec<Box<RawValue>>,
    /// Gives the next page, as `after`; null if there is none now.
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
    let (summary, directory) = app.run(&id).await?;
    if asked
        .after
        .into_iter()
        .chain(asked.before)
        .any(|seq| i64::try_from(seq).is_err())
    {
        return Err(Problem::new(
            ProblemCode::InvalidParameter,
            "no record has such a number",
        ));
    }
    let is_backward = asked.before.is_some() && asked.after.is_none();
    let limit = limit(asked.limit, 200, MOST_RECORDS)?;
    let query = RecordQuery {
        after: asked.after,
        before: asked.before,
        kinds: words(asked.kinds.as_deref()),
        // One more, to know whether there are more.
        limit: limit + 1,
    };
    let Found { mut rows, head_seq } = unindexed::find(&app, &summary, &directory, query).await?;
    let has_more = cut(&mut rows, limit, is_backward);
    let first = rows.first().map(|row| row.seq);
    let last = rows.last().map(|row| row.seq);
    let next_after = if is_backward {
        asked.before.map(|_| last).unwrap_or_default()
    } else {
        last.filter(|_| has_more)
    };
    let next_before = if is_backward {
        first.filter(|_| has_more)
    } else {
        first.filter(|first| *first > 1)
    };
    Ok(Json(RecordPage {
        epoch: summary.epoch,
        head_seq,
        records: read(directory, rows).await?,
        next_after,
        next_before,
    }))
}

/// Reads one record.
#[utoipa::path(get, path = "/api/v1/runs/{id}/records/{seq}", operation_id = "records_get", tag = "records",
    params(("id" = String, Path, description = "The run."), ("seq" = u64, Path, description = "The record.")),
    responses((status = 200, description = "The record.", body = Record)))]
pub(super) async fn one(
    State(app): State<Arc<App>>,
    InPath((id, seq)): InPath<(String, u64)>,
) -> Result<Json<Box<RawValue>>, Problem> {
    let (summary, directory) = app.run(&id).await?;
    let none = || {
        Problem::new(
            ProblemCode::RecordNotFound,
            format!("the run has no record {seq}"),
        )
    };
    let query = RecordQuery {
        after: Some(seq.checked_sub(1).ok_or_else(none)?),
        limit: 1,
        ..RecordQuery::default()
    };
    let Found { mut rows, .. } = unindexed::find(&app, &summary, &directory, query).await?;
    rows.retain(|row| row.seq == seq);
    let mut records = read(directory, rows).await?;
    records.pop().map(Json).ok_or_else(none)
}

/// Keeps what fits on a page, at least one. Says whether something was cut off.
fn cut(rows: &mut Vec<RecordRow>, limit: usize, is_backward: bool) -> bool {
    let mut bytes = 0;
    let fits = |row: &&RecordRow| {
        bytes += u64::from(row.length) + 1;
        bytes <= MOST_BYTES
    };
    let count = if is_backward {
        rows.iter().rev().take(limit).take_while(fits).count()
    } else {
        rows.iter().take(limit).take_while(fits).count()
    };
    let count = count.max(1).min(rows.len());
    let over = rows.len() - count;
    if is_backward {
        rows.drain(..over);
    } else {
        rows.truncate(count);
    }
    over > 0
}

async fn read(directory: RunDirectory, rows: Vec<RecordRow>) -> Result<Vec<Box<RawValue>>, Problem> {
    let journal = directory.journal();
    let read = tokio::task::spawn_blocking(move || read_journal_page(&journal, &rows, usize::MAX)).await;
    match read {
        Ok(Ok(lines)) => lines
            .iter()
            .map(|line| serde_json::from_slice(&line.line))
            .collect::<Result<_, _>>()
            .map_err(|error| Problem::internal("a record is damaged", &error)),
        Ok(Err(error)) if error.is_gone() => Err(Problem::no_run(directory.id())),
        Ok(Err(error)) => Err(error.into()),
        Err(error) => Err(Problem::internal("reading a journal failed", &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_BYTES, cut};
    use jiff::Timestamp;
    use ralph_store::RecordRow;

    fn rows(lengths: &[u64]) -> Vec<RecordRow> {
        let row = |(index, length): (usize, &u64)| RecordRow {
            seq: index as u64 + 1,
            at: Timestamp::UNIX_EPOCH,
            kind: "warned".into(),
            offset: 0,
            length: u32::try_from(*length).unwrap(),
        };
        lengths.iter().enumerate().map(row).collect()
    }

    fn cut_to(lengths: &[u64], limit: usize, is_backward: bool) -> (Vec<u64>, bool) {
        let mut rows = rows(lengths);
        let has_more = cut(&mut rows, limit, is_backward);
        (rows.iter().map(|row| row.seq).collect(), has_more)
    }

    #[test]
    fn a_page_ends_at_its_number_or_its_size_and_always_has_one() {
        assert_eq!(cut_to(&[1, 1, 1], 3, false), (vec![1, 2, 3], false));
        assert_eq!(cut_to(&[1, 1, 1], 2, false), (vec![1, 2], true));
        assert_eq!(cut_to(&[1, 1, 1], 2, true), (vec![2, 3], true));
        assert_eq!(cut_to(&[1, MOST_BYTES, 1], 3, false), (vec![1], true));
        assert_eq!(cut_to(&[1, MOST_BYTES, 1], 3, true), (vec![3], true));
        assert_eq!(cut_to(&[MOST_BYTES * 2, 1], 3, false), (vec![1], true));
        assert_eq!(cut_to(&[], 3, false), (vec![], false));
    }
}
