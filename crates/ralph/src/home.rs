//! Where ralph keeps its things.

use std::path::PathBuf;

use anyhow::Context as _;
use ralph_run::Home;

use crate::versions::VersionFile;

/// Where the agents' versions are kept; nowhere if nobody says where the user's home is.
#[must_use]
pub fn version_file(variables: &dyn Fn(&str) -> Option<String>) -> Option<VersionFile> {
    let absolute = |name: &str| absolute(variables, name);
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(VersionFile::new(cache.join("ralph/versions.json")))
}

fn absolute(variables: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<PathBuf> {
    variables(name)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

/// By the environment, as the XDG directories say.
///
/// # Errors
/// When nobody says where the user's home is.
pub fn home(variables: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<Home> {
    let absolute = |name: &str| absolute(variables, name);
    let state = match absolute("XDG_STATE_HOME") {
        Some(state) => state,
        None => absolute("HOME")
            .context("neither XDG_STATE_HOME nor HOME says where to keep runs: set one to an absolute path")?
            .join(".local/state"),
    };
    let runtime = absolute("XDG_RUNTIME_DIR");
    Ok(Home::new(state.join("ralph"), runtime))
}
