//! Between our words and the columns.

use jiff::Timestamp;
use rusqlite::{Row, Rows};

use super::explain::{explain, odd};
use super::schema::seq_of;
use crate::error::StoreError;
use crate::rows::{ApprovalKind, ApprovalRow, ApprovalState, MessageRow, MessageState, RecordRow, UsageRow};

/// Nanoseconds since 1970. What lies beyond 1677 and 2262 is taken to be at their ends.
pub(super) fn nanoseconds(at: Timestamp) -> i64 {
    let end = if at.as_second() < 0 { i64::MIN } else { i64::MAX };
    i64::try_from(at.as_nanosecond()).unwrap_or(end)
}

pub(super) fn timestamp(nanoseconds: i64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(nanoseconds)).unwrap_or_default()
}

/// A count as SQLite has it: it knows no higher ones.
pub(super) fn integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(super) fn count(integer: i64) -> u64 {
    u64::try_from(integer).unwrap_or_default()
}

pub(super) fn approval_kind(kind: ApprovalKind) -> i64 {
    match kind {
        ApprovalKind::Permission => 0,
        ApprovalKind::Question => 1,
        ApprovalKind::Plan => 2,
    }
}

pub(super) fn approval_state(state: ApprovalState) -> i64 {
    match state {
        ApprovalState::Pending => 0,
        ApprovalState::Answered => 1,
        ApprovalState::Withdrawn => 2,
    }
}

pub(super) fn message_state(state: MessageState) -> i64 {
    match state {
        MessageState::Queued => 0,
        MessageState::Sent => 1,
        MessageState::Delivered => 2,
        MessageState::Withdrawn => 3,
        MessageState::Lost => 4,
    }
}

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
    let text = text.as_str().map_err(|_| odd("a text"))?;
    serde_json::from_str(text).map_err(|_| odd("a run"))
}

/// `key, at, kind name, offset, length`.
pub(super) fn record(row: &Row<'_>) -> Result<RecordRow, StoreError> {
    let read = || -> rusqlite::Result<RecordRow> {
        Ok(RecordRow {
            seq: seq_of(row.get(0)?),
            at: timestamp(row.get(1)?),
            kind: row.get(2)?,
            offset: count(row.get(3)?),
            length: row.get(4)?,
        })
    };
    read().map_err(explain)
}

/// `key, at, model, input, cache_read, cache_write, output, reasoning, cost, is_estimate`.
pub(super) fn usage(row: &Row<'_>) -> Result<UsageRow, StoreError> {
    let read = || -> rusqlite::Result<UsageRow> {
        Ok(UsageRow {
            seq: seq_of(row.get(0)?),
            at: timestamp(row.get(1)?),
            model: row.get(2)?,
            tokens: tokens(row, 3)?,
            cost: row
                .get::<_, Option<i64>>(8)?
                .map(|cost| agent_api::MicroUsd::new(count(cost))),
            is_estimate: row.get(9)?,
        })
    };
    read().map_err(explain)
}

/// Five columns from `first` on.
pub(super) fn tokens(row: &Row<'_>, first: usize) -> rusqlite::Result<agent_api::Tokens> {
    let column = |index: usize| row.get::<_, i64>(first + index).map(count);
    Ok(agent_api::Tokens {
        input: column(0)?,
        cache_read: column(1)?,
        cache_write: column(2)?,
        output: column(3)?,
        reasoning: column(4)?,
    })
}

/// `key, run id, request, kind, asked_at, data, state, closed_at`.
pub(super) fn approval(row: &Row<'_>) -> Result<ApprovalRow, StoreError> {
    let kind = match row.get::<_, i64>(3).map_err(explain)? {
        0 => ApprovalKind::Permission,
        1 => ApprovalKind::Question,
        2 => ApprovalKind::Plan,
        _ => return Err(odd("a question")),
    };
    let state = match row.get::<_, i64>(6).map_err(explain)? {
        0 => ApprovalState::Pending,
        1 => ApprovalState::Answered,
        2 => ApprovalState::Withdrawn,
        _ => return Err(odd("a question")),
    };
    let data: String = row.get(5).map_err(explain)?;
    let data = serde_json::value::RawValue::from_string(data).map_err(|_| odd("a question"))?;
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
    let state = match row.get::<_, i64>(7).map_err(explain)? {
        0 => MessageState::Queued,
        1 => MessageState::Sent,
        2 => MessageState::Delivered,
        3 => MessageState::Withdrawn,
        4 => MessageState::Lost,
        _ => return Err(odd("a message")),
    };
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
