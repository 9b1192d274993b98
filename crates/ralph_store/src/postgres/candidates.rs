//! The records that a search looks at, as PostgreSQL has them.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use sqlx::postgres::PgRow;
use sqlx::{Error, Row as _};
use tokio::runtime::Handle;

use super::escape::{escape, unescape};
use super::explain::{explain, within};
use super::readers::Reader;
use super::vector;
use crate::columns::{count, integer};
use crate::error::StoreError;
use crate::query::SearchQuery;
use crate::search::{Candidate, Candidates, Expression, Filter, JournalLines, kind_number, write_filter};

/// The database's own limit is shorter: this is for one that says nothing any more.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// What narrows a search. Searching reads journals, and therefore blocks: this waits for the database on the thread of
/// the search.
pub(super) struct Scope<'a> {
    runtime: &'a Handle,
    connection: &'a RefCell<Reader>,
    lines: RefCell<JournalLines<'a>>,
    /// What all records must have, in the index's words.
    filter: Option<String>,
    low: i64,
    high: i64,
    /// The time, in seconds.
    since: i64,
    until: i64,
}

impl<'a> Scope<'a> {
    /// None if nothing can be found: the run is unknown, or the kinds have no words.
    pub(super) fn of(
        runtime: &'a Handle,
        connection: &'a RefCell<Reader>,
        runs: &'a Path,
        query: &SearchQuery,
    ) -> Result<Option<Self>, StoreError> {
        let mut parts = Vec::new();
        if let Some(name) = &query.run {
            let mut reader = connection.borrow_mut();
            let number = sqlx::query_scalar("SELECT id FROM text_run WHERE name = $1")
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
            lines: RefCell::new(JournalLines::new(runs)),
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
            "SELECT id, run, journal_offset, length, kind, at FROM text
             WHERE id BETWEEN $1 AND $2 AND at BETWEEN $3 AND $4 ORDER BY id DESC LIMIT $5"
        } else {
            "SELECT id, run, journal_offset, length, kind, at FROM text
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
        self.lines
            .borrow_mut()
            .read(records, |run| self.name_of(run), each)
    }
}

impl Scope<'_> {
    fn name_of(&self, run: i64) -> Result<Option<String>, StoreError> {
        let mut reader = self.connection.borrow_mut();
        let name = sqlx::query_scalar("SELECT name FROM text_run WHERE id = $1")
            .bind(run)
            .fetch_optional(&mut reader.connection);
        Ok(wait(self.runtime, name)?.map(unescape))
    }
}

fn wait<T>(runtime: &Handle, answer: impl Future<Output = Result<T, Error>>) -> Result<T, StoreError> {
    runtime.block_on(within(ANSWER_TIME, answer)).map_err(explain)
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
