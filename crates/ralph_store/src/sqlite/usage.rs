//! Sums over usage rows: what `/costs` shows, and what is kept of runs that ended long ago or were removed.
//!
//! SQLite fails when a sum of integers does not fit into 64 bits. So each column is summed as two halves of 32 bits, which
//! cannot overflow, and put together in 128 bits.

use std::fmt::Write as _;

use agent_api::{MicroUsd, Tokens};
use rusqlite::{Connection, Row, params_from_iter};

use super::decode::all;
use super::explain::explain;
use super::read::{Conditions, sql_limit};
use super::schema::{key, last_key};
use crate::columns::{bounded, count, nanoseconds};
use crate::error::StoreError;
use crate::query::{CostGroup, CostQuery, CostRow};

const FIGURES: [&str; 6] = [
    "input",
    "cache_read",
    "cache_write",
    "output",
    "reasoning",
    "cost",
];

/// Two columns of SQL for each figure.
fn halves() -> String {
    FIGURES.iter().fold(String::new(), |mut sql, figure| {
        let _ = write!(sql, ", sum({figure} >> 32), sum({figure} & 4294967295)");
        sql
    })
}

/// The sums of [`halves`] from column `first` on, in the order of [`FIGURES`].
fn sums(row: &Row<'_>, first: usize) -> rusqlite::Result<[i64; FIGURES.len()]> {
    let mut sums = [0; FIGURES.len()];
    for (index, sum) in sums.iter_mut().enumerate() {
        let high: Option<i64> = row.get(first + 2 * index)?;
        let low: Option<i64> = row.get(first + 2 * index + 1)?;
        let whole = (i128::from(high.unwrap_or(0)) << 32) + i128::from(low.unwrap_or(0));
        *sum = i64::try_from(whole).unwrap_or(if whole < 0 { i64::MIN } else { i64::MAX });
    }
    Ok(sums)
}

/// Adds up the usage by message, and the sums of runs that were compacted or removed.
pub(super) fn costs(connection: &Connection, query: &CostQuery) -> Result<Vec<CostRow>, StoreError> {
    let day = "strftime('%Y-%m-%d', at / 1000000000, 'unixepoch')";
    let model = "coalesce(model, 'unknown')";
    let (here, removed) = match query.group {
        CostGroup::Day => (day, day),
        CostGroup::Model => (model, model),
        CostGroup::Workspace => ("run.workspace", "workspace"),
        CostGroup::Backend => ("run.backend", "backend"),
        CostGroup::Run => ("run.id", "run"),
    };
    let conditions = |label: &str, workspace: &str| {
        let mut conditions = Conditions::default();
        conditions.add_some("at >= ?", query.since.map(nanoseconds));
        conditions.add_some("at < ?", query.until.map(nanoseconds));
        conditions.add_within(workspace, query.within.as_ref());
        conditions.add_some(&format!("{workspace} = ?"), query.workspace.clone());
        conditions.add_some(&format!("{label} > ?"), query.after.clone());
        conditions
    };
    let here_only = conditions(here, "run.workspace");
    let removed_only = conditions(removed, "workspace");
    let figures = FIGURES.join(", ");
    let sql = format!(
        "SELECT label, sum(messages), max(is_estimate){halves} FROM (
             SELECT {here} AS label, 1 AS messages, is_estimate, {figures}
             FROM usage JOIN run ON run.number = (key >> 40){}
             UNION ALL
             SELECT {removed} AS label, messages, is_estimate, {figures} FROM usage_day{}
         ) GROUP BY label ORDER BY label LIMIT ?",
        here_only.sql,
        removed_only.sql,
        halves = halves(),
    );
    let values = here_only.values.into_iter().chain(removed_only.values);
    let values = values.chain([sql_limit(bounded(query.limit))]);
    let mut statement = connection.prepare_cached(&sql).map_err(explain)?;
    let rows = statement.query(params_from_iter(values)).map_err(explain)?;
    all(rows, |row| {
        let read = || {
            let [input, cache_read, cache_write, output, reasoning, cost] = sums(row, 3)?.map(count);
            Ok(CostRow {
                key: row.get(0)?,
                messages: count(row.get(1)?),
                tokens: Tokens {
                    input,
                    cache_read,
                    cache_write,
                    output,
                    reasoning,
                },
                cost: MicroUsd::new(cost),
                is_estimate: row.get(2)?,
            })
        };
        read().map_err(explain)
    })
}

