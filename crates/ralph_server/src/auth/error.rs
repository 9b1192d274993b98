//! Why nobody can be let in.

use std::io;
use std::path::PathBuf;

/// Why nobody can be let in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// Others can read or replace the token.
    #[error("others can read the server's token: remove `{}`, and a new one is made", .0.display())]
    Exposed(PathBuf),
    /// There is something else in the file.
    #[error("no token in `{}`: remove it, and a new one is made", .0.display())]
    NotAToken(PathBuf),
    /// A name that nobody could ask for.
    #[error("not a host name: `{0}`")]
    BadName(String),
    /// The system gives no random numbers.
    #[error("no random numbers: {0}")]
    NoRandom(String),
    /// The system said no.
    #[error("cannot use `{}`", path.display())]
    Unusable {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
