//! `explain`: errors of PostgreSQL and of the connection as `StoreError`.

use std::time::Duration;

use sqlx::Error;

use crate::error::StoreError;

/// Never has the address in it, nor what was asked.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(super) fn explain(error: Error) -> StoreError {
    match &error {
        Error::Database(said) => {
            let text = said.message().to_owned();
            match said.code().as_deref().unwrap_or_default() {
                "53100" => StoreError::Full(text),
                "57014" => StoreError::Unavailable(
                    "the query took too long: narrow it, for example by time or workspace".to_owned(),
                ),
                "XX001" | "XX002" => StoreError::Damaged(text),
                code if is_passing(code) => StoreError::Unavailable(text),
                _ => StoreError::Database(text),
            }
        }
        Error::Io(error) => StoreError::Unavailable(error.to_string()),
        Error::Tls(error) => StoreError::Unavailable(format!("no encrypted connection: {error}")),
        Error::Protocol(_) | Error::WorkerCrashed | Error::BeginFailed => {
            StoreError::Unavailable("the connection is broken".to_owned())
        }
        Error::Decode(said) => match said.downcast_ref() {
            Some(IncompatibleValue(what)) => StoreError::Incompatible(what),
            None => StoreError::Database(error.to_string()),
        },
        // Its text may have a piece of the address.
        Error::Configuration(_) => StoreError::BadAddress("it cannot be read"),
        _ => StoreError::Database(error.to_string()),
    }
}

/// What is not our fault and may be otherwise a moment later: no connection, no access, no resources, shut down,
/// read-only, in each other's way.
fn is_passing(code: &str) -> bool {
    const CLASSES: [&str; 4] = ["08", "28", "53", "57"];
    const CODES: [&str; 5] = ["3D000", "25006", "40001", "40P01", "55P03"];
    CLASSES.iter().any(|class| code.starts_with(class)) || CODES.contains(&code)
}

/// Whether a server that is just not there yet says so: it is worth waiting for.
pub(super) fn is_worth_waiting(error: &Error) -> bool {
    match error {
        Error::Io(_) => true,
        Error::Database(said) => matches!(
            said.code().as_deref(),
            Some("57P03" | "57P01" | "57P02" | "53300")
        ),
        _ => false,
    }
}

/// Whether the connection is of no more use.
pub(super) fn is_lost(error: &Error) -> bool {
    match error {
        Error::Io(_) | Error::Tls(_) | Error::Protocol(_) | Error::WorkerCrashed | Error::BeginFailed => true,
        Error::Database(said) => {
            let code = said.code().unwrap_or_default();
            code.starts_with("57P") || code.starts_with("08")
        }
        _ => false,
    }
}

/// An answer that must come within some time.
pub(super) async fn within<T>(
    time: Duration,
    answer: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    match tokio::time::timeout(time, answer).await {
        Ok(answer) => answer,
        Err(_) => Err(Error::Io(std::io::Error::new(
            std::io::ErrorKind::TimedOut,
            "the database does not answer",
        ))),
    }
}

/// A value in the database that this version cannot read.
#[derive(Debug, thiserror::Error)]
#[error("{0} cannot be read")]
struct IncompatibleValue(&'static str);

/// A value in the database that this version cannot read: another version may have written it.
pub(super) fn incompatible(what: &'static str) -> Error {
    Error::Decode(IncompatibleValue(what).into())
}

/// None if this version cannot read it.
pub(super) fn known<T>(decoded: Result<T, Error>) -> Result<Option<T>, Error> {
    match decoded {
        Err(Error::Decode(said)) if said.is::<IncompatibleValue>() => Ok(None),
        decoded => decoded.map(Some),
    }
}
