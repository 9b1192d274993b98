//! The variables of this process that are not passed on: those of a server to its runners, and also those of
//! notifications to agents and verify commands.

use std::ffi::{OsStr, OsString};

use crate::commands::serve::DATABASE_VARIABLE;
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

/// PostgreSQL's own variables that hold or name a secret.
const DATABASE_NAMES: [&str; 5] = [
    "PGPASSWORD",
    "PGPASSFILE",
    "PGSERVICEFILE",
    "PGSSLKEY",
    "PGSSLCERT",
];

/// The address of a webhook may be a secret, too.
const NOTIFY_PREFIX: &str = "RALPH_NOTIFY";

/// What neither the agent nor a verify command sees.
pub(in crate::commands) fn hidden_variables(notify: &NotifySettings) -> Vec<OsString> {
    let own = std::env::vars_os().map(|(name, _)| name);
    let own = own.filter(|name| name.to_str().is_some_and(|name| name.starts_with(NOTIFY_PREFIX)));
    let secret = notify.webhook_secret_env.as_ref().map(OsString::from);
    server_variables().into_iter().chain(own).chain(secret).collect()
}

/// What a runner does not see.
pub(super) fn server_variables() -> Vec<OsString> {
    let variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    hidden_among(&variables)
}

fn hidden_among(variables: &[(OsString, OsString)]) -> Vec<OsString> {
    let database = variables
        .iter()
        .find(|(name, value)| name == DATABASE_VARIABLE && !value.is_empty())
        .map(|(_, value)| value);
    let is_hidden = |name: &OsStr, value: &OsStr| {
        is_of_server(name)
            // With a database of its own, the server logs in there by these. Without one, they are for the agent's work.
            || database.is_some_and(|url| url == value || DATABASE_NAMES.iter().any(|secret| name == *secret))
    };
    variables
        .iter()
        .filter(|(name, value)| is_hidden(name, value))
        .map(|(name, _)| name.clone())
        .collect()
}

fn is_of_server(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    SERVER_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || SERVER_NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::hidden_among;

    fn hidden(variables: &[(&str, &str)]) -> Vec<String> {
        let variables: Vec<_> = variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let hidden = hidden_among(&variables).into_iter();
        hidden.map(|name| name.into_string().unwrap()).collect()
    }

    #[test]
    fn the_server_keeps_its_secrets_and_sockets_and_nothing_else() {
        let own = ["RALPH_SERVER_TOKEN", "RALPH_DATABASE", "LISTEN_FDS"];
        assert_eq!(hidden(&own.map(|name| (name, "x"))), own);
        let others = ["PATH", "RALPH_MODEL", "ANTHROPIC_API_KEY", "XRALPH_SERVER_TOKEN"];
        assert_eq!(hidden(&others.map(|name| (name, "x"))), [""; 0]);
    }

    #[test]
    fn what_logs_in_at_the_servers_database_is_kept_if_it_has_one() {
        let url = "postgres://me@db.example/runs";
        let project = [("PGPASSWORD", "x"), ("PGPASSFILE", "/p"), ("DATABASE_URL", url)];
        assert_eq!(hidden(&project), [""; 0]);
        let names = [
            "PGPASSWORD",
            "PGPASSFILE",
            "DATABASE_URL",
            "RALPH_SERVER_DATABASE",
        ];
        let mut all = project.to_vec();
        all.push(("RALPH_SERVER_DATABASE", url));
        assert_eq!(hidden(&all), names);
        all.push(("OTHER_DATABASE_URL", "postgres://elsewhere"));
        assert_eq!(hidden(&all), names);
    }
}
