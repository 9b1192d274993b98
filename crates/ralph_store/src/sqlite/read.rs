//! The queries of `SqliteStore`.

use std::collections::HashSet;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};

use super::decode::{all, approval, json, message, usage};
use super::explain::explain;
use super::schema::{key, last_key, seq_of};
use crate::columns::{bounded, count, integer, nanoseconds, run_mark, run_place, timestamp};
use crate::decoded::{Decoded, Listed, ListedApproval, partition_decodable};
use crate::error::StoreError;
use crate::fold::FOLD_VERSION;
use crate::query::{ApprovalPage, ApprovalQuery, Page, RunCounts, RunQuery};
use crate::rows::{IndexedRun, MessageRow, Progress};
use crate::store::{MAX_LIMIT, SavedResponse};
use crate::summary::RunSummary;

/// A question that is put together.
#[derive(Default)]
pub(super) struct Conditions {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
}

impl Conditions {
    /// `condition` has a `?` for each value.
    fn add(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        self.sql
            .push_str(if self.sql.is_empty() { " WHERE " } else { " AND " });
        self.sql.push_str(condition);
        self.values.extend(values);
    }

    /// `None` for all workspaces.
    pub(super) fn add_within(&mut self, column: &str, workspaces: Option<&Vec<String>>) {
        if let Some(workspaces) = workspaces {
            let names = serde_json::to_string(workspaces).unwrap_or_default();
            let condition = format!("{column} IN (SELECT value FROM json_each(?))");
            self.add(&condition, [names.into()]);
        }
    }

    pub(super) fn add_some(&mut self, condition: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.add(condition, [value.into()]);
        }
    }
}

pub(super) fn sql_limit(limit: usize) -> Value {
    Value::Integer(integer(limit as u64))
}

fn number(connection: &Connection, run: &str) -> Result<Option<i64>, StoreError> {
    connection
        .prepare_cached("SELECT number FROM run WHERE id = ?1")
        .and_then(|mut statement| statement.query_row([run], |row| row.get(0)).optional())
        .map_err(explain)
}

/// None if this version cannot read it.
fn known<T>(decoded: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match decoded {
        Err(StoreError::Incompatible(_)) => Ok(None),
        decoded => decoded.map(Some),
    }
}

/// `summary, id, started_at`.
fn listed(row: &rusqlite::Row<'_>) -> Result<Listed, StoreError> {
    Ok(Listed {
        id: row.get(1).map_err(explain)?,
        started_at: row.get(2).map_err(explain)?,
        summary: known(json(row, 0))?,
    })
}

/// The second column is the run.
fn of_run<T>(
    row: &rusqlite::Row<'_>,
    decode: impl Fn(&rusqlite::Row<'_>) -> Result<T, StoreError>,
) -> Result<(String, Option<T>), StoreError> {
    Ok((row.get(1).map_err(explain)?, known(decode(row))?))
}

pub(super) fn run(connection: &Connection, run: &str) -> Result<Option<RunSummary>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT summary FROM run WHERE id = ?1")
        .map_err(explain)?;
    let rows = statement.query([run]).map_err(explain)?;
    Ok(all(rows, |row| json(row, 0))?.pop())
}

pub(super) fn runs(
    connection: &Connection,
    query: &RunQuery,
) -> Result<Decoded<Page<RunSummary>>, StoreError> {
    let mut conditions = Conditions::default();
    conditions.add_within("workspace", query.within.as_ref());
    conditions.add_some("workspace = ?", query.workspace.clone());
    conditions.add_some("backend = ?", query.backend.clone());
    // Spelt out, so that the index of the live ones can be used.
    match query.has_ended {
        Some(true) => conditions.add("has_ended = 1", []),
        Some(false) => conditions.add("has_ended = 0", []),
        None => {}
    }
    conditions.add_some("is_waiting = ?", query.is_waiting.map(i64::from));
    conditions.add_some(
        "number IN (SELECT run FROM session WHERE session = ?)",
        query.session.clone(),
    );
    conditions.add_some("started_at >= ?", query.since.map(nanoseconds));
    conditions.add_some("started_at < ?", query.until.map(nanoseconds));
    if let Some(cursor) = &query.cursor {
        let (at, id) = run_place(cursor).ok_or(StoreError::BadCursor)?;
        conditions.add("(started_at, id) < (?, ?)", [at.into(), id.to_owned().into()]);
    }
    let limit = bounded(query.limit);
    conditions.values.push(sql_limit(limit + 1));
    let sql = format!(
        "SELECT summary, id, started_at FROM run{} ORDER BY started_at DESC, id DESC LIMIT ?",
        conditions.sql
    );
    let mut statement = connection.prepare_cached(&sql).map_err(explain)?;
    let rows = statement
        .query(params_from_iter(conditions.values))
        .map_err(explain)?;
    let mut rows = all(rows, listed)?;
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    let last = rows.last().filter(|_| has_more);
    let next = last.map(|last| run_mark(last.started_at, &last.id));
    let (items, incompatible) = partition_decodable(rows.into_iter().map(Listed::into_row));
    Ok((Page { items, next }, incompatible))
}

