//! Sums over usage rows: what `/costs` shows, and what is kept of a run that is removed.

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

/// A column of SQL for each figure. Sums of integers are numerics here and cannot overflow: one that does not fit is the
/// largest integer there is.
fn sums() -> String {
    let sum = |figure: &str| {
        format!("greatest(-9223372036854775808, least(sum({figure}), 9223372036854775807))::bigint")
    };
    FIGURES.map(sum).join(", ")
}

/// Adds up the usage of runs that are here and of those that were removed.
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
        sums().replace("sum(cost)", "sum(coalesce(cost, 0))"),
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

/// Keeps what runs used each day with each model, for the time after they are removed.
pub(super) async fn keep_costs(connection: &mut PgConnection, runs: Option<&[i64]>) -> Result<(), Error> {
    let sql = format!(
        "INSERT INTO usage_day(run, at, model, workspace, backend, messages, is_estimate, {})
         SELECT run.id, max(at), model, run.workspace, run.backend, count(*), bool_or(is_estimate), {}
         FROM usage JOIN run ON run.number = usage.run
         WHERE $1::bigint[] IS NULL OR run.number = ANY($1)
         GROUP BY run.id, run.workspace, run.backend, model, at / 86400000000000",
        FIGURES.join(", "),
        sums(),
    );
    sqlx::query(AssertSqlSafe(sql))
        .bind(runs)
        .execute(connection)
        .await?;
    Ok(())
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
