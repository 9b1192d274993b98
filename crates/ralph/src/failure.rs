//! `Failure`: an error with its own exit code, and `exit_code`, which `main` uses for every error.

use crate::settings::SettingsError;

/// A failure with an exit code of its own.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub message: String,
    pub exit_code: u8,
    /// The flag that is wrong, if it is one: a server names the field of the request instead.
    pub flag: Option<String>,
}

impl Failure {
    /// The agent is not installed or not logged in.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            exit_code: 69,
            flag: None,
        }
    }

    pub fn config(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            exit_code: 78,
            flag: None,
        }
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            exit_code: 64,
            flag: None,
        }
    }

    /// The same, about this flag.
    pub fn about(mut self, flag: &str) -> Self {
        self.flag = Some(flag.to_owned());
        self
    }
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        Self {
            exit_code: error.exit_code(),
            message: error.to_string(),
            flag: None,
        }
    }
}

/// The exit code of an error.
pub fn exit_code(error: &anyhow::Error) -> u8 {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.exit_code;
    }
    if let Some(settings) = error.downcast_ref::<SettingsError>() {
        return settings.exit_code();
    }
    match error.downcast_ref::<agent_api::Error>() {
        Some(
            agent_api::Error::NotInstalled { .. }
            | agent_api::Error::NothingFound { .. }
            | agent_api::Error::Detect(_)
            | agent_api::Error::Spawn(_),
        ) => 69,
        Some(
            agent_api::Error::UnknownBackend { .. }
            | agent_api::Error::InvalidRequest { .. }
            | agent_api::Error::UnsupportedCapability { .. },
        ) => 78,
        _ => 1,
    }
}
