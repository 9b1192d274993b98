//! `migrate`: upgrades an older schema. Forward only.

use sqlx::{AssertSqlSafe, Connection as _, Error, PgConnection};

use super::explain::explain;
use super::schema::SCHEMA;
use crate::error::StoreError;

/// Brings a database to the last version, each step whole or not at all. The caller holds the lock, so no other server
/// migrates at the same time.
pub(super) async fn migrate(connection: &mut PgConnection, steps: &[&'static str]) -> Result<(), StoreError> {
    let to = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    let from = version(connection).await.map_err(explain)?;
    if from > to {
        return Err(StoreError::NewerSchema {
            found: from,
            known: to,
        });
    }
    for (step, version) in steps.iter().zip(1_i64..) {
        if version > from {
            take_step(connection, step, version).await.map_err(explain)?;
        }
    }
    Ok(())
}

/// The version of what is there; 0 if there is nothing.
async fn version(connection: &mut PgConnection) -> Result<i64, Error> {
    let is_there: bool = sqlx::query_scalar("SELECT to_regclass($1) IS NOT NULL")
        .bind(format!("{SCHEMA}.schema_version"))
        .fetch_one(&mut *connection)
        .await?;
    if !is_there {
        return Ok(0);
    }
    sqlx::query_scalar("SELECT coalesce(max(version), 0)::bigint FROM schema_version")
        .fetch_one(connection)
        .await
}

async fn take_step(connection: &mut PgConnection, step: &'static str, version: i64) -> Result<(), Error> {
    let mut transaction = connection.begin().await?;
    // A step may have to go through all rows.
    sqlx::raw_sql("SET LOCAL statement_timeout = 0")
        .execute(&mut *transaction)
        .await?;
    if version == 1 {
        // Created only if it is missing: a user who may use a schema may not always create one.
        let is_there: bool = sqlx::query_scalar("SELECT to_regnamespace($1) IS NOT NULL")
            .bind(SCHEMA)
            .fetch_one(&mut *transaction)
            .await?;
        if !is_there {
            sqlx::raw_sql(AssertSqlSafe(format!("CREATE SCHEMA {SCHEMA}")))
                .execute(&mut *transaction)
                .await?;
        }
        sqlx::raw_sql("CREATE TABLE schema_version(version bigint PRIMARY KEY, at timestamptz NOT NULL)")
            .execute(&mut *transaction)
            .await?;
    }
    sqlx::raw_sql(step).execute(&mut *transaction).await?;
    sqlx::query("INSERT INTO schema_version VALUES($1, now())")
        .bind(version)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await
}
