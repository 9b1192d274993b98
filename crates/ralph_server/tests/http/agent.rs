//! A runner that takes every command and remembers it.

use std::sync::{Arc, Mutex};

use ralph_run::RunDirectory;
use ralph_run::control::{ControlCommand, ControlServer, Greeting, Receipt, Refusal, RefusalCode};
use ralph_run::model::RunState;
use tokio::task::JoinHandle;

/// A runner.
pub(crate) struct Runner {
    heard: Arc<Mutex<Vec<(String, ControlCommand)>>>,
    named: Arc<Mutex<Vec<Option<String>>>>,
    task: JoinHandle<()>,
}

impl Runner {
    /// Listens on the run's socket.
    pub(crate) async fn of(run: &RunDirectory) -> Self {
        let mut server = ControlServer::bind(run.socket(), Greeting::new(run.id(), RunState::Thinking))
            .await
            .unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hearing = Arc::clone(&heard);
        let named = Arc::new(Mutex::new(Vec::new()));
        let naming = Arc::clone(&named);
        let task = tokio::spawn(async move {
            loop {
                let incoming = server.next().await;
                let answer = match &incoming.command {
                    ControlCommand::Answer { request, .. } if request.as_str() == "request-1" => {
                        Ok(Receipt::default())
                    }
                    ControlCommand::Answer { .. } => Err(Refusal::new(
                        RefusalCode::NoSuchRequest,
                        "nobody waits for this answer",
                    )),
                    ControlCommand::Send { .. } => Ok(Receipt {
                        message_id: Some("message-1".to_owned()),
                        ..Receipt::default()
                    }),
                    _ => Ok(Receipt::default()),
                };
                naming.lock().unwrap().push(incoming.by);
                hearing
                    .lock()
                    .unwrap()
                    .push((incoming.command_id, incoming.command));
                incoming.reply.send(answer);
            }
        });
        Self { heard, named, task }
    }

    pub(crate) fn heard(&self) -> Vec<ControlCommand> {
        let heard = self.heard.lock().unwrap();
        heard.iter().map(|(_, command)| command.clone()).collect()
    }

    /// Who gave the commands, as the runner was told.
    pub(crate) fn actors(&self) -> Vec<Option<String>> {
        self.named.lock().unwrap().clone()
    }

    pub(crate) fn ids(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap();
        heard.iter().map(|(id, _)| id.clone()).collect()
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.task.abort();
    }
}
