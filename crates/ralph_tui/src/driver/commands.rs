//! `CommandSender`: sends commands to the control sockets of runs, one connection for each run.

use std::collections::HashMap;
use std::time::Duration;

use ralph_run::control::{ControlCommand, ReconnectingClient, describe_refusal};
use ralph_run::{Home, RunDirectory, short_run_id};
use run_view::TUI_ACTOR;
use run_view::one_line;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use crate::input::{Input, Reply};

/// Messages of a runner may quote what an agent wrote.
const MESSAGE_COLUMNS: usize = 500;

#[derive(Debug)]
pub(super) struct CommandSender {
    home: Home,
    replies: mpsc::UnboundedSender<Input>,
    runs: HashMap<String, mpsc::UnboundedSender<ControlCommand>>,
    /// What no run has answered yet, with its run.
    unanswered: Vec<(String, ControlCommand)>,
}

impl CommandSender {
    pub(super) fn new(home: Home, replies: mpsc::UnboundedSender<Input>) -> Self {
        Self {
            home,
            replies,
            runs: HashMap::new(),
            unanswered: Vec::new(),
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
        self.unanswered.push((run.clone(), command.clone()));
        let replies = &self.replies;
        let commands = self.runs.entry(run).or_insert_with(|| {
            let (sender, commands) = mpsc::unbounded_channel();
            tokio::spawn(send_commands(directory, commands, replies.clone()));
            sender
        });
        let _ = commands.send(command);
    }

    pub(super) fn note_reply(&mut self, reply: &Reply) {
        let is_answered =
            |(run, command): &(String, ControlCommand)| *run == reply.run && *command == reply.command;
        if let Some(place) = self.unanswered.iter().position(is_answered) {
            self.unanswered.remove(place);
        }
    }

    /// Waits for the answers to what was sent, but not for long. Says what was refused, and what was not answered.
    pub(super) async fn settle(
        &mut self,
        replies: &mut mpsc::UnboundedReceiver<Input>,
        limit: Duration,
    ) -> Vec<String> {
        let deadline = Instant::now() + limit;
        let mut problems = Vec::new();
        while !self.unanswered.is_empty() {
            let Ok(Some(input)) = timeout_at(deadline, replies.recv()).await else {
                break;
            };
            let Input::Reply(reply) = input else { continue };
            self.note_reply(&reply);
            if let Err(reason) = reply.result {
                problems.push(format!("run {}: {reason}", short_run_id(&reply.run)));
            }
        }
        let unanswered = self.unanswered.drain(..).map(|(run, command)| {
            let (run, name) = (short_run_id(&run).to_owned(), command.name());
            format!("run {run} has not answered `{name}`; it may not have been sent")
        });
        problems.extend(unanswered);
        problems
    }
}

/// Sends the commands one after another.
async fn send_commands(
    run: RunDirectory,
    mut commands: mpsc::UnboundedReceiver<ControlCommand>,
    replies: mpsc::UnboundedSender<Input>,
) {
    let mut client = ReconnectingClient::new(run.clone(), TUI_ACTOR);
    while let Some(command) = commands.recv().await {
        let result = match client.request(command.clone()).await {
            Ok(receipt) => Ok(receipt.note),
            Err(error) => Err(one_line(&describe_refusal(&run, &error), MESSAGE_COLUMNS)),
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;
    use ralph_run::Home;
    use ralph_run::control::ControlCommand;
    use tokio::sync::mpsc;

    use super::CommandSender;

    #[tokio::test]
    async fn whoever_leaves_hears_what_became_of_the_last_commands() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path().join("state"), None);
        let run = home.create_run(Timestamp::now()).unwrap();
        let (sender, mut replies) = mpsc::unbounded_channel();
        let mut commands = CommandSender::new(home, sender);
        let limit = Duration::from_secs(60);
        assert_eq!(commands.settle(&mut replies, limit).await, [""; 0]);
        // Nobody listens at its socket.
        commands.send(run.id().to_owned(), ControlCommand::Stop);
        let problems = commands.settle(&mut replies, limit).await;
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with("run "), "{problems:?}");
        // Somebody does, and says nothing.
        let _listener = std::os::unix::net::UnixListener::bind(run.socket()).unwrap();
        commands.send(run.id().to_owned(), ControlCommand::Stop);
        let problems = commands.settle(&mut replies, Duration::from_millis(20)).await;
        assert!(problems[0].contains("has not answered `stop`"), "{problems:?}");
    }
}
