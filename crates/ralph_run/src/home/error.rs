//! What can be wrong with the place where runs live.

use std::io;
use std::path::{Path, PathBuf};

/// The place where runs live cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HomeError {
    /// Somebody else could replace what is in it.
    #[error("another user owns the state directory `{}`; name another one with XDG_STATE_HOME", .0.display())]
    ForeignOwner(PathBuf),
    /// Others could put files into it.
    #[error("others can write to the state directory; run `chmod go-w {}`", .0.display())]
    WritableByOthers(PathBuf),
    /// Something else is there.
    #[error("not a directory: `{}`", .0.display())]
    NotADirectory(PathBuf),
    /// The system said no.
    #[error("cannot use the state directory `{}`", path.display())]
    Unusable {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl HomeError {
    pub(super) fn unusable(path: &Path, source: io::Error) -> Self {
        Self::Unusable {
            path: path.to_owned(),
            source,
        }
    }
}

/// There is no one run of that name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// None.
    #[error("no run `{0}`; `ralph runs` lists them")]
    Unknown(String),
    /// There are no runs at all.
    #[error("there are no runs yet; `ralph run` starts one")]
    NoRuns,
    /// Several.
    #[error("several runs start with `{asked}`: {}", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        asked: String,
        /// The names it could mean, newest first, at most ten.
        candidates: Vec<String>,
    },
    /// They cannot be looked at.
    #[error(transparent)]
    Home(#[from] HomeError),
}
