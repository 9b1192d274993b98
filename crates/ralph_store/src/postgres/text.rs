//! The text index in PostgreSQL: what is still to be indexed, and writing the words of records.

use std::collections::BTreeSet;

use sqlx::postgres::PgRow;
use sqlx::{Connection as _, Error, PgConnection, Row as _};
use tokio::runtime::Handle;

use super::decode::{json, number, text};
use super::escape::{escape, escape_all};
use super::explain::{explain, within};
use super::readers::Reader;
use super::rows::short;
use super::store::ANSWER_TIMEOUT;
use super::vector::vector;
use crate::columns::{integer, timestamp};
use crate::error::StoreError;
use crate::search::{
    Calls, LineSource, Mark, Pending, Span, TextBatch, TextRow, kinds_with_words, run_filters,
};

/// How many records a span of time has at least, but for the last one.
const SPAN_ROWS: i64 = 4_096;
/// How many runs are looked at together.
const RUNS_AT_A_TIME: i64 = 1_000;
/// How many lines are read at once.
const LINES_AT_A_TIME: i64 = 256;

/// How many records the text index lacks, at most: deltas count, too, because they are not counted apart.
pub(super) async fn lag(connection: &mut PgConnection) -> Result<u64, Error> {
    let row = sqlx::query(
        "SELECT least(coalesce(sum(CASE
             WHEN t.run IS NULL OR t.generation <> run.generation THEN run.head_seq
             ELSE greatest(run.head_seq - t.seq, 0) END), 0), 9223372036854775807)::bigint
         FROM run LEFT JOIN text_run t ON t.run = run.number",
    )
    .fetch_one(connection)
    .await?;
    number(&row, 0)
}

/// A run of which there are words to index.
#[derive(Debug)]
pub(super) struct Behind {
    number: i64,
    pub(super) name: String,
    generation: i64,
    workspace: String,
    backend: String,
    started_at: i64,
    head_seq: u64,
}

/// Some runs of which there are words to index, by their names behind `after`, of those that are `asked` for or of all.
pub(super) async fn behind(
    connection: &mut PgConnection,
    after: &str,
    asked: Option<&[String]>,
) -> Result<Vec<Behind>, Error> {
    let asked = asked.map(escape_all);
    let rows = sqlx::query(
        "SELECT run.number, run.id, run.generation, run.workspace, run.backend, run.started_at, run.head_seq
         FROM run LEFT JOIN text_run t ON t.run = run.number
         WHERE (t.run IS NULL OR t.generation <> run.generation OR t.seq < run.head_seq) AND run.id > $1
             AND ($3::text[] IS NULL OR run.id = ANY($3))
         ORDER BY run.id LIMIT $2",
    )
    .bind(escape(after))
    .bind(RUNS_AT_A_TIME)
    .bind(asked)
    .fetch_all(connection)
    .await?;
    let read = |row: &PgRow| {
        Ok(Behind {
            number: row.try_get(0)?,
            name: text(row, 1)?,
            generation: row.try_get(2)?,
            workspace: text(row, 3)?,
            backend: text(row, 4)?,
            started_at: row.try_get(5)?,
            head_seq: number(row, 6)?,
        })
    };
    rows.iter().map(read).collect()
}

