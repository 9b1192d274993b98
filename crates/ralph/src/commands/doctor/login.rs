//! The login part of `ralph doctor`. The agent is not started and no secret is read, so only a run knows for certain.

use std::path::PathBuf;

use agent_api::{LoginFile, Profile};

use super::check::Check;
use crate::settings::{Auth, Settings};

/// The login that a run would use; `None` if it cannot be checked from outside.
pub(super) fn check(
    profile: &Profile,
    settings: &Settings,
    variables: &dyn Fn(&str) -> Option<String>,
) -> Option<Check> {
    let login = &profile.login_check;
    if login.is_empty() && profile.auth_variables.is_empty() {
        return None;
    }
    let is_set = |name: &str| match settings.agent.env.get(name) {
        Some(value) => value.as_ref().is_some_and(|value| !value.is_empty()),
        None => variables(name).is_some_and(|value| !value.is_empty()),
    };
    let keys = match settings.agent.auth {
        Auth::Inherit | Auth::ApiKey => profile.auth_variables,
        Auth::Login => &[],
    };
    if let Some(name) = keys.iter().chain(login.variables).find(|name| is_set(name)) {
        return Some(Check::ok("login", format!("{name} is set")));
    }
    let may_use_login = settings.agent.auth != Auth::ApiKey;
    let exists = |file: &LoginFile| login_path(file, variables).is_some_and(|path| path.exists());
    Some(if may_use_login && login.files.iter().any(exists) {
        Check::ok("login", "found (not verified until the first run)")
    } else if may_use_login && login.uses_macos_keychain && cfg!(target_os = "macos") {
        Check::ok(
            "login",
            "may be in the keychain (not verified until the first run)",
        )
    } else {
        Check::warning("login", "not found").advise(profile.login_hint)
    })
}

fn login_path(file: &LoginFile, variables: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let moved = file.directory_variable.and_then(variables).map(PathBuf::from);
    let directory = moved.or_else(|| Some(PathBuf::from(variables("HOME")?).join(file.home_directory)))?;
    Some(directory.join(file.file))
}
