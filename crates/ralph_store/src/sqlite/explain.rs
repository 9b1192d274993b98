//! `explain`: errors of SQLite as `StoreError`.

use rusqlite::{Error, ErrorCode};

use crate::error::StoreError;

/// What SQLite says, in our words.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn explain(error: Error) -> StoreError {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full(text),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged(text),
        Some(ErrorCode::OperationInterrupted) => StoreError::Unavailable(
            "the query took too long: narrow it, for example by time or workspace".to_owned(),
        ),
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::SystemIoFailure,
        ) => StoreError::Unavailable(text),
        // Our tables are strict: a value of another type cannot have been written.
        None if is_impossible(&error) => StoreError::Damaged(text),
        _ => StoreError::Database(text),
    }
}

fn is_impossible(error: &Error) -> bool {
    matches!(
        error,
        Error::InvalidColumnType(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::FromSqlConversionFailure(..)
            | Error::Utf8Error(..)
    )
}

/// A value in the database that this version cannot read: another version may have written it.
pub(super) fn incompatible(what: &'static str) -> StoreError {
    StoreError::Incompatible(what)
}
