//! Sums over usage rows: what `/costs` shows, and what is kept of runs that ended long ago or were removed.

use agent_api::MicroUsd;
use sqlx::{AssertSqlSafe, Error, PgConnection, Postgres, QueryBuilder};

use super::decode::{number, text, tokens};
use super::escape::{escape, escape_all};
use crate::columns::{bounded, integer, nanoseconds};
use crate::query::{CostGroup, CostQuery, CostRow};

const FIGURES: [&str; 6] = [
    "input",
    "cache_read",
    "cache_write",
    "output",
    "reasoning",
    "cost",
];

/// The sum of a figure as SQL; 0 if all of them are unknown. Sums of integers are numerics here and cannot overflow: one
/// that does not fit is the largest integer there is.
fn sum(figure: &str) -> String {
    // `least` leaves out nulls: a sum of nulls would be the largest integer.
    format!("greatest(-9223372036854775808, least(sum(coalesce({figure}, 0)), 9223372036854775807))::bigint")
}

/// As [`sum`], but null if all of them are unknown.
fn sum_or_null(figure: &str) -> String {
    format!("CASE WHEN count({figure}) > 0 THEN {} END", sum(figure))
}

/// Adds up the usage by message, and the sums of runs that were compacted or removed.
pub(super) async fn costs(connection: &mut PgConnection, query: &CostQuery) -> Result<Vec<CostRow>, Error> {
    let day = "to_char(to_timestamp(at / 1000000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD') COLLATE \"C\"";
    let model = "coalesce(model, 'unknown')";
    let (here, removed) = match query.group {
        CostGroup::Day => (day, day),
        CostGroup::Model => (model, model),
        CostGroup::Workspace => ("run.workspace", "workspace"),
        CostGroup::Backend => ("run.backend", "backend"),
        CostGroup::Run => ("run.id", "run"),
    };
    let figures = FIGURES.join(", ");
    let mut sql = QueryBuilder::new(format!(
        "SELECT label, sum(messages)::bigint, {}, bool_or(is_estimate) FROM (
             SELECT {here} AS label, 1 AS messages, is_estimate, {figures}
             FROM usage JOIN run ON run.number = usage.run WHERE true",
        FIGURES.map(sum).join(", "),
    ));
    push_conditions(&mut sql, query, here, "run.workspace");
    sql.push(format!(
        " UNION ALL SELECT {removed}, messages, is_estimate, {figures} FROM usage_day WHERE true"
    ));
    push_conditions(&mut sql, query, removed, "workspace");
    sql.push(") AS used GROUP BY label ORDER BY label LIMIT ")
        .push_bind(integer(bounded(query.limit) as u64));
    let rows = sql.build().fetch_all(connection).await?;
    rows.iter()
        .map(|row| {
            Ok(CostRow {
                key: text(row, 0)?,
                messages: number(row, 1)?,
                tokens: tokens(row, 2)?,
                cost: MicroUsd::new(number(row, 7)?),
                is_estimate: sqlx::Row::try_get(row, 8)?,
            })
        })
        .collect()
}

fn push_conditions(sql: &mut QueryBuilder<Postgres>, query: &CostQuery, label: &str, workspace: &str) {
    if let Some(since) = query.since {
        sql.push(" AND at >= ").push_bind(nanoseconds(since));
    }
    if let Some(until) = query.until {
        sql.push(" AND at < ").push_bind(nanoseconds(until));
    }
    if let Some(name) = &query.workspace {
        sql.push(format!(" AND {workspace} = "))
            .push_bind(escape(name).into_owned());
    }
    if let Some(workspaces) = &query.within {
        sql.push(format!(" AND {workspace} = ANY("))
            .push_bind(escape_all(workspaces))
            .push(")");
    }
    if let Some(after) = &query.after {
        sql.push(format!(" AND {label} > "))
            .push_bind(escape(after).into_owned());
    }
}

/// Keeps what runs used each day with each model, for the time after their rows are deleted.
pub(super) async fn keep_costs(connection: &mut PgConnection, runs: Option<&[i64]>) -> Result<(), Error> {
    let sql = format!(
        "INSERT INTO usage_day(run, at, model, workspace, backend, messages, is_estimate, {})
         SELECT run.id, max(at), model, run.workspace, run.backend, count(*), bool_or(is_estimate), {}
         FROM usage JOIN run ON run.number = usage.run
         WHERE $1::bigint[] IS NULL OR run.number = ANY($1)
         GROUP BY run.id, run.workspace, run.backend, model, at / 86400000000000",
        FIGURES.join(", "),
        FIGURES.map(sum_or_null).join(", "),
    );
    sqlx::query(AssertSqlSafe(sql))
        .bind(runs)
        .execute(connection)
        .await?;
    Ok(())
}

/// The runs that ended before this time and have usage by message.
pub(super) async fn compactable(connection: &mut PgConnection, ended_before: i64) -> Result<Vec<i64>, Error> {
    sqlx::query_scalar(
        "SELECT number FROM run WHERE ended_at < $1
         AND EXISTS (SELECT 1 FROM usage WHERE usage.run = run.number)",
    )
    .bind(ended_before)
    .fetch_all(connection)
    .await
}

/// Replaces the usage of each message of these runs by sums. Checks again that they have ended: meanwhile another journal
/// may have taken the place of one.
pub(super) async fn compact(
    connection: &mut PgConnection,
    runs: &[i64],
    ended_before: i64,
) -> Result<(), Error> {
    let ended: Vec<i64> =
        sqlx::query_scalar("SELECT number FROM run WHERE number = ANY($1) AND ended_at < $2")
            .bind(runs)
            .bind(ended_before)
            .fetch_all(&mut *connection)
            .await?;
    keep_costs(connection, Some(&ended)).await?;
    sqlx::query("DELETE FROM usage WHERE run = ANY($1)")
        .bind(ended)
        .execute(connection)
        .await?;
    Ok(())
}

/// Whether the usage of a run that is here has been replaced by sums.
pub(super) async fn is_compacted(connection: &mut PgConnection, run: &str) -> Result<bool, Error> {
    sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM usage_day WHERE run = $1)")
        .bind(escape(run))
        .fetch_one(connection)
        .await
}

/// Drops what was kept of runs: they are being taken in again.
pub(super) async fn drop_kept_costs(connection: &mut PgConnection, runs: &[String]) -> Result<(), Error> {
    if runs.is_empty() {
        return Ok(());
    }
    sqlx::query("DELETE FROM usage_day WHERE run = ANY($1)")
        .bind(escape_all(runs))
        .execute(connection)
        .await?;
    Ok(())
}
