//! `CommandSender`: sends commands to the control sockets of runs, one connection for each run.

use std::collections::HashMap;

use ralph_run::control::{ControlClient, ControlCommand, ControlError, Receipt, describe_refusal};
use ralph_run::{Home, RunDirectory};
use run_view::TUI_ACTOR;
use run_view::one_line;
use tokio::sync::mpsc;

use crate::input::{Input, Reply};

/// Messages of a runner may quote what an agent wrote.
const MESSAGE_COLUMNS: usize = 500;

#[derive(Debug)]
pub(super) struct CommandSender {
    home: Home,
    replies: mpsc::UnboundedSender<Input>,
    runs: HashMap<String, mpsc::UnboundedSender<ControlCommand>>,
}

impl CommandSender {
    pub(super) fn new(home: Home, replies: mpsc::UnboundedSender<Input>) -> Self {
        Self {
            home,
            replies,
            runs: HashMap::new(),
        }
    }

    /// Sends a command. Its answer is among the replies.
    pub(super) fn send(&mut self, run: String, command: ControlCommand) {
        let Some(directory) = self.home.run(&run) else {
            let result = Err(format!("run {run} is gone"));
            // Only this process reads replies.
            let _ = self.replies.send(Input::Reply(Reply { run, command, result }));
            return;
        };
        let replies = &self.replies;
        let commands = self.runs.entry(run).or_insert_with(|| {
            let (sender, commands) = mpsc::unbounded_channel();
            tokio::spawn(send_commands(directory, commands, replies.clone()));
            sender
        });
        let _ = commands.send(command);
    }
}

/// Sends the commands one after another.
async fn send_commands(
    run: RunDirectory,
    mut commands: mpsc::UnboundedReceiver<ControlCommand>,
    replies: mpsc::UnboundedSender<Input>,
) {
    let mut client = None;
    while let Some(command) = commands.recv().await {
        let result = match request(&run, &mut client, command.clone()).await {
            Ok(receipt) => Ok(receipt.note),
            Err(error) => {
                if !matches!(error, ControlError::Refused(_)) {
                    client = None;
                }
                Err(one_line(&describe_refusal(&run, &error), MESSAGE_COLUMNS))
            }
        };
        let reply = Reply {
            run: run.id().to_owned(),
            command,
            result,
        };
        if replies.send(Input::Reply(reply)).is_err() {
            return;
        }
    }
}

async fn request(
    run: &RunDirectory,
    client: &mut Option<ControlClient>,
    command: ControlCommand,
) -> Result<Receipt, ControlError> {
    let connected = match client.take() {
        Some(connected) => connected,
        None => ControlClient::connect(run.socket()).await?.named(TUI_ACTOR),
    };
    client.insert(connected).request(command).await
}
