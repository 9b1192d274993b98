//! `Scope`: the records that match the words and filters of a query, in PostgreSQL.

use std::cell::RefCell;

use sqlx::postgres::PgRow;
use sqlx::{Error, Row as _};
use tokio::runtime::Handle;

use super::decode::text;
use super::escape::escape;
use super::explain::{explain, within};
use super::readers::Reader;
use super::store::ANSWER_TIMEOUT;
use super::vector;
use crate::columns::{count, integer};
use crate::error::StoreError;
use crate::query::SearchQuery;
use crate::search::{Candidate, Candidates, Expression, Filter, kind_number, write_filter};

/// How many bytes of lines are asked for at once.
const LINE_BYTES: u64 = 8 << 20;

/// What narrows a search. Both engines search on a thread for blocking work: this waits for the database there.
pub(super) struct Scope<'a> {
    runtime: &'a Handle,
    connection: &'a RefCell<Reader>,
    /// What all records must have, in the index's words.
    filter: Option<String>,
    low: i64,
    high: i64,
    /// The time, in seconds.
    since: i64,
    until: i64,
}

impl<'a> Scope<'a> {
    /// None if nothing can be found: the run is unknown, there is no workspace to look in, or the kinds have no words.
    pub(super) fn of(
        runtime: &'a Handle,
        connection: &'a RefCell<Reader>,
        query: &SearchQuery,
    ) -> Result<Option<Self>, StoreError> {
        let mut parts = Vec::new();
        if let Some(name) = &query.run {
            let mut reader = connection.borrow_mut();
            let number = sqlx::query_scalar("SELECT number FROM run WHERE id = $1")
                .bind(escape(name))
                .fetch_optional(&mut reader.connection);
            let Some(number) = wait(runtime, number)? else {
                return Ok(None);
            };
            parts.push(quoted(Filter::Run(number)));
        }
        let named = [
            query.workspace.as_deref().map(Filter::Workspace),
            query.backend.as_deref().map(Filter::Backend),
            query.tool.as_deref().map(Filter::Tool),
        ];
        parts.extend(named.into_iter().flatten().map(quoted));
        if let Some(workspaces) = &query.within {
            if workspaces.is_empty() {
                return Ok(None);
            }
            let any: Vec<_> = workspaces
                .iter()
                .map(|path| quoted(Filter::Workspace(path)))
                .collect();
            parts.push(format!("({})", any.join(" | ")));
        }
        if !query.kinds.is_empty() {
            let kinds = query.kinds.iter().filter_map(|kind| kind_number(kind));
            let kinds: Vec<_> = kinds.map(|kind| quoted(Filter::Kind(kind))).collect();
            if kinds.is_empty() {
                return Ok(None);
            }
            parts.push(format!("({})", kinds.join(" | ")));
        }
        let since = query.since.map_or(i64::MIN, |since| since.as_second());
        // Seconds are rounded down: the last one may have begun. The record itself is asked in the end.
        let until = query.until.map_or(i64::MAX, |until| until.as_second());
        let mut reader = connection.borrow_mut();
        let bounds =
            sqlx::query_as("SELECT min(first), max(last) FROM text_span WHERE max_at >= $1 AND min_at <= $2")
                .bind(since)
                .bind(until)
                .fetch_one(&mut reader.connection);
        let (low, high): (Option<i64>, Option<i64>) = wait(runtime, bounds)?;
        Ok(low.zip(high).map(|(low, high)| Self {
            runtime,
            connection,
            filter: (!parts.is_empty()).then(|| parts.join(" & ")),
            low,
            high,
            since,
            until,
        }))
    }
}