pub(super) fn workspaces(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT workspace FROM run UNION SELECT workspace FROM usage_day ORDER BY workspace")
        .map_err(explain)?;
    let rows = statement.query([]).map_err(explain)?;
    all(rows, |row| row.get(0).map_err(explain))
}

/// Those of these runs that are in one of these workspaces.
pub(super) fn runs_within(
    connection: &Connection,
    runs: &[String],
    workspaces: &Vec<String>,
) -> Result<HashSet<String>, StoreError> {
    let mut conditions = Conditions::default();
    conditions.add_within("workspace", Some(workspaces));
    let names = serde_json::to_string(runs).unwrap_or_default();
    conditions.add("id IN (SELECT value FROM json_each(?))", [names.into()]);
    let sql = format!("SELECT id FROM run{}", conditions.sql);
    let mut statement = connection.prepare_cached(&sql).map_err(explain)?;
    let rows = statement
        .query(params_from_iter(conditions.values))
        .map_err(explain)?;
    Ok(all(rows, |row| row.get(0).map_err(explain))?
        .into_iter()
        .collect())
}

pub(super) fn indexed_runs(connection: &Connection) -> Result<Vec<IndexedRun>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT id, offset, ended_at, fold_version FROM run")
        .map_err(explain)?;
    let rows = statement.query([]).map_err(explain)?;
    all(rows, |row| {
        let read = || {
            Ok(IndexedRun {
                run: row.get(0)?,
                offset: count(row.get(1)?),
                ended_at: row.get::<_, Option<i64>>(2)?.map(timestamp),
                is_current: row.get::<_, i64>(3)? == i64::from(FOLD_VERSION),
            })
        };
        read().map_err(explain)
    })
}

/// How far a run has been taken in.
pub(super) struct Head {
    pub(super) run: String,
    pub(super) epoch: String,
    pub(super) offset: u64,
    /// Its last record.
    pub(super) seq: u64,
}

pub(super) fn heads(connection: &Connection) -> Result<Vec<Head>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT id, epoch, offset, head_seq FROM run")
        .map_err(explain)?;
    let rows = statement.query([]).map_err(explain)?;
    all(rows, |row| {
        let read = || {
            Ok(Head {
                run: row.get(0)?,
                epoch: row.get(1)?,
                offset: count(row.get(2)?),
                seq: count(row.get(3)?),
            })
        };
        read().map_err(explain)
    })
}

/// The summaries of these runs, and how much of each journal has been taken in. Runs that are unknown, or that this
/// version cannot read, are left out: whoever lists them sees to it.
pub(super) fn indexed_summaries(
    connection: &Connection,
    runs: &[String],
) -> Result<Vec<(RunSummary, u64)>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT offset FROM run WHERE id = ?1")
        .map_err(explain)?;
    let mut found = Vec::with_capacity(runs.len());
    for run in runs {
        let offset: Option<i64> = statement
            .query_row([run], |row| row.get(0))
            .optional()
            .map_err(explain)?;
        let summary = match self::run(connection, run) {
            Err(StoreError::Incompatible(_)) => None,
            summary => summary?,
        };
        if let (Some(summary), Some(offset)) = (summary, offset) {
            found.push((summary, count(offset)));
        }
    }
    Ok(found)
}

pub(super) fn progress(connection: &Connection, run: &str) -> Result<Option<Progress>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT number, offset, summary, state FROM run WHERE id = ?1")
        .map_err(explain)?;
    let mut rows = statement.query([run]).map_err(explain)?;
    let Some(row) = rows.next().map_err(explain)? else {
        return Ok(None);
    };
    let number: i64 = row.get(0).map_err(explain)?;
    let state: crate::fold::FoldState = json(row, 3)?;
    let (first, last) = (key(number, 0).unwrap_or(i64::MAX), last_key(number));
    let approvals = {
        let sql = format!("{APPROVALS} WHERE a.state = 0 AND a.key BETWEEN ?1 AND ?2 ORDER BY a.key");
        let mut statement = connection.prepare_cached(&sql).map_err(explain)?;
        all(statement.query((first, last)).map_err(explain)?, approval)?
    };
    let usage = match state.unsettled_from().and_then(|seq| key(number, seq)) {
        Some(from) => {
            let sql = "SELECT * FROM usage WHERE key BETWEEN ?1 AND ?2 ORDER BY key";
            let mut statement = connection.prepare_cached(sql).map_err(explain)?;
            all(statement.query((from, last)).map_err(explain)?, usage)?
        }
        None => Vec::new(),
    };
    Ok(Some(Progress {
        offset: count(row.get(1).map_err(explain)?),
        summary: json(row, 2)?,
        state,
        approvals,
        usage,
    }))
}

