//! `HomeError` and `FindError`: why the state directory cannot be used, or a run not found.

use std::io;
use std::path::{Path, PathBuf};

/// The place where runs live cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HomeError {
    /// Another user could replace what is in it.
    #[error("another user owns the state directory `{}`; name another one with XDG_STATE_HOME", .0.display())]
    ForeignOwner(PathBuf),
    /// Others could put files into it.
    #[error("others can write to the state directory; run `chmod go-w {}`", .0.display())]
    WritableByOthers(PathBuf),
    #[error("not a directory: `{}`", .0.display())]
    NotADirectory(PathBuf),
    #[error("cannot use the state directory `{}`", path.display())]
    Unusable { path: PathBuf, source: io::Error },
}

impl HomeError {
    pub(super) fn unusable(path: &Path, source: io::Error) -> Self {
        Self::Unusable {
            path: path.to_owned(),
            source,
        }
    }
}

/// No run, or more than one, has that name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    #[error("no run `{0}`; run `ralph runs` to list them")]
    Unknown(String),
    #[error("{count} runs match `{typed}`; type more of the id: {}", list(candidates))]
    Ambiguous {
        typed: String,
        count: usize,
        /// Newest first, at most ten.
        candidates: Vec<Candidate>,
    },
    #[error(transparent)]
    Home(#[from] HomeError),
}

/// A run that an ambiguous id could mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub id: String,
    pub state: &'static str,
    /// Empty if it cannot be read.
    pub workspace: String,
}

fn list(candidates: &[Candidate]) -> String {
    let one = |candidate: &Candidate| {
        let Candidate { id, state, workspace } = candidate;
        format!("{id} ({state}, {workspace})")
    };
    let all: Vec<String> = candidates.iter().map(one).collect();
    all.join(", ")
}
