//! `SettingsError` and `Warning`: what is wrong in a flag, a variable or `ralph.yml`.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::cli::USAGE_EXIT_CODE;
use yaml_tree::Position;

/// `EX_CONFIG`.
const CONFIG_EXIT_CODE: u8 = 78;

/// Invalid settings. The text says what to change.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("{0}")]
    Usage(String),
    #[error("the environment variable {name} {message}")]
    Environment {
        name: String,
        /// Follows the name.
        message: String,
    },
    #[error("{}:{position}: {message}", path.display())]
    File {
        path: PathBuf,
        position: Position,
        message: String,
    },
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    /// The settings do not fit together.
    #[error("{0}")]
    Conflict(String),
}

impl SettingsError {
    pub(super) fn with_hint(self, hint: &str) -> Self {
        let message = format!("{self}; {hint}");
        match self {
            Self::Usage(_) => Self::Usage(message),
            _ => Self::Conflict(message),
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => USAGE_EXIT_CODE,
            Self::Environment { .. } | Self::File { .. } | Self::Unreadable { .. } | Self::Conflict(_) => {
                CONFIG_EXIT_CODE
            }
        }
    }
}

/// Probably a mistake in `ralph.yml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub path: PathBuf,
    pub position: Position,
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
