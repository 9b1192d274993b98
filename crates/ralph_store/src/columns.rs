//! Values as the columns of both databases have them.

use jiff::Timestamp;

use crate::query::Cursor;
use crate::rows::{ApprovalKind, ApprovalState, MessageState};
use crate::store::MAX_LIMIT;
use crate::summary::RunSummary;

/// Nanoseconds since 1970. What lies beyond 1677 and 2262 is taken to be at their ends.
pub(crate) fn nanoseconds(at: Timestamp) -> i64 {
    let end = if at.as_second() < 0 { i64::MIN } else { i64::MAX };
    i64::try_from(at.as_nanosecond()).unwrap_or(end)
}

pub(crate) fn timestamp(nanoseconds: i64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(nanoseconds)).unwrap_or_default()
}

/// A count as databases have it: they know no higher ones.
pub(crate) fn integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(crate) fn count(integer: i64) -> u64 {
    u64::try_from(integer).unwrap_or_default()
}

pub(crate) fn approval_kind(kind: ApprovalKind) -> i64 {
    match kind {
        ApprovalKind::Permission => 0,
        ApprovalKind::Question => 1,
        ApprovalKind::Plan => 2,
    }
}

pub(crate) fn approval_state(state: ApprovalState) -> i64 {
    match state {
        ApprovalState::Pending => 0,
        ApprovalState::Answered => 1,
        ApprovalState::Withdrawn => 2,
    }
}

pub(crate) fn message_state(state: MessageState) -> i64 {
    match state {
        MessageState::Queued => 0,
        MessageState::Sent => 1,
        MessageState::Delivered => 2,
        MessageState::Withdrawn => 3,
        MessageState::Lost => 4,
    }
}

/// None if it is none of ours.
pub(crate) fn approval_kind_of(number: i64) -> Option<ApprovalKind> {
    match number {
        0 => Some(ApprovalKind::Permission),
        1 => Some(ApprovalKind::Question),
        2 => Some(ApprovalKind::Plan),
        _ => None,
    }
}

/// None if it is none of ours.
pub(crate) fn approval_state_of(number: i64) -> Option<ApprovalState> {
    match number {
        0 => Some(ApprovalState::Pending),
        1 => Some(ApprovalState::Answered),
        2 => Some(ApprovalState::Withdrawn),
        _ => None,
    }
}

/// None if it is none of ours.
pub(crate) fn message_state_of(number: i64) -> Option<MessageState> {
    match number {
        0 => Some(MessageState::Queued),
        1 => Some(MessageState::Sent),
        2 => Some(MessageState::Delivered),
        3 => Some(MessageState::Withdrawn),
        4 => Some(MessageState::Lost),
        _ => None,
    }
}

/// The word for why a run ended, such as `completed` or `limit_cost`; empty if it has not.
pub(crate) fn reason_word(summary: &RunSummary) -> String {
    if summary.ended_at.is_none() {
        return String::new();
    }
    match serde_json::to_value(&summary.reason) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(serde_json::Value::Object(limit)) => limit
            .into_iter()
            .map(|(word, which)| format!("{word}_{}", which.as_str().unwrap_or_default()))
            .collect(),
        Ok(_) | Err(_) => "unknown".to_owned(),
    }
}

/// How many rows a page has that was asked for with this limit.
pub(crate) fn bounded(limit: usize) -> usize {
    if limit == 0 {
        MAX_LIMIT
    } else {
        limit.min(MAX_LIMIT)
    }
}

/// The mark of the page of runs behind this one.
pub(crate) fn run_mark(started_at: i64, run: &str) -> Cursor {
    Cursor(format!("{started_at}.{run}"))
}

/// The start and the name of the run that a mark names; none if it is none of ours.
pub(crate) fn run_place(mark: &Cursor) -> Option<(i64, &str)> {
    let (at, id) = mark.0.split_once('.')?;
    Some((at.parse().ok()?, id))
}
