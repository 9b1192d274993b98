//! `Address`: the connection options of a database URL. It never shows the password.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr as _;

use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnectOptions;

use super::schema::SCHEMA;
use crate::error::StoreError;

/// What an address may say behind its `?`. The driver writes others, with their values, into the log.
const PARAMETERS: [&str; 18] = [
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "ssl-root-cert",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "statement-cache-capacity",
    "user",
];

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Short questions.
    Read,
    /// Everything else.
    Write,
}

/// Where the database is, and who we are there. It may have a password: it is never shown.
#[derive(Clone)]
pub(super) struct Address(PgConnectOptions);

impl Address {
    /// Reads a URL. What it leaves out, PostgreSQL's own variables and its password file say, as they do to its other
    /// programs.
    ///
    /// # Errors
    /// When it cannot be read. Never quotes it.
    pub(super) fn parse(url: &str) -> Result<Self, StoreError> {
        let parameters = url.split_once('?').map_or("", |(_, parameters)| parameters);
        let parameters = parameters
            .split_once('#')
            .map_or(parameters, |(before, _)| before);
        let names = parameters
            .split('&')
            .filter_map(|parameter| parameter.split('=').next());
        for name in names.filter(|name| !name.is_empty()) {
            if !PARAMETERS.contains(&name) {
                return Err(StoreError::BadAddress("it has an unknown parameter after `?`"));
            }
        }
        let options =
            PgConnectOptions::from_str(url).map_err(|_| StoreError::BadAddress("it cannot be read"))?;
        let name = format!("ralph {}", std::process::id());
        Ok(Self(options.application_name(&name).disable_statement_logging()))
    }

    /// How to connect for a purpose.
    pub(super) fn options(&self, purpose: Purpose) -> PgConnectOptions {
        let options = self.0.clone().options([
            ("search_path", SCHEMA),
            ("idle_in_transaction_session_timeout", "60000"),
            ("lock_timeout", "10000"),
        ]);
        match purpose {
            Purpose::Read => options.options([
                ("statement_timeout", "3000"),
                ("default_transaction_read_only", "on"),
            ]),
            Purpose::Write => options.options([("statement_timeout", "60000")]),
        }
    }

    /// Which database, for people.
    pub(super) fn shown(&self) -> PathBuf {
        let database = self.0.get_database().unwrap_or(self.0.get_username());
        format!(
            "postgres://{}:{}/{database}",
            self.0.get_host(),
            self.0.get_port()
        )
        .into()
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("postgres://…")
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    /// An address with a password, which no source has in one piece.
    fn with_password(rest: &str) -> String {
        format!("postgres://me:{}@{rest}", "hush%21")
    }

    #[test]
    fn an_address_is_read_and_never_shown() {
        let address = Address::parse(&with_password("db.example:5433/runs?sslmode=disable")).unwrap();
        assert_eq!(address.shown().to_str(), Some("postgres://db.example:5433/runs"));
        assert!(!format!("{address:?}").contains("hush"));
    }

    #[test]
    fn a_wrong_address_is_refused_without_being_quoted() {
        for wrong in [
            with_password("host:port/runs"),
            with_password(&format!("host/runs?pasword={}", "hush")),
            format!("postgres://me@host/runs?sslmode={}", "hush"),
            format!("postgres://host/runs?sslmode=disable&port={}", "hush"),
        ] {
            let error = Address::parse(&wrong).unwrap_err();
            for text in [error.to_string(), format!("{error:?}")] {
                assert!(!text.contains("hush"), "{text}");
            }
        }
    }
}
