//! Telling a run something.

use ralph_run::Home;
use ralph_run::control::{ControlClient, ControlCommand, ControlError, Receipt, Refusal};

/// Tells a run something, under an id of the client's: the same again is done once.
///
/// # Errors
/// When there is no such run, it is over, or it refuses.
pub async fn command(
    home: &Home,
    run: &str,
    id: String,
    command: ControlCommand,
) -> Result<Receipt, CommandError> {
    let directory = home
        .run(run)
        .ok_or_else(|| CommandError::NoSuchRun(run.to_owned()))?;
    let mut client = ControlClient::connect(directory.socket()).await?;
    Ok(client.request_as(id, command).await?)
}

/// A run was not told something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// There is none.
    #[error("no run `{0}`")]
    NoSuchRun(String),
    /// It is over.
    #[error("the run is over")]
    NotRunning,
    /// It does not want to.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// It cannot be spoken to.
    #[error(transparent)]
    Unreachable(ControlError),
}

impl From<ControlError> for CommandError {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::NotRunning { .. } | ControlError::Closed => Self::NotRunning,
            ControlError::Refused(refusal) => Self::Refused(refusal),
            other => Self::Unreachable(other),
        }
    }
}