/// Where the index stands with these runs. The words of a run that was replaced are deleted first.
pub(super) async fn pending(connection: &mut PgConnection, runs: &[Behind]) -> Result<Vec<Pending>, Error> {
    let numbers: Vec<i64> = runs.iter().map(|run| run.number).collect();
    let generations: Vec<i64> = runs.iter().map(|run| run.generation).collect();
    let starts = runs.iter().map(|run| timestamp(run.started_at).as_millisecond());
    let mut transaction = connection.begin().await?;
    let replaced: Vec<i64> = sqlx::query_scalar(
        "DELETE FROM text_run t USING unnest($1::bigint[], $2::bigint[]) AS new(run, generation)
         WHERE t.run = new.run AND t.generation <> new.generation RETURNING t.run",
    )
    .bind(&numbers)
    .bind(&generations)
    .fetch_all(&mut *transaction)
    .await?;
    if !replaced.is_empty() {
        sqlx::query("DELETE FROM text WHERE run = ANY($1)")
            .bind(replaced)
            .execute(&mut *transaction)
            .await?;
    }
    sqlx::query(
        "INSERT INTO text_run(run, generation, seq, at, calls)
         SELECT new.run, new.generation, 0, new.at, '[]'
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS new(run, generation, at)
         JOIN run ON run.number = new.run ON CONFLICT DO NOTHING",
    )
    .bind(&numbers)
    .bind(&generations)
    .bind(starts.collect::<Vec<_>>())
    .execute(&mut *transaction)
    .await?;
    let rows = sqlx::query(
        "SELECT known.index, t.seq, t.at, t.calls
         FROM unnest($1::bigint[]) WITH ORDINALITY AS known(run, index) JOIN text_run t ON t.run = known.run
         ORDER BY known.index",
    )
    .bind(&numbers)
    .fetch_all(&mut *transaction)
    .await?;
    transaction.commit().await?;
    let mut all = Vec::new();
    for row in &rows {
        let index = usize::try_from(row.try_get::<i64, _>(0)?).unwrap_or_default();
        let Some(run) = index.checked_sub(1).and_then(|index| runs.get(index)) else {
            continue;
        };
        let seq = number(row, 1)?;
        all.push(Pending {
            run: run.number,
            name: run.name.clone(),
            place: seq,
            up_to: run.head_seq,
            seq,
            at: row.try_get(2)?,
            calls: json::<Calls>(row, 3).unwrap_or_default(),
            filters: run_filters(run.number, &run.workspace, &run.backend),
        });
    }
    Ok(all)
}

/// The lines of records in the database. Their places are record numbers. It waits for the database on the thread that
/// reads.
pub(super) struct StoredLines {
    pub(super) runtime: Handle,
    pub(super) reader: Reader,
    pub(super) kinds: Vec<String>,
}

impl StoredLines {
    pub(super) fn new(runtime: Handle, reader: Reader) -> Self {
        let kinds = kinds_with_words().map(str::to_owned).collect();
        Self {
            runtime,
            reader,
            kinds,
        }
    }
}

impl LineSource for StoredLines {
    fn read(&mut self, span: &Span, each: &mut dyn FnMut(u64, usize, &[u8])) -> Result<u64, StoreError> {
        let rows = sqlx::query(
            "SELECT seq, line FROM record
             WHERE run = $1 AND seq > $2 AND seq <= $3 AND kind = ANY($4) AND line IS NOT NULL
             ORDER BY seq LIMIT $5",
        )
        .bind(span.run)
        .bind(integer(span.from))
        .bind(integer(span.up_to))
        .bind(&self.kinds)
        .bind(LINES_AT_A_TIME)
        .fetch_all(&mut self.reader.connection);
        let rows = self
            .runtime
            .block_on(within(ANSWER_TIMEOUT, rows))
            .map_err(explain)?;
        let mut last = span.from;
        for row in &rows {
            last = number(row, 0).map_err(explain)?;
            let line: &str = row.try_get(1).map_err(explain)?;
            each(last, line.len(), line.as_bytes());
        }
        let is_end = integer(rows.len() as u64) < LINES_AT_A_TIME;
        Ok(if is_end { span.up_to } else { last })
    }
}

