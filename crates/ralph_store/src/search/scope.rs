//! Which records a search looks at.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::filters::{self, Filter};
use super::kinds;
use crate::query::SearchQuery;

/// How many numbers are looked through at first, newest first. Between two such slices it is seen whether time is up:
/// a phrase of frequent words that nobody wrote takes as long as the index is large. Slices grow while they are fast.
const SLICE: i64 = 32_768;
const FAST: Duration = Duration::from_millis(2);

/// What narrows a search, as the index knows it.
#[derive(Debug)]
pub(super) struct Scope {
    /// What all records must have, in the index's words; none if everything is looked at.
    filter: Option<String>,
    /// The numbers in question.
    pub(super) low: i64,
    pub(super) high: i64,
    /// The time, in seconds.
    since: i64,
    until: i64,
}

/// Where a record stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) id: i64,
    pub(super) run: i64,
    pub(super) offset: u64,
    pub(super) length: u32,
    pub(super) kind: u8,
    pub(super) at: i64,
}

/// Which of the records are there, newest first.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) candidates: Vec<Candidate>,
    /// Down to which number they were looked for.
    pub(super) reached: i64,
}

impl Scope {
    /// None if nothing can be found: the run is unknown, or the kinds have no words.
    pub(super) fn of(connection: &Connection, query: &SearchQuery) -> rusqlite::Result<Option<Self>> {
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
            filter: (!parts.is_empty()).then(|| parts.join(" AND ")),
            low,
            high,
            since,
            until,
        }))
    }

    /// Collects records with these words from `top` down: at most `most`, or until time is up.
    pub(super) fn collect(
        &self,
        connection: &Connection,
        words: Option<&str>,
        (low, top): (i64, i64),
        most: usize,
        limit: TimeLimit,
    ) -> rusqlite::Result<Collected> {
        let expression = [words, self.filter.as_deref()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" AND ");
        let (low, mut high) = (low.max(self.low), top.min(self.high));
        let mut slice = if limit.is_sliced { SLICE } else { i64::MAX };
        let mut collected = Collected {
            reached: low,
            ..Collected::default()
        };
        while high >= low && collected.candidates.len() < most {
            let start = Instant::now();
            let bottom = low.max(high.saturating_sub(slice - 1));
            let room = most - collected.candidates.len();
            self.collect_slice(
                connection,
                &expression,
                (bottom, high),
                room,
                &mut collected.candidates,
            )?;
            collected.reached = bottom;
            high = bottom - 1;
            if limit.is_over() {
                break;
            }
            if start.elapsed() < FAST {
                slice = slice.saturating_mul(2);
            }
        }
        if collected.candidates.len() >= most
            && let Some(last) = collected.candidates.last()
        {
            collected.reached = last.id;
        }
        Ok(collected)
    }

    fn collect_slice(
        &self,
        connection: &Connection,
        expression: &str,
        (low, high): (i64, i64),
        most: usize,
        out: &mut Vec<Candidate>,
    ) -> rusqlite::Result<()> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        if expression.is_empty() {
            let mut statement = connection.prepare_cached(
                "SELECT id, run, offset, length, kind, at FROM record
                 WHERE id BETWEEN ? AND ? AND at BETWEEN ? AND ? ORDER BY id DESC LIMIT ?",
            )?;
            let rows = statement.query_map((low, high, self.since, self.until, most), candidate)?;
            return rows.into_iter().try_for_each(|row| row.map(|row| out.push(row)));
        }
        let mut statement = connection.prepare_cached(
            "SELECT r.id, r.run, r.offset, r.length, r.kind, r.at
             FROM words CROSS JOIN record r ON r.id = words.rowid
             WHERE words MATCH ? AND words.rowid BETWEEN ? AND ? AND r.at BETWEEN ? AND ?
             ORDER BY words.rowid DESC LIMIT ?",
        )?;
        let rows = statement.query_map((expression, low, high, self.since, self.until, most), candidate)?;
        rows.into_iter().try_for_each(|row| row.map(|row| out.push(row)))
    }
}

/// How long a search may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeLimit {
    until: Instant,
    /// Whether the index is looked through in slices. Beginnings of words are put together for all of it, whatever
    /// the slice.
    is_sliced: bool,
}

impl TimeLimit {
    pub(super) fn new(time: Duration) -> Self {
        Self {
            until: Instant::now() + time,
            is_sliced: true,
        }
    }

    pub(super) fn in_one_piece(self) -> Self {
        Self {
            is_sliced: false,
            ..self
        }
    }

    pub(super) fn is_over(self) -> bool {
        Instant::now() >= self.until
    }
}

/// The names of runs by their numbers.
#[derive(Debug, Default)]
pub(super) struct Names(HashMap<i64, String>);

impl Names {
    pub(super) fn of(&mut self, connection: &Connection, run: i64) -> rusqlite::Result<Option<&str>> {
        if !self.0.contains_key(&run) {
            let name = connection
                .prepare_cached("SELECT name FROM run WHERE id = ?")?
                .query_row([run], |row| row.get(0))
                .optional()?;
            self.0.extend(name.map(|name: String| (run, name)));
        }
        Ok(self.0.get(&run).map(String::as_str))
    }
}

fn candidate(row: &Row<'_>) -> rusqlite::Result<Candidate> {
    Ok(Candidate {
        id: row.get(0)?,
        run: row.get(1)?,
        offset: row.get::<_, i64>(2)?.unsigned_abs(),
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
