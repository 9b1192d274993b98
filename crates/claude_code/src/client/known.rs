//! What programs have said about themselves.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use agent_process::{EnvPolicy, Isolation};
use tokio::sync::OnceCell;

use crate::capabilities::Capabilities;
use crate::request::Options;

/// What programs can do, as they were asked.
#[derive(Debug, Default)]
pub(crate) struct Known {
    by_place: Mutex<HashMap<Place, Arc<OnceCell<Capabilities>>>>,
}

/// All that decides which file a program's name stands for.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Place {
    program: PathBuf,
    /// Only for a name that is looked up.
    search: Option<OsString>,
    /// Only where something is relative to it.
    cwd: Option<PathBuf>,
}

impl Known {
    /// What is known about the program that these options lead to.
    pub(crate) fn entry(&self, program: &Path, options: &Options) -> Arc<OnceCell<Capabilities>> {
        // Nothing panics while it is held.
        let mut by_place = self.by_place.lock().unwrap_or_else(PoisonError::into_inner);
        by_place.entry(Place::new(program, options)).or_default().clone()
    }
}

impl Place {
    fn new(program: &Path, options: &Options) -> Self {
        let is_bare = program.parent() == Some(Path::new(""));
        Self {
            program: program.to_path_buf(),
            search: if is_bare { search_path(options) } else { None },
            cwd: options.cwd.clone().filter(|_| !program.is_absolute()),
        }
    }
}

/// The child's `PATH`.
fn search_path(options: &Options) -> Option<OsString> {
    let is_path = |name: &OsStr| name == "PATH";
    let find = |set: Vec<(OsString, OsString)>| set.into_iter().find(|(name, _)| is_path(name));
    match options.environment.policy(Isolation::None) {
        EnvPolicy::Clear { set } => find(set).map(|(_, value)| value),
        EnvPolicy::Inherit { set, remove } => {
            let inherited = || {
                let is_removed = remove.iter().any(|name| is_path(name));
                std::env::var_os("PATH").filter(|_| !is_removed)
            };
            find(set).map(|(_, value)| value).or_else(inherited)
        }
    }
}