const APPROVALS: &str = "SELECT a.key, run.id, a.request, a.kind, a.asked_at, a.data, a.state, a.closed_at
    FROM approval a JOIN run ON run.number = (a.key >> 40)";

pub(super) fn approvals(
    connection: &Connection,
    query: &ApprovalQuery,
) -> Result<Decoded<ApprovalPage>, StoreError> {
    let mut conditions = Conditions::default();
    conditions.add_within("run.workspace", query.within.as_ref());
    if query.is_pending {
        conditions.add("a.state = 0", []);
    }
    if let Some(run) = &query.run {
        let Some(number) = number(connection, run)? else {
            return Ok(Decoded::default());
        };
        let first = key(number, 0).unwrap_or(i64::MAX);
        conditions.add("a.key BETWEEN ? AND ?", [first.into(), last_key(number).into()]);
    }
    if let Some((at, run, seq)) = &query.after {
        // Spelt out, so that the index by time can be used.
        let at = nanoseconds(*at);
        let seq = i64::try_from(*seq).unwrap_or(i64::MAX);
        conditions.add(
            "a.asked_at >= ? AND (a.asked_at, run.id, a.key & 0xffffffffff) > (?, ?, ?)",
            [at.into(), at.into(), run.clone().into(), seq.into()],
        );
    }
    let limit = bounded(query.limit);
    conditions.values.push(sql_limit(limit + 1));
    let sql = format!(
        "{APPROVALS}{} ORDER BY a.asked_at, run.id, a.key LIMIT ?",
        conditions.sql
    );
    let mut statement = connection.prepare_cached(&sql).map_err(explain)?;
    let rows = statement
        .query(params_from_iter(conditions.values))
        .map_err(explain)?;
    let rows = all(rows, |row| {
        let (seq, at) = (seq_of(row.get(0).map_err(explain)?), row.get(4).map_err(explain)?);
        let (run, approval) = of_run(row, approval)?;
        Ok(ListedApproval {
            at,
            run,
            seq,
            approval,
        })
    })?;
    Ok(ListedApproval::page(rows, limit))
}

const MESSAGES: &str = "SELECT m.key, run.id, m.id, m.command_id, m.at, m.mode, m.text, m.state
    FROM message m JOIN run ON run.number = (m.key >> 40)";

pub(super) fn messages(connection: &Connection, run: &str) -> Result<Decoded<Vec<MessageRow>>, StoreError> {
    let Some(number) = number(connection, run)? else {
        return Ok(Decoded::default());
    };
    let first = key(number, 0).unwrap_or(i64::MAX);
    let sql = format!("{MESSAGES} WHERE m.key BETWEEN ?1 AND ?2 ORDER BY m.key DESC LIMIT ?3");
    let mut statement = connection.prepare_cached(&sql).map_err(explain)?;
    let rows = statement.query((first, last_key(number), sql_limit(MAX_LIMIT)));
    let (mut messages, incompatible) =
        partition_decodable(all(rows.map_err(explain)?, |row| of_run(row, message))?);
    messages.reverse();
    Ok((messages, incompatible))
}

/// Counts ended runs by reason, queued messages and pending requests. Each reads one index and no row.
pub(super) const COUNTS: [&str; 3] = [
    "SELECT reason, count(*) FROM run WHERE has_ended = 1 GROUP BY reason",
    "SELECT count(*) FROM message WHERE state = 0",
    "SELECT count(*) FROM approval WHERE state = 0",
];

/// Figures about all runs.
pub(super) fn counts(connection: &Connection) -> Result<RunCounts, StoreError> {
    let [ended, queued, pending] = COUNTS;
    let mut statement = connection.prepare_cached(ended).map_err(explain)?;
    let rows = statement.query([]).map_err(explain)?;
    let ended = all(rows, |row| {
        let read = || Ok((row.get(0)?, count(row.get(1)?)));
        read().map_err(explain)
    })?;
    let one = |sql: &str| {
        let mut statement = connection.prepare_cached(sql).map_err(explain)?;
        let counted = statement.query_row([], |row| row.get(0));
        counted.map(count).map_err(explain)
    };
    Ok(RunCounts {
        ended,
        queued_messages: one(queued)?,
        pending_requests: one(pending)?,
    })
}

pub(super) fn response(connection: &Connection, asked: &str) -> Result<Option<SavedResponse>, StoreError> {
    connection
        .prepare_cached("SELECT digest, status, body, at FROM remembered WHERE key = ?1")
        .and_then(|mut statement| {
            let found = statement.query_row([asked], |row| {
                Ok(SavedResponse {
                    digest: row.get(0)?,
                    status: row.get(1)?,
                    body: row.get(2)?,
                    at: timestamp(row.get(3)?),
                })
            });
            found.optional()
        })
        .map_err(explain)
}