impl Candidates for Scope<'_> {
    fn bounds(&self) -> (i64, i64) {
        (self.low, self.high)
    }

    fn collect(
        &self,
        words: Option<&Expression>,
        (low, high): (i64, i64),
        most: usize,
        out: &mut Vec<Candidate>,
    ) -> Result<(), StoreError> {
        let parts = [words.map(vector::query), self.filter.clone()];
        let asked = parts.into_iter().flatten().collect::<Vec<_>>().join(" & ");
        let sql = if asked.is_empty() {
            "SELECT id, run, seq, length, kind, at FROM text
             WHERE id BETWEEN $1 AND $2 AND at BETWEEN $3 AND $4 ORDER BY id DESC LIMIT $5"
        } else {
            "SELECT id, run, seq, length, kind, at FROM text
             WHERE id BETWEEN $1 AND $2 AND at BETWEEN $3 AND $4 AND words @@ $6::tsquery
             ORDER BY id DESC LIMIT $5"
        };
        let mut question = sqlx::query(sql)
            .bind(low)
            .bind(high)
            .bind(self.since)
            .bind(self.until)
            .bind(integer(most as u64));
        if !asked.is_empty() {
            question = question.bind(&asked);
        }
        let mut reader = self.connection.borrow_mut();
        // How many records have the words decides how to find them: a plan for any words would be a bad one.
        let rows = question.persistent(false).fetch_all(&mut reader.connection);
        for row in wait(self.runtime, rows)? {
            out.push(candidate(&row).map_err(explain)?);
        }
        Ok(())
    }

    fn read_lines(
        &self,
        records: &[Candidate],
        each: &mut dyn FnMut(usize, &str, &[u8]),
    ) -> Result<(), StoreError> {
        let mut start = 0;
        while let Some(rest) = records.get(start..).filter(|rest| !rest.is_empty()) {
            let mut bytes = 0;
            let fits = rest.iter().take_while(|record| {
                bytes += u64::from(record.length);
                bytes <= LINE_BYTES
            });
            let some = rest.get(..fits.count().max(1)).unwrap_or_default();
            self.read_some(some, start, each)?;
            start += some.len();
        }
        Ok(())
    }
}

impl Scope<'_> {
    fn read_some(
        &self,
        records: &[Candidate],
        start: usize,
        each: &mut dyn FnMut(usize, &str, &[u8]),
    ) -> Result<(), StoreError> {
        let mut reader = self.connection.borrow_mut();
        let lines = sqlx::query(
            "SELECT wanted.index, run.id, record.line
             FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS wanted(run, seq, index)
             JOIN record ON record.run = wanted.run AND record.seq = wanted.seq
             JOIN run ON run.number = wanted.run
             WHERE record.line IS NOT NULL",
        )
        .bind(records.iter().map(|record| record.run).collect::<Vec<_>>())
        .bind(
            records
                .iter()
                .map(|record| integer(record.place))
                .collect::<Vec<_>>(),
        )
        .fetch_all(&mut reader.connection);
        for row in wait(self.runtime, lines)? {
            let index: i64 = row.try_get(0).map_err(explain)?;
            let run = text(&row, 1).map_err(explain)?;
            let line: &str = row.try_get(2).map_err(explain)?;
            // It counts from 1.
            let index = usize::try_from(index).unwrap_or_default().saturating_sub(1);
            each(start + index, &run, line.as_bytes());
        }
        Ok(())
    }
}

fn wait<T>(runtime: &Handle, answer: impl Future<Output = Result<T, Error>>) -> Result<T, StoreError> {
    runtime.block_on(within(ANSWER_TIMEOUT, answer)).map_err(explain)
}

fn candidate(row: &PgRow) -> Result<Candidate, Error> {
    Ok(Candidate {
        id: row.try_get(0)?,
        run: row.try_get(1)?,
        place: count(row.try_get(2)?),
        length: row.try_get::<i32, _>(3)?.unsigned_abs(),
        kind: u8::try_from(row.try_get::<i16, _>(4)?).unwrap_or(u8::MAX),
        at: row.try_get(5)?,
    })
}

fn quoted(filter: Filter<'_>) -> String {
    let mut word = "'".to_owned();
    write_filter(filter, &mut word);
    word.push('\'');
    word
}