/// Writes what was gathered, and how far that is. Returns how many records.
pub(super) async fn write_batch(connection: &mut PgConnection, batch: &TextBatch) -> Result<u64, Error> {
    let mut transaction = connection.begin().await?;
    sqlx::raw_sql("SET LOCAL synchronous_commit = off")
        .execute(&mut *transaction)
        .await?;
    let valid = advance(&mut transaction, &batch.marks).await?;
    let rows: Vec<&TextRow> = batch.rows.iter().filter(|row| valid.contains(&row.run)).collect();
    let many = rows.len() as u64;
    let times = rows.iter().map(|row| row.second);
    if let (Some(min), Some(max)) = (times.clone().min(), times.max()) {
        let next: i64 =
            sqlx::query_scalar("UPDATE meta SET value = value + $1 WHERE key = 'next_text' RETURNING value")
                .bind(integer(many))
                .fetch_one(&mut *transaction)
                .await?;
        let first = next - integer(many);
        put(&mut transaction, first, &rows, batch).await?;
        extend_spans(&mut transaction, (first, next - 1), (min, max)).await?;
    }
    transaction.commit().await?;
    Ok(many)
}

async fn put(
    connection: &mut PgConnection,
    first: i64,
    rows: &[&TextRow],
    batch: &TextBatch,
) -> Result<(), Error> {
    let all = || rows.iter();
    let words = all().map(|row| vector(batch.words.get(row.words.clone()).unwrap_or_default()));
    sqlx::query(
        "INSERT INTO text(id, run, seq, at, length, kind, words)
         SELECT id, run, seq, at, length, kind, words::tsvector
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::integer[], $6::smallint[],
             $7::text[]) AS new(id, run, seq, at, length, kind, words)",
    )
    .bind(all().zip(first..).map(|(_, id)| id).collect::<Vec<_>>())
    .bind(all().map(|row| row.run).collect::<Vec<_>>())
    .bind(all().map(|row| integer(row.place)).collect::<Vec<_>>())
    .bind(all().map(|row| row.second).collect::<Vec<_>>())
    .bind(all().map(|row| short(row.length)).collect::<Vec<_>>())
    .bind(all().map(|row| i16::from(row.kind)).collect::<Vec<_>>())
    .bind(words.collect::<Vec<_>>())
    .execute(connection)
    .await?;
    Ok(())
}

/// Moves the marks of runs that are where the batch begins: so nothing is written twice, nor for a run that is gone.
async fn advance(connection: &mut PgConnection, marks: &[Mark]) -> Result<BTreeSet<i64>, Error> {
    let calls = marks
        .iter()
        .map(|mark| serde_json::to_string(&mark.calls).unwrap_or_default());
    let moved: Vec<i64> = sqlx::query_scalar(
        "UPDATE text_run t SET seq = new.seq, at = new.at, calls = new.calls
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[])
             AS new(run, begin_seq, seq, at, calls)
         WHERE t.run = new.run AND t.seq = new.begin_seq RETURNING t.run",
    )
    .bind(marks.iter().map(|mark| mark.run).collect::<Vec<_>>())
    .bind(marks.iter().map(|mark| integer(mark.from)).collect::<Vec<_>>())
    .bind(marks.iter().map(|mark| integer(mark.place)).collect::<Vec<_>>())
    .bind(marks.iter().map(|mark| mark.at).collect::<Vec<_>>())
    .bind(calls.collect::<Vec<_>>())
    .fetch_all(connection)
    .await?;
    Ok(moved.into_iter().collect())
}

async fn extend_spans(
    connection: &mut PgConnection,
    (first, last): (i64, i64),
    (min, max): (i64, i64),
) -> Result<(), Error> {
    let extended = sqlx::query(
        "UPDATE text_span SET last = $1, min_at = least(min_at, $2), max_at = greatest(max_at, $3)
         WHERE first = (SELECT max(first) FROM text_span) AND last - first < $4",
    )
    .bind(last)
    .bind(min)
    .bind(max)
    .bind(SPAN_ROWS)
    .execute(&mut *connection)
    .await?;
    if extended.rows_affected() == 0 {
        sqlx::query("INSERT INTO text_span VALUES($1, $2, $3, $4)")
            .bind(first)
            .bind(last)
            .bind(min)
            .bind(max)
            .execute(connection)
            .await?;
    }
    Ok(())
}
