//! Where ralph keeps its files.

use std::path::PathBuf;

use anyhow::Context as _;
use ralph_run::Home;

/// The path in a variable, unless it is relative.
pub(crate) fn absolute(variables: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<PathBuf> {
    variables(name)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

/// The directories of this user, by the XDG variables.
pub fn home(variables: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<Home> {
    let absolute = |name: &str| absolute(variables, name);
    let state = match absolute("XDG_STATE_HOME") {
        Some(state) => state,
        None => absolute("HOME")
            .context("neither XDG_STATE_HOME nor HOME says where to keep runs: set one to an absolute path")?
            .join(".local/state"),
    };
    Ok(Home::new(state.join("ralph"), absolute("XDG_RUNTIME_DIR")))
}
