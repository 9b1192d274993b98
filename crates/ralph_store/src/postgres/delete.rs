//! Deletes runs, or everything.

use sqlx::{AssertSqlSafe, Error, PgConnection};

use super::escape::escape_all;
use super::schema::RUN_TABLES;
use super::usage::keep_costs;

/// Tables whose rows are a run's.
const OF_RUN: [&str; 5] = ["session", "record", "usage", "approval", "message"];

/// Deletes the rows of a run, but for the one of the run itself. Its words are deleted by the next job that indexes words.
pub(super) async fn empty_run(connection: &mut PgConnection, number: i64) -> Result<(), Error> {
    sqlx::query("UPDATE run SET generation = generation + 1 WHERE number = $1")
        .bind(number)
        .execute(&mut *connection)
        .await?;
    empty_runs(connection, &[number]).await
}

async fn empty_runs(connection: &mut PgConnection, numbers: &[i64]) -> Result<(), Error> {
    for table in OF_RUN {
        sqlx::query(AssertSqlSafe(format!("DELETE FROM {table} WHERE run = ANY($1)")))
            .bind(numbers)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// Removes runs and their words, but for what they cost.
pub(super) async fn remove(connection: &mut PgConnection, runs: &[String]) -> Result<(), Error> {
    if runs.is_empty() {
        return Ok(());
    }
    let names = escape_all(runs);
    let numbers: Vec<i64> = sqlx::query_scalar("SELECT number FROM run WHERE id = ANY($1)")
        .bind(&names)
        .fetch_all(&mut *connection)
        .await?;
    if numbers.is_empty() {
        return Ok(());
    }
    keep_costs(connection, Some(&numbers)).await?;
    empty_runs(connection, &numbers).await?;
    // A job that writes words holds the `text_run` row: deleting that row waits for the job, and the next statement sees
    // what it wrote.
    for sql in [
        "DELETE FROM run WHERE number = ANY($1)",
        "DELETE FROM text_run WHERE run = ANY($1)",
        "DELETE FROM text WHERE run = ANY($1)",
    ] {
        sqlx::query(sql).bind(&numbers).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Deletes everything.
pub(super) async fn empty(connection: &mut PgConnection) -> Result<(), Error> {
    sqlx::query(AssertSqlSafe(format!(
        "TRUNCATE {RUN_TABLES}, usage_day, remembered"
    )))
    .execute(connection)
    .await?;
    Ok(())
}

/// Removes all runs but for what they cost.
pub(super) async fn clear(connection: &mut PgConnection) -> Result<(), Error> {
    keep_costs(connection, None).await?;
    sqlx::query(AssertSqlSafe(format!("TRUNCATE {RUN_TABLES}")))
        .execute(connection)
        .await?;
    Ok(())
}
