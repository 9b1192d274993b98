//! Taking batches in.

use std::collections::HashMap;

use sqlx::{Error, PgConnection};

use super::delete::empty_run;
use super::escape::{escape, unescape};
use super::rows::{Kinds, Rows};
use crate::columns::count;
use crate::rows::{Batch, Ingested};

struct Known {
    number: i64,
    offset: u64,
    epoch: String,
}

/// Takes batches in, within the caller's transaction.
pub(super) async fn ingest(
    connection: &mut PgConnection,
    kinds: &mut Kinds,
    batches: &[Batch],
) -> Result<Ingested, Error> {
    let mut ingested = Ingested::default();
    let mut known = find(connection, batches).await?;
    let mut numbers = new_numbers(connection, batches, &known).await?.into_iter();
    let mut rows = Rows::default();
    for batch in batches {
        let (run, epoch) = (&batch.summary.id, &batch.summary.epoch);
        let offset = match known.get_mut(run) {
            Some(known) if known.epoch == *epoch => {
                if batch.offset <= known.offset {
                    continue;
                }
                if batch.start > known.offset {
                    ingested.disconnected.push(run.clone());
                    continue;
                }
                known.offset
            }
            _ if batch.start > 0 => {
                ingested.disconnected.push(run.clone());
                continue;
            }
            Some(other) => {
                // What was to be put for the old journal goes with it.
                ingested.records += std::mem::take(&mut rows).put(connection, kinds).await?;
                empty_run(connection, other.number).await?;
                0
            }
            None => 0,
        };
        let number = match known.get(run) {
            Some(known) => known.number,
            None => numbers.next().ok_or(Error::RowNotFound)?,
        };
        rows.add(number, offset, batch);
        known.insert(
            run.clone(),
            Known {
                number,
                offset: batch.offset,
                epoch: epoch.clone(),
            },
        );
    }
    ingested.records += rows.put(connection, kinds).await?;
    Ok(ingested)
}

async fn find(connection: &mut PgConnection, batches: &[Batch]) -> Result<HashMap<String, Known>, Error> {
    let names: Vec<String> = batches
        .iter()
        .map(|batch| escape(&batch.summary.id).into_owned())
        .collect();
    let rows: Vec<(String, i64, i64, String)> =
        sqlx::query_as("SELECT id, number, journal_offset, epoch FROM run WHERE id = ANY($1)")
            .bind(names)
            .fetch_all(connection)
            .await?;
    let known = rows.into_iter().map(|(id, number, offset, epoch)| {
        let known = Known {
            number,
            offset: count(offset),
            epoch: unescape(epoch),
        };
        (unescape(id), known)
    });
    Ok(known.collect())
}

/// Enough numbers for all runs that are new.
async fn new_numbers(
    connection: &mut PgConnection,
    batches: &[Batch],
    known: &HashMap<String, Known>,
) -> Result<Vec<i64>, Error> {
    let new = batches
        .iter()
        .filter(|batch| batch.start == 0 && !known.contains_key(&batch.summary.id));
    let new = i64::try_from(new.count()).unwrap_or(i64::MAX);
    if new == 0 {
        return Ok(Vec::new());
    }
    sqlx::query_scalar("SELECT nextval('run_number') FROM generate_series(1, $1)")
        .bind(new)
        .fetch_all(connection)
        .await
}
