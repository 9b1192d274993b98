//! `AuthError`: why the server token, or another secret, cannot be used.

use std::io;
use std::path::PathBuf;

/// Why the server token, or another secret, cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// Others can read or replace the token.
    #[error("`{}` is readable by other users: run `chmod 600` on it, or delete it to get a new token", .0.display())]
    Exposed(PathBuf),
    /// There is something else in the file.
    #[error("there is no token in `{}`: delete the file to get a new one", .0.display())]
    NotAToken(PathBuf),
    /// Not a host name.
    #[error("not a host name: `{0}`")]
    BadName(String),
    /// The system gives no random numbers.
    #[error("no random numbers: {0}")]
    NoRandom(String),
    /// A file cannot be read or written.
    #[error("cannot use `{}`", path.display())]
    Unusable {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
