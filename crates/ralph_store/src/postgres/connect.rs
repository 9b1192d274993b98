//! `open_writer`: connects, takes the lock of the one server, and upgrades the schema.

use std::time::{Duration, Instant};

use sqlx::{ConnectOptions as _, Connection as _, Error, PgConnection};

use super::address::{Address, Purpose};
use super::delete;
use super::explain::{explain, is_worth_waiting, within};
use super::migrate::migrate;
use super::schema::MIGRATIONS;
use crate::error::StoreError;
use crate::home_claim::{Claimed, HomeClaim};

/// A database that takes longer is not there. One that is down says so at once; one on a machine with much to do takes
/// seconds to make several connections, each with a process and a password to be proved.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(8);
/// The lock of the one server: the letters of its name.
const LOCK: i64 = 0x0072_616c_7068;
/// How long to wait for another server that is just closing: the database notices a broken connection a little later.
const LOCK_WAIT: &str = "SET lock_timeout = '2s'";
const OLDEST_SERVER: i32 = 120_000;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// A database that is not there yet is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// What it said, or why it said nothing.
    pub problem: String,
    /// How long it was waited for.
    pub waited: Duration,
    /// How long it will be waited for in all.
    pub patience: Duration,
}

/// Why there is no connection, and whether there may be one soon.
pub(super) struct NoConnection {
    pub(super) error: StoreError,
    pub(super) is_worth_waiting: bool,
}

impl From<Error> for NoConnection {
    fn from(error: Error) -> Self {
        Self {
            is_worth_waiting: is_worth_waiting(&error),
            error: explain(error),
        }
    }
}

impl From<StoreError> for NoConnection {
    fn from(error: StoreError) -> Self {
        Self {
            error,
            is_worth_waiting: false,
        }
    }
}

/// A connection.
pub(super) async fn open(address: &Address, purpose: Purpose) -> Result<PgConnection, Error> {
    let options = address.options(purpose);
    within(CONNECT_TIMEOUT, options.connect()).await
}

/// The connection that writes: with the lock of the one server, and with our tables.
pub(super) async fn open_writer(
    address: &Address,
    home: Option<&HomeClaim>,
) -> Result<PgConnection, NoConnection> {
    let mut connection = open(address, Purpose::Write).await?;
    check_server(&mut connection).await?;
    lock(&mut connection, address).await?;
    migrate(&mut connection, MIGRATIONS).await?;
    if let Some(home) = home {
        claim(&mut connection, home).await?;
    }
    Ok(connection)
}

/// Checks that the index belongs to this state directory. One without an id becomes its own.
async fn claim(connection: &mut PgConnection, home: &HomeClaim) -> Result<(), NoConnection> {
    let found: Option<String> = sqlx::query_scalar("SELECT id FROM home")
        .fetch_optional(&mut *connection)
        .await?;
    let claimed = home.check(found.as_deref())?;
    if claimed == Claimed::Ours {
        return Ok(());
    }
    let mut transaction = connection.begin().await?;
    if claimed == Claimed::TakeOver {
        delete::empty(&mut transaction).await?;
    }
    sqlx::query("DELETE FROM home").execute(&mut *transaction).await?;
    sqlx::query("INSERT INTO home VALUES($1)")
        .bind(&home.id)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(())
}

/// As [`open_writer`], with patience for a database that is not there yet.
pub(super) async fn wait_for_writer(
    address: &Address,
    home: Option<&HomeClaim>,
    patience: Duration,
    mut on_wait: impl FnMut(&Waiting),
) -> Result<PgConnection, StoreError> {
    let start = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match open_writer(address, home).await {
            Ok(connection) => return Ok(connection),
            Err(refused) if refused.is_worth_waiting && start.elapsed() + pause < patience => {
                on_wait(&Waiting {
                    problem: refused.error.to_string(),
                    waited: start.elapsed(),
                    patience,
                });
            }
            Err(refused) => return Err(refused.error),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

async fn check_server(connection: &mut PgConnection) -> Result<(), NoConnection> {
    let (version, encoding): (i32, String) = sqlx::query_as(
        "SELECT current_setting('server_version_num')::integer, current_setting('server_encoding')",
    )
    .fetch_one(connection)
    .await?;
    if version < OLDEST_SERVER {
        let message = format!("PostgreSQL {} is too old, 12 is needed", version / 10_000);
        return Err(StoreError::Unavailable(message).into());
    }
    if encoding != "UTF8" {
        let message = format!("the database's encoding is {encoding}, UTF8 is needed");
        return Err(StoreError::Unavailable(message).into());
    }
    Ok(())
}

/// Takes the lock of the one server. It is ours as long as the connection is.
async fn lock(connection: &mut PgConnection, address: &Address) -> Result<(), NoConnection> {
    sqlx::raw_sql(LOCK_WAIT).execute(&mut *connection).await?;
    let taken = sqlx::query("SELECT pg_advisory_lock($1)")
        .bind(LOCK)
        .execute(&mut *connection)
        .await;
    match taken {
        Ok(_) => {}
        Err(Error::Database(said)) if said.code().as_deref() == Some("55P03") => {
            let pid = holder(connection).await?;
            let directory = address.shown();
            return Err(StoreError::InUse { directory, pid }.into());
        }
        Err(error) => return Err(error.into()),
    }
    sqlx::raw_sql("SET lock_timeout = '10s'")
        .execute(connection)
        .await?;
    Ok(())
}

/// Gives the lock back, and leaves.
pub(super) async fn leave(mut connection: PgConnection) -> Result<(), Error> {
    let left = async {
        sqlx::query("SELECT pg_advisory_unlock($1)")
            .bind(LOCK)
            .execute(&mut connection)
            .await?;
        connection.close().await
    };
    within(CONNECT_TIMEOUT, left).await
}

/// The process that has the lock, if it is on this machine: its connection says so.
async fn holder(connection: &mut PgConnection) -> Result<Option<u32>, Error> {
    let name: Option<String> = sqlx::query_scalar(
        "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
         WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
             AND (l.classid::bigint << 32) + l.objid::bigint = $1
             AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
             AND a.client_addr IS NOT DISTINCT FROM inet_client_addr()",
    )
    .bind(LOCK)
    .fetch_optional(connection)
    .await?;
    Ok(name.and_then(|name| name.strip_prefix("ralph ")?.parse().ok()))
}
