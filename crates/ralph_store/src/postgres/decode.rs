//! Decodes the columns of a row.

use agent_api::Tokens;
use sqlx::postgres::PgRow;
use sqlx::{Error, Row as _};

use super::escape::unescape;
use super::explain::incompatible;
use crate::columns::{approval_kind_of, approval_state_of, count, message_state_of, timestamp};
use crate::rows::{ApprovalRow, MessageRow, SignedTokens, UsageRow};

pub(super) fn text(row: &PgRow, column: usize) -> Result<String, Error> {
    row.try_get(column).map(unescape)
}

pub(super) fn number(row: &PgRow, column: usize) -> Result<u64, Error> {
    row.try_get(column).map(count)
}

pub(super) fn json<T: serde::de::DeserializeOwned>(row: &PgRow, column: usize) -> Result<T, Error> {
    let text: &str = row.try_get(column)?;
    serde_json::from_str(text).map_err(|_| incompatible("a run"))
}

/// `seq, at, model, input, cache_read, cache_write, output, reasoning, cost, is_estimate`.
pub(super) fn usage(row: &PgRow) -> Result<UsageRow, Error> {
    Ok(UsageRow {
        seq: number(row, 0)?,
        at: timestamp(row.try_get(1)?),
        model: row
            .try_get::<Option<String>, _>(2)?
            .map(|model| unescape(model).into()),
        tokens: SignedTokens {
            input: row.try_get(3)?,
            cache_read: row.try_get(4)?,
            cache_write: row.try_get(5)?,
            output: row.try_get(6)?,
            reasoning: row.try_get(7)?,
        },
        cost_micro_usd: row.try_get(8)?,
        is_estimate: row.try_get(9)?,
    })
}

/// Five columns from `first` on.
pub(super) fn tokens(row: &PgRow, first: usize) -> Result<Tokens, Error> {
    Ok(Tokens {
        input: number(row, first)?,
        cache_read: number(row, first + 1)?,
        cache_write: number(row, first + 2)?,
        output: number(row, first + 3)?,
        reasoning: number(row, first + 4)?,
    })
}

/// `run id, seq, request, kind, asked_at, data, state, closed_at`.
pub(super) fn approval(row: &PgRow) -> Result<ApprovalRow, Error> {
    let data = serde_json::value::RawValue::from_string(row.try_get(5)?);
    Ok(ApprovalRow {
        run: text(row, 0)?,
        seq: number(row, 1)?,
        request: text(row, 2)?,
        kind: approval_kind_of(row.try_get(3)?).ok_or_else(|| incompatible("a question"))?,
        asked_at: timestamp(row.try_get(4)?),
        data: data.map_err(|_| incompatible("a question"))?,
        state: approval_state_of(row.try_get(6)?).ok_or_else(|| incompatible("a question"))?,
        closed_at: row.try_get::<Option<i64>, _>(7)?.map(timestamp),
    })
}

/// `run id, seq, id, command_id, at, mode, text, state`.
pub(super) fn message(row: &PgRow) -> Result<MessageRow, Error> {
    Ok(MessageRow {
        run: text(row, 0)?,
        seq: number(row, 1)?,
        id: text(row, 2)?,
        command_id: text(row, 3)?,
        at: timestamp(row.try_get(4)?),
        mode: text(row, 5)?,
        text: text(row, 6)?,
        state: message_state_of(row.try_get(7)?).ok_or_else(|| incompatible("a message"))?,
    })
}
