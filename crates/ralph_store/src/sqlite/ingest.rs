//! `ingest`: writes batches of rows.

use rusqlite::{Connection, OptionalExtension as _};

use super::delete::{empty_run, remove};
use super::schema::key;
use super::usage::{drop_kept_costs, is_compacted};
use crate::columns::{approval_kind, approval_state, integer, message_state, nanoseconds, reason_word};
use crate::fold::tells_of_sessions;
use crate::rows::{Batch, Ingested};

struct Known {
    number: i64,
    offset: u64,
    epoch: String,
    has_ended: bool,
    is_waiting: bool,
    fold_version: i64,
}

/// Takes batches in, within the caller's transaction.
pub(super) fn ingest(connection: &Connection, batches: &[Batch]) -> rusqlite::Result<Ingested> {
    let mut ingested = Ingested::default();
    for batch in batches {
        let known = find(connection, &batch.summary.id)?;
        let (known, offset) = match known {
            Some(known) if known.connects(batch) => {
                if batch.offset <= known.offset {
                    continue;
                }
                if batch.start > known.offset {
                    ingested.disconnected.push(batch.summary.id.clone());
                    continue;
                }
                if known.has_ended && is_compacted(connection, &batch.summary.id)? {
                    // A later report can change the usage of messages of which only sums are left.
                    remove(connection, std::slice::from_ref(&batch.summary.id))?;
                    ingested.disconnected.push(batch.summary.id.clone());
                    continue;
                }
                let offset = known.offset;
                (Some(known), offset)
            }
            _ if batch.start > 0 => {
                ingested.disconnected.push(batch.summary.id.clone());
                continue;
            }
            Some(known) => {
                empty_run(connection, known.number)?;
                (Some(known), 0)
            }
            None => (None, 0),
        };
        if offset == 0 {
            drop_kept_costs(connection, &batch.summary.id)?;
        }
        let number = match known {
            Some(known) if known.is_like(batch) => update_run(connection, known.number, batch)?,
            known => put_run(connection, known.map(|known| known.number), batch)?,
        };
        put_sessions(connection, number, batch)?;
        put_usage(connection, number, batch)?;
        put_approvals(connection, number, batch)?;
        put_messages(connection, number, batch)?;
        ingested.records += batch.records_from(offset).count() as u64;
    }
    Ok(ingested)
}

fn find(connection: &Connection, run: &str) -> rusqlite::Result<Option<Known>> {
    connection
        .prepare_cached(
            "SELECT number, offset, epoch, has_ended, is_waiting, fold_version FROM run WHERE id = ?1",
        )?
        .query_row([run], |row| {
            Ok(Known {
                number: row.get(0)?,
                offset: row.get::<_, i64>(1)?.unsigned_abs(),
                epoch: row.get(2)?,
                has_ended: row.get(3)?,
                is_waiting: row.get(4)?,
                fold_version: row.get(5)?,
            })
        })
        .optional()
}

impl Known {
    /// Whether a batch is of the same journal and made by the same version of the fold. One that is not replaces the run.
    fn connects(&self, batch: &Batch) -> bool {
        self.epoch == batch.summary.epoch && self.fold_version == i64::from(batch.state.version())
    }

    /// Whether a batch changes nothing that lists are sorted or filtered by.
    fn is_like(&self, batch: &Batch) -> bool {
        batch.start > 0
            && self.epoch == batch.summary.epoch
            && self.has_ended == batch.summary.ended_at.is_some()
            && self.is_waiting == batch.summary.activity.needs_person()
    }
}

/// Updates what changes with every batch. The columns of indexes are left out: SQLite would write their entries again
/// although they are the same.
fn update_run(connection: &Connection, number: i64, batch: &Batch) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "UPDATE run SET offset = ?2, head_seq = ?3, summary = ?4, state = ?5 WHERE number = ?1",
        )?
        .execute((
            number,
            integer(batch.offset),
            integer(batch.summary.head_seq),
            text(&batch.summary)?,
            text(&batch.state)?,
        ))?;
    Ok(number)
}

fn put_run(connection: &Connection, number: Option<i64>, batch: &Batch) -> rusqlite::Result<i64> {
    let summary = &batch.summary;
    let number = connection
        .prepare_cached(
            "INSERT INTO run(number, id, epoch, workspace, backend, started_at, ended_at, reason, has_ended,
                 is_waiting, fold_version, offset, head_seq, summary, state)
             VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
             ON CONFLICT(number) DO UPDATE SET epoch = ?3, workspace = ?4, backend = ?5, started_at = ?6,
                 ended_at = ?7, reason = ?8, has_ended = ?9, is_waiting = ?10, fold_version = ?11, offset = ?12,
                 head_seq = ?13, summary = ?14, state = ?15
             RETURNING number",
        )?
        .query_row(
            rusqlite::params![
                number,
                summary.id,
                summary.epoch,
                summary.workspace,
                summary.backend,
                nanoseconds(summary.started_at),
                summary.ended_at.map(nanoseconds),
                reason_word(summary),
                summary.ended_at.is_some(),
                summary.activity.needs_person(),
                batch.state.version(),
                integer(batch.offset),
                integer(summary.head_seq),
                text(summary)?,
                text(&batch.state)?,
            ],
            |row| row.get(0),
        )?;
    Ok(number)
}

fn put_sessions(connection: &Connection, number: i64, batch: &Batch) -> rusqlite::Result<()> {
    if tells_of_sessions(batch) {
        let mut statement =
            connection.prepare_cached("INSERT OR IGNORE INTO session(session, run) VALUES(?1, ?2)")?;
        for session in &batch.summary.session_ids {
            statement.execute((session, number))?;
        }
    }
    Ok(())
}

fn put_usage(connection: &Connection, number: i64, batch: &Batch) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO usage(key, at, model, input, cache_read, cache_write, output, reasoning, cost,
             is_estimate)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for row in &batch.usage {
        let Some(key) = key(number, row.seq) else { continue };
        statement.execute((
            key,
            nanoseconds(row.at),
            &row.model,
            row.tokens.input,
            row.tokens.cache_read,
            row.tokens.cache_write,
            row.tokens.output,
            row.tokens.reasoning,
            row.cost_micro_usd,
            row.is_estimate,
        ))?;
    }
    Ok(())
}

fn put_approvals(connection: &Connection, number: i64, batch: &Batch) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO approval(key, request, kind, asked_at, data, state, closed_at)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for row in &batch.approvals {
        let Some(key) = key(number, row.seq) else { continue };
        statement.execute((
            key,
            &row.request,
            approval_kind(row.kind),
            nanoseconds(row.asked_at),
            row.data.get(),
            approval_state(row.state),
            row.closed_at.map(nanoseconds),
        ))?;
    }
    Ok(())
}

fn put_messages(connection: &Connection, number: i64, batch: &Batch) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO message(key, id, command_id, at, mode, text, state)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for row in &batch.messages {
        let Some(key) = key(number, row.seq) else { continue };
        statement.execute((
            key,
            &row.id,
            &row.command_id,
            nanoseconds(row.at),
            &row.mode,
            &row.text,
            message_state(row.state),
        ))?;
    }
    Ok(())
}

fn text(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
