//! The text index: what the one who writes it does, each in one transaction.

use std::collections::BTreeSet;

use sqlx::postgres::PgRow;
use sqlx::{Connection as _, Error, PgConnection, Row as _};

use super::decode::{json, number, text};
use super::escape::escape;
use super::explain::known;
use super::rows::short;
use super::vector::vector;
use crate::columns::integer;
use crate::search::{Calls, Mark, Pending, TextBatch, TextRow, run_filters};
use crate::summary::RunSummary;

/// How many records a span of time has at least, but for the last one.
const SPAN_ROWS: i64 = 4_096;
/// How many runs are looked at together.
const RUNS_AT_A_TIME: i64 = 1_000;

/// How many records the text index lacks, at most: pieces of text count, too, because nobody counted them apart.
pub(super) async fn lag(connection: &mut PgConnection) -> Result<u64, Error> {
    let row = sqlx::query(
        "SELECT least(coalesce(sum(CASE
             WHEN t.id IS NULL OR t.epoch <> run.epoch THEN run.head_seq
             WHEN t.journal_offset >= run.journal_offset THEN 0
             ELSE greatest(run.head_seq - t.seq, 0) END), 0), 9223372036854775807)::bigint
         FROM run LEFT JOIN text_run t ON t.name = run.id",
    )
    .fetch_one(connection)
    .await?;
    number(&row, 0)
}

/// A run, and how much of its journal is to be indexed.
pub(super) type Behind = (RunSummary, u64);

/// Some runs of which there are words to index, by their names behind `after`, of those that are `asked` for or of all.
/// None for what means nothing to us.
pub(super) async fn behind(
    connection: &mut PgConnection,
    after: &str,
    asked: Option<&[String]>,
) -> Result<Vec<(String, Option<Behind>)>, Error> {
    let asked: Option<Vec<String>> =
        asked.map(|runs| runs.iter().map(|run| escape(run).into_owned()).collect());
    let rows = sqlx::query(
        "SELECT run.summary, run.journal_offset, run.id FROM run LEFT JOIN text_run t ON t.name = run.id
         WHERE (t.id IS NULL OR t.epoch <> run.epoch OR t.journal_offset < run.journal_offset) AND run.id > $1
             AND ($3::text[] IS NULL OR run.id = ANY($3))
         ORDER BY run.id LIMIT $2",
    )
    .bind(escape(after))
    .bind(RUNS_AT_A_TIME)
    .bind(asked)
    .fetch_all(connection)
    .await?;
    let read = |row: &PgRow| {
        let up_to = number(row, 1)?;
        Ok((text(row, 2)?, known(json(row, 0))?.map(|run| (run, up_to))))
    };
    rows.iter().map(read).collect()
}

/// Where the marks of these runs are, and after which record, as far as they have one.
pub(super) async fn marks(
    connection: &mut PgConnection,
    runs: &[Behind],
) -> Result<Vec<(String, u64, u64)>, Error> {
    let names: Vec<String> = runs.iter().map(|(run, _)| escape(&run.id).into_owned()).collect();
    let rows = sqlx::query("SELECT name, journal_offset, seq FROM text_run WHERE name = ANY($1)")
        .bind(names)
        .fetch_all(connection)
        .await?;
    let read = |row: &PgRow| Ok((text(row, 0)?, number(row, 1)?, number(row, 2)?));
    rows.iter().map(read).collect()
}

/// Where the index stands with these runs. A run that has another journal than before, or one that was `cut`, is
/// forgotten first.
pub(super) async fn pending(
    connection: &mut PgConnection,
    runs: &[Behind],
    cut: &[String],
) -> Result<Vec<Pending>, Error> {
    let mut transaction = connection.begin().await?;
    let mut all = Vec::new();
    for (run, up_to) in runs {
        let others: Vec<i64> =
            sqlx::query_scalar("DELETE FROM text_run WHERE name = $1 AND (epoch <> $2 OR $3) RETURNING id")
                .bind(escape(&run.id))
                .bind(escape(&run.epoch))
                .bind(cut.contains(&run.id))
                .fetch_all(&mut *transaction)
                .await?;
        if !others.is_empty() {
            sqlx::query("DELETE FROM text WHERE run = ANY($1)")
                .bind(others)
                .execute(&mut *transaction)
                .await?;
        }
        sqlx::query(
            "INSERT INTO text_run(name, epoch, journal_offset, seq, at, calls) VALUES($1, $2, 0, 0, $3, '[]')
             ON CONFLICT DO NOTHING",
        )
        .bind(escape(&run.id))
        .bind(escape(&run.epoch))
        .bind(run.started_at.as_millisecond())
        .execute(&mut *transaction)
        .await?;
        let row =
            sqlx::query("SELECT id, name, journal_offset, seq, at, calls FROM text_run WHERE name = $1")
                .bind(escape(&run.id))
                .fetch_one(&mut *transaction)
                .await?;
        let (number_of_run, offset) = (row.try_get(0)?, number(&row, 2)?);
        if offset < *up_to {
            all.push(Pending {
                run: number_of_run,
                name: text(&row, 1)?,
                place: offset,
                up_to: *up_to,
                seq: number(&row, 3)?,
                at: row.try_get(4)?,
                calls: json::<Calls>(&row, 5).unwrap_or_default(),
                filters: run_filters(number_of_run, run),
            });
        }
    }
    transaction.commit().await?;
    Ok(all)
}

/// Writes what was gathered, and how far that is. Says how many records.
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
        "INSERT INTO text(id, run, journal_offset, at, length, kind, words)
         SELECT id, run, journal_offset, at, length, kind, words::tsvector
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::integer[], $6::smallint[],
             $7::text[]) AS new(id, run, journal_offset, at, length, kind, words)",
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
        "UPDATE text_run t SET journal_offset = new.journal_offset, seq = new.seq, at = new.at, calls = new.calls
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
             AS new(id, begin_offset, journal_offset, seq, at, calls)
         WHERE t.id = new.id AND t.journal_offset = new.begin_offset RETURNING t.id",
    )
    .bind(marks.iter().map(|mark| mark.run).collect::<Vec<_>>())
    .bind(marks.iter().map(|mark| integer(mark.from)).collect::<Vec<_>>())
    .bind(marks.iter().map(|mark| integer(mark.place)).collect::<Vec<_>>())
    .bind(marks.iter().map(|mark| integer(mark.seq)).collect::<Vec<_>>())
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
