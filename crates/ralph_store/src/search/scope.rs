//! `Scope`: the records that match the words and filters of a query, as the text index has them.

use std::cell::RefCell;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::candidates::{Candidate, Candidates};
use super::expression::Expression;
use super::filters::{self, Filter};
use super::journal_lines::JournalLines;
use super::kinds;
use super::removal;
use super::schema::explain;
use crate::error::StoreError;
use crate::query::SearchQuery;

/// What narrows a search, as the index knows it.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    connection: &'a Connection,
    lines: RefCell<JournalLines<'a>>,
    /// What all records must have, in the index's words; none if everything is looked at.
    filter: Option<String>,
    /// The numbers in question.
    low: i64,
    high: i64,
    /// The time, in seconds.
    since: i64,
    until: i64,
}

impl<'a> Scope<'a> {
    /// None if nothing can be found: the run is unknown, there is no workspace to look in, or the kinds have no words.
    pub(super) fn of(
        connection: &'a Connection,
        runs: &'a Path,
        query: &SearchQuery,
    ) -> rusqlite::Result<Option<Self>> {
        let mut parts = Vec::new();
        if let Some(name) = &query.run {
            let number = connection
                .prepare_cached("SELECT id FROM run WHERE name = ?")?
                .query_row([name], |row| row.get(0))
                .optional()?;
            let Some(number) = number else {
                return Ok(None);
            };
            parts.push(quoted(Filter::Run(number)));
        }
        parts.extend(
            query
                .workspace
                .as_deref()
                .map(|path| quoted(Filter::Workspace(path))),
        );
        parts.extend(query.backend.as_deref().map(|name| quoted(Filter::Backend(name))));
        parts.extend(query.tool.as_deref().map(|name| quoted(Filter::Tool(name))));
        if let Some(workspaces) = &query.within {
            if workspaces.is_empty() {
                return Ok(None);
            }
            let any: Vec<_> = workspaces
                .iter()
                .map(|path| quoted(Filter::Workspace(path)))
                .collect();
            parts.push(format!("({})", any.join(" OR ")));
        }
        if !query.kinds.is_empty() {
            let kinds = query.kinds.iter().filter_map(|kind| kinds::number_of(kind));
            let kinds: Vec<_> = kinds.map(|kind| quoted(Filter::Kind(kind))).collect();
            if kinds.is_empty() {
                return Ok(None);
            }
            parts.push(format!("({})", kinds.join(" OR ")));
        }
        let since = query.since.map_or(i64::MIN, |since| since.as_second());
        // Seconds are rounded down: the last one may have begun. The record itself is asked in the end.
        let until = query.until.map_or(i64::MAX, |until| until.as_second());
        let (low, high) = connection
            .prepare_cached("SELECT min(first), max(last) FROM span WHERE max_at >= ? AND min_at <= ?")?
            .query_row([since, until], |row| {
                Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
            })?;
        Ok(low.zip(high).map(|(low, high)| Self {
            connection,
            lines: RefCell::new(JournalLines::new(runs)),
            filter: (!parts.is_empty()).then(|| parts.join(" AND ")),
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
        let parts = [words.map(Expression::to_fts), self.filter.clone()];
        let expression = parts.into_iter().flatten().collect::<Vec<_>>().join(" AND ");
        self.slice(&expression, (low, high), most, out).map_err(explain)
    }

    fn read_lines(
        &self,
        records: &[Candidate],
        each: &mut dyn FnMut(usize, &str, &[u8]),
    ) -> Result<(), StoreError> {
        let name_of = |run| self.name_of(run);
        self.lines
            .borrow_mut()
            .read(records, name_of, each)
            .map_err(explain)
    }
}

impl Scope<'_> {
    fn name_of(&self, run: i64) -> rusqlite::Result<Option<String>> {
        let sql = format!("SELECT name FROM run WHERE id = ? AND {}", removal::IS_HERE);
        self.connection
            .prepare_cached(&sql)?
            .query_row([run], |row| row.get(0))
            .optional()
    }

    fn slice(
        &self,
        expression: &str,
        (low, high): (i64, i64),
        most: usize,
        out: &mut Vec<Candidate>,
    ) -> rusqlite::Result<()> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        if expression.is_empty() {
            let mut statement = self.connection.prepare_cached(
                "SELECT id, run, offset, length, kind, at FROM record
                 WHERE id BETWEEN ? AND ? AND at BETWEEN ? AND ? ORDER BY id DESC LIMIT ?",
            )?;
            let rows = statement.query_map((low, high, self.since, self.until, most), candidate)?;
            return rows.into_iter().try_for_each(|row| row.map(|row| out.push(row)));
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT r.id, r.run, r.offset, r.length, r.kind, r.at
             FROM words CROSS JOIN record r ON r.id = words.rowid
             WHERE words MATCH ? AND words.rowid BETWEEN ? AND ? AND r.at BETWEEN ? AND ?
             ORDER BY words.rowid DESC LIMIT ?",
        )?;
        let rows = statement.query_map((expression, low, high, self.since, self.until, most), candidate)?;
        rows.into_iter().try_for_each(|row| row.map(|row| out.push(row)))
    }
}

fn candidate(row: &Row<'_>) -> rusqlite::Result<Candidate> {
    Ok(Candidate {
        id: row.get(0)?,
        run: row.get(1)?,
        place: row.get::<_, i64>(2)?.unsigned_abs(),
        length: row.get(3)?,
        kind: row.get(4)?,
        at: row.get(5)?,
    })
}

fn quoted(filter: Filter<'_>) -> String {
    let mut word = "\"".to_owned();
    filters::write(filter, &mut word);
    word.push('"');
    word
}
