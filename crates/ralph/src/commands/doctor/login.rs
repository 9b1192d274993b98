//! Whether an agent seems to be logged in. Nobody is asked, and nothing secret is read: a run finds out for certain.

use std::path::PathBuf;

use agent_api::AgentKind;

use super::check::Check;
use crate::settings::{Auth, Settings};

/// Variables that stand for a login of Claude Code.
const CLAUDE_KEYS: [&str; 5] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
];

/// What a run with these settings would find.
pub(super) fn check(
    kind: &AgentKind,
    settings: &Settings,
    hint: &str,
    variables: &dyn Fn(&str) -> Option<String>,
) -> Option<Check> {
    if *kind != AgentKind::CLAUDE_CODE {
        return None;
    }
    let is_set = |name: &str| match settings.agent.env.get(name) {
        Some(value) => value.as_ref().is_some_and(|value| !value.is_empty()),
        None => variables(name).is_some_and(|value| !value.is_empty()),
    };
    let is_used = |name: &str| settings.agent.auth != Auth::Login || name != "ANTHROPIC_API_KEY";
    if let Some(name) = CLAUDE_KEYS.into_iter().find(|name| is_used(name) && is_set(name)) {
        return Some(Check::ok("login", format!("by {name} in the environment")));
    }
    let folder = variables("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let folder = folder.or_else(|| variables("HOME").map(|home| PathBuf::from(home).join(".claude")));
    let has_login = folder.is_some_and(|folder| folder.join(".credentials.json").exists());
    Some(if has_login && settings.agent.auth != Auth::ApiKey {
        Check::ok(
            "login",
            "there is one; whether it still holds, the first run shows",
        )
    } else if cfg!(target_os = "macos") && settings.agent.auth != Auth::ApiKey {
        Check::ok("login", "may be in the keychain; the first run shows")
    } else {
        Check::warning("login", "none was found").advise(hint)
    })
}
