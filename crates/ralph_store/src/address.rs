//! `DatabaseAddress`: where an index is, as a user writes it.

use std::fmt;
use std::path::PathBuf;

use crate::error::StoreError;

/// Where an index is, as a user writes it.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseAddress {
    /// In a directory of its own.
    Sqlite {
        /// The directory.
        directory: PathBuf,
    },
    /// On a server.
    Postgres {
        /// The server, the database, and maybe a password: never to be shown.
        url: String,
    },
}

impl DatabaseAddress {
    /// Reads `PATH`, `sqlite:PATH`, `postgres://…` or `postgresql://…`; a path names a directory.
    ///
    /// # Errors
    /// When it is none of these. Never quotes it.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        if matches!(scheme, Some("postgres" | "postgresql")) {
            return Ok(Self::Postgres { url: text.to_owned() });
        }
        let path = text.strip_prefix("sqlite:").unwrap_or(text);
        let path = path.strip_prefix("//").unwrap_or(path);
        // `mysql:…` and the like are no paths that anybody means.
        let is_other = path.split('/').next().is_some_and(|first| first.contains(':'));
        if path.trim().is_empty() || is_other {
            return Err(StoreError::UnknownAddress);
        }
        Ok(Self::Sqlite {
            directory: path.into(),
        })
    }
}

impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite { directory } => write!(formatter, "sqlite:{}", directory.display()),
            Self::Postgres { .. } => formatter.write_str("postgres://…"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DatabaseAddress;

    #[test]
    fn an_address_is_a_directory_or_a_server_or_refused() {
        let sqlite = |path: &str| DatabaseAddress::Sqlite {
            directory: path.into(),
        };
        for (text, path) in [
            ("/a/b", "/a/b"),
            ("sqlite:a", "a"),
            ("sqlite:///a", "/a"),
            ("./x:y", "./x:y"),
        ] {
            assert_eq!(DatabaseAddress::parse(text).unwrap(), sqlite(path), "{text}");
        }
        for url in [
            format!("postgres://u:{}@h/d", "secret"),
            "postgresql://h".to_owned(),
        ] {
            let address = DatabaseAddress::parse(&url).unwrap();
            assert_eq!(address, DatabaseAddress::Postgres { url });
            assert!(!format!("{address:?}").contains("secret"));
        }
        for text in ["", " ", "sqlite:", "mysql://h/d", "redis:x", "postgres:x"] {
            assert!(DatabaseAddress::parse(text).is_err(), "{text}");
        }
    }
}
