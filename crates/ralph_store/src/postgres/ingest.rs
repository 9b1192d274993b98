//! `ingest`: writes batches of rows.

use std::collections::HashMap;

use sqlx::{Error, PgConnection};

use super::delete::{empty_run, remove};
use super::escape::{escape, unescape};
use super::rows::Rows;
use super::usage::{drop_kept_costs, is_compacted};
use crate::columns::count;
use crate::rows::{Batch, Ingested};

struct Known {
    number: i64,
    offset: u64,
    epoch: String,
    has_ended: bool,
    fold_version: i64,
}

impl Known {
    /// Whether a batch is of the same journal and made by the same version of the fold. One that is not replaces the run.
    fn connects(&self, batch: &Batch) -> bool {
        self.epoch == batch.summary.epoch && self.fold_version == i64::from(batch.state.version())
    }
}

/// Takes batches in, within the caller's transaction.
pub(super) async fn ingest(connection: &mut PgConnection, batches: &[Batch]) -> Result<Ingested, Error> {
    let mut ingested = Ingested::default();
    let mut known = find(connection, batches).await?;
    let mut numbers = new_numbers(connection, batches, &known).await?.into_iter();
    let mut rows = Rows::default();
    let begun: Vec<String> = batches
        .iter()
        .filter(|batch| batch.start == 0)
        .filter(|batch| {
            known
                .get(&batch.summary.id)
                .is_none_or(|known| !known.connects(batch))
        })
        .map(|batch| batch.summary.id.clone())
        .collect();
    drop_kept_costs(connection, &begun).await?;
    // A later report can change the usage of messages of which only sums are left.
    let outgrown = outgrown(connection, batches, &known).await?;
    remove(connection, &outgrown).await?;
    for batch in batches {
        let (run, epoch) = (&batch.summary.id, &batch.summary.epoch);
        if outgrown.contains(run) {
            ingested.disconnected.push(run.clone());
            continue;
        }
        let offset = match known.get_mut(run) {
            Some(known) if known.connects(batch) => {
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
                ingested.records += std::mem::take(&mut rows).put(connection).await?;
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
                has_ended: batch.summary.ended_at.is_some(),
                fold_version: batch.state.version().into(),
            },
        );
    }
    ingested.records += rows.put(connection).await?;
    Ok(ingested)
}

async fn find(connection: &mut PgConnection, batches: &[Batch]) -> Result<HashMap<String, Known>, Error> {
    let names: Vec<String> = batches
        .iter()
        .map(|batch| escape(&batch.summary.id).into_owned())
        .collect();
    let rows: Vec<(String, i64, i64, String, bool, i64)> = sqlx::query_as(
        "SELECT id, number, journal_offset, epoch, has_ended, fold_version FROM run WHERE id = ANY($1)",
    )
    .bind(names)
    .fetch_all(connection)
    .await?;
    let known = rows.into_iter().map(|row| {
        let (id, number, offset, epoch, has_ended, fold_version) = row;
        let known = Known {
            number,
            offset: count(offset),
            epoch: unescape(epoch),
            has_ended,
            fold_version,
        };
        (unescape(id), known)
    });
    Ok(known.collect())
}

/// The runs whose usage was compacted and whose journals have grown.
async fn outgrown(
    connection: &mut PgConnection,
    batches: &[Batch],
    known: &HashMap<String, Known>,
) -> Result<Vec<String>, Error> {
    let mut outgrown: Vec<String> = Vec::new();
    for batch in batches {
        let run = &batch.summary.id;
        let grows = |known: &Known| {
            known.has_ended
                && known.connects(batch)
                && batch.start <= known.offset
                && batch.offset > known.offset
        };
        if known.get(run).is_some_and(grows)
            && !outgrown.contains(run)
            && is_compacted(connection, run).await?
        {
            outgrown.push(run.clone());
        }
    }
    Ok(outgrown)
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
