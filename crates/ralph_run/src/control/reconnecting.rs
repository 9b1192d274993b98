//! `ReconnectingClient`: sends commands to one run, one after another. The keyboard of the console and the terminal UI
//! use it.

use super::client::ControlClient;
use super::command::ControlCommand;
use super::error::ControlError;
use super::protocol::Receipt;
use crate::home::RunDirectory;

/// A connection that is opened by the first command, and again by the one after it broke.
#[derive(Debug)]
pub struct ReconnectingClient {
    run: RunDirectory,
    by: &'static str,
    client: Option<ControlClient>,
}

impl ReconnectingClient {
    /// `by` is who gives the commands, as the journal names it.
    pub fn new(run: RunDirectory, by: &'static str) -> Self {
        Self {
            run,
            by,
            client: None,
        }
    }

    /// As [`ControlClient::request`].
    pub async fn request(&mut self, command: ControlCommand) -> Result<Receipt, ControlError> {
        let mut client = match self.client.take() {
            Some(client) => client,
            None => ControlClient::connect(self.run.socket()).await?.named(self.by),
        };
        let answer = client.request(command).await;
        if matches!(answer, Ok(_) | Err(ControlError::Refused(_))) {
            self.client = Some(client);
        }
        answer
    }
}
