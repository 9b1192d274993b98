//! What SQLite says, in our words.

use rusqlite::{Error, ErrorCode};

use crate::error::StoreError;

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(super) fn explain(error: Error) -> StoreError {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full(text),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged(text),
        Some(ErrorCode::OperationInterrupted) => {
            StoreError::Unavailable("the question took too long; ask for less".to_owned())
        }
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::SystemIoFailure,
        ) => StoreError::Unavailable(text),
        _ => StoreError::Database(text),
    }
}

/// A value in the database that we did not put there.
pub(super) fn odd(what: &str) -> StoreError {
    StoreError::Database(format!("{what} in the index cannot be read: use `ralph reindex`"))
}
