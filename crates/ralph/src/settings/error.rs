//! What can be wrong with settings.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::document::Position;
use crate::cli::USAGE_EXIT_CODE;

/// What a wrong configuration exits with (`EX_CONFIG`).
const CONFIG_EXIT_CODE: u8 = 78;

/// Why there are no settings. The text says what to change.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A flag is wrong.
    #[error("{0}")]
    Usage(String),
    /// A `RALPH_` variable is wrong.
    #[error("the environment variable {name} {message}")]
    Environment {
        /// The variable.
        name: String,
        /// What is wrong with its value, after its name.
        message: String,
    },
    /// Something in `ralph.yml` is wrong.
    #[error("{}:{position}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Where in it.
        position: Position,
        /// What is wrong.
        message: String,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The settings do not fit together.
    #[error("{0}")]
    Conflict(String),
}

impl SettingsError {
    /// The same error, with what may have led to it.
    #[must_use]
    pub(super) fn with_hint(self, hint: &str) -> Self {
        let message = format!("{self}; {hint}");
        match self {
            Self::Usage(_) => Self::Usage(message),
            _ => Self::Conflict(message),
        }
    }

    /// What the process exits with.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => USAGE_EXIT_CODE,
            Self::Environment { .. } | Self::File { .. } | Self::Unreadable { .. } | Self::Conflict(_) => {
                CONFIG_EXIT_CODE
            }
        }
    }
}

/// Something in `ralph.yml` that is probably not meant so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The file.
    pub path: PathBuf,
    /// Where in it.
    pub position: Position,
    /// What.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}:{}: {}",
            self.path.display(),
            self.position,
            self.message
        )
    }
}
