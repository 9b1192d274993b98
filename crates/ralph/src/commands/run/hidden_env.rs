//! The variables of this process that are not passed on: those of a server to its runners, and also those of
//! notifications to agents and verify commands.

use std::ffi::{OsStr, OsString};

use crate::settings::NotifySettings;

/// What belongs to a server: its secrets, its database's password, and the sockets it was given.
const SERVER_PREFIXES: [&str; 2] = ["RALPH_SERVER_", "RALPH_DATABASE"];
const SERVER_NAMES: [&str; 5] = [
    "LISTEN_FDNAMES",
    "LISTEN_FDS",
    "LISTEN_PID",
    "NOTIFY_SOCKET",
    "WATCHDOG_PID",
];

/// The address of a webhook may be a secret, too.
const NOTIFY_PREFIX: &str = "RALPH_NOTIFY";

/// What neither the agent nor a verify command sees.
pub(super) fn hidden_variables(notify: &NotifySettings) -> Vec<OsString> {
    let own = std::env::vars_os().map(|(name, _)| name);
    let own = own.filter(|name| name.to_str().is_some_and(|name| name.starts_with(NOTIFY_PREFIX)));
    let secret = notify.webhook_secret_env.as_ref().map(OsString::from);
    server_variables().into_iter().chain(own).chain(secret).collect()
}

/// What a runner does not see.
pub(super) fn server_variables() -> Vec<OsString> {
    std::env::vars_os()
        .map(|(name, _)| name)
        .filter(|name| is_hidden(name))
        .collect()
}

fn is_hidden(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    SERVER_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || SERVER_NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::is_hidden;

    #[test]
    fn the_server_keeps_its_secrets_and_sockets_and_nothing_else() {
        for name in ["RALPH_SERVER_TOKEN", "RALPH_DATABASE", "LISTEN_FDS"] {
            assert!(is_hidden(name.as_ref()), "{name}");
        }
        for name in ["PATH", "RALPH_MODEL", "ANTHROPIC_API_KEY", "XRALPH_SERVER_TOKEN"] {
            assert!(!is_hidden(name.as_ref()), "{name}");
        }
    }
}