/// Which runs' usage is kept.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kept {
    /// The run with this number.
    Run(i64),
    /// All runs of an attached database.
    All {
        /// Its name.
        database: &'static str,
    },
}

/// Keeps what runs used each day with each model, for the time after their rows are deleted.
pub(super) fn keep_costs(connection: &Connection, kept: Kept) -> rusqlite::Result<()> {
    let (database, keys) = match kept {
        Kept::Run(number) => ("main", (key(number, 0).unwrap_or(i64::MAX), last_key(number))),
        Kept::All { database } => (database, (0, i64::MAX)),
    };
    let sql = format!(
        "SELECT run.id, max(at), model, run.workspace, run.backend, count(*), max(is_estimate), count(cost){halves}
         FROM {database}.usage JOIN {database}.run AS run ON run.number = (key >> 40)
         WHERE key BETWEEN ?1 AND ?2 GROUP BY run.number, model, at / 86400000000000",
        halves = halves(),
    );
    let mut select = connection.prepare_cached(&sql)?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO main.usage_day(run, at, model, workspace, backend, messages, is_estimate, input, cache_read,
             cache_write, output, reasoning, cost)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?;
    let mut rows = select.query(keys)?;
    while let Some(row) = rows.next()? {
        let [input, cache_read, cache_write, output, reasoning, cost] = sums(row, 8)?;
        let cost = (row.get::<_, i64>(7)? > 0).then_some(cost);
        insert.execute(rusqlite::params![
            row.get::<_, String>(0)?,
            row.get::<_, i64>(1)?,
            row.get::<_, Option<String>>(2)?,
            row.get::<_, String>(3)?,
            row.get::<_, String>(4)?,
            row.get::<_, i64>(5)?,
            row.get::<_, i64>(6)?,
            input,
            cache_read,
            cache_write,
            output,
            reasoning,
            cost,
        ])?;
    }
    Ok(())
}

/// The runs that ended before this time and have usage by message.
pub(super) fn compactable(connection: &Connection, ended_before: i64) -> Result<Vec<i64>, StoreError> {
    let mut statement = connection
        .prepare_cached(
            "SELECT number FROM run WHERE ended_at < ?1
             AND EXISTS (SELECT 1 FROM usage WHERE key >= (number << 40) AND key < ((number + 1) << 40))",
        )
        .map_err(explain)?;
    let rows = statement.query([ended_before]).map_err(explain)?;
    all(rows, |row| row.get(0).map_err(explain))
}

/// Replaces the usage of each message of these runs by sums. Checks again that they have ended: meanwhile a number may
/// belong to another run.
pub(super) fn compact(connection: &Connection, runs: &[i64], ended_before: i64) -> rusqlite::Result<()> {
    for number in runs {
        let has_ended: bool = connection
            .prepare_cached("SELECT count(*) > 0 FROM run WHERE number = ?1 AND ended_at < ?2")?
            .query_row((number, ended_before), |row| row.get(0))?;
        if has_ended {
            keep_costs(connection, Kept::Run(*number))?;
            connection
                .prepare_cached("DELETE FROM usage WHERE key BETWEEN ?1 AND ?2")?
                .execute((key(*number, 0).unwrap_or(i64::MAX), last_key(*number)))?;
        }
    }
    Ok(())
}

/// Whether the usage of a run that is here has been replaced by sums.
pub(super) fn is_compacted(connection: &Connection, run: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT count(*) > 0 FROM usage_day WHERE run = ?1")?
        .query_row([run], |row| row.get(0))
}

/// Drops what was kept of a run: it is being taken in again.
pub(super) fn drop_kept_costs(connection: &Connection, run: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM usage_day WHERE run = ?1")?
        .execute([run])?;
    Ok(())
}
