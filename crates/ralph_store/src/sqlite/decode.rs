//! Decodes the columns of a row.

use rusqlite::{Row, Rows};

use super::explain::{explain, incompatible};
use super::schema::seq_of;
use crate::columns::{approval_kind_of, approval_state_of, message_state_of, timestamp};
use crate::error::StoreError;
use crate::rows::{ApprovalRow, MessageRow, SignedTokens, UsageRow};

/// Everything a statement gives, decoded.
pub(super) fn all<T>(
    mut rows: Rows<'_>,
    decode: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut items = Vec::new();
    while let Some(row) = rows.next().map_err(explain)? {
        items.push(decode(row)?);
    }
    Ok(items)
}

pub(super) fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    let text = row.get_ref(column).map_err(explain)?;
    let text = text.as_str().map_err(|_| incompatible("a text"))?;
    serde_json::from_str(text).map_err(|_| incompatible("a run"))
}

/// `key, at, model, input, cache_read, cache_write, output, reasoning, cost, is_estimate`.
pub(super) fn usage(row: &Row<'_>) -> Result<UsageRow, StoreError> {
    let read = || -> rusqlite::Result<UsageRow> {
        Ok(UsageRow {
            seq: seq_of(row.get(0)?),
            at: timestamp(row.get(1)?),
            model: row.get(2)?,
            tokens: tokens(row, 3)?,
            cost_micro_usd: row.get(8)?,
            is_estimate: row.get(9)?,
        })
    };
    read().map_err(explain)
}

/// Five columns from `first` on.
fn tokens(row: &Row<'_>, first: usize) -> rusqlite::Result<SignedTokens> {
    Ok(SignedTokens {
        input: row.get(first)?,
        cache_read: row.get(first + 1)?,
        cache_write: row.get(first + 2)?,
        output: row.get(first + 3)?,
        reasoning: row.get(first + 4)?,
    })
}

/// `key, run id, request, kind, asked_at, data, state, closed_at`.
pub(super) fn approval(row: &Row<'_>) -> Result<ApprovalRow, StoreError> {
    let kind = approval_kind_of(row.get(3).map_err(explain)?).ok_or_else(|| incompatible("a question"))?;
    let state = approval_state_of(row.get(6).map_err(explain)?).ok_or_else(|| incompatible("a question"))?;
    let data: String = row.get(5).map_err(explain)?;
    let data = serde_json::value::RawValue::from_string(data).map_err(|_| incompatible("a question"))?;
    let read = || -> rusqlite::Result<ApprovalRow> {
        Ok(ApprovalRow {
            run: row.get(1)?,
            request: row.get(2)?,
            kind,
            seq: seq_of(row.get(0)?),
            asked_at: timestamp(row.get(4)?),
            data,
            state,
            closed_at: row.get::<_, Option<i64>>(7)?.map(timestamp),
        })
    };
    read().map_err(explain)
}

/// `key, run id, id, command_id, at, mode, text, state`.
pub(super) fn message(row: &Row<'_>) -> Result<MessageRow, StoreError> {
    let state = message_state_of(row.get(7).map_err(explain)?).ok_or_else(|| incompatible("a message"))?;
    let read = || -> rusqlite::Result<MessageRow> {
        Ok(MessageRow {
            run: row.get(1)?,
            id: row.get(2)?,
            command_id: row.get(3)?,
            seq: seq_of(row.get(0)?),
            at: timestamp(row.get(4)?),
            mode: row.get(5)?,
            text: row.get(6)?,
            state,
        })
    };
    read().map_err(explain)
}
