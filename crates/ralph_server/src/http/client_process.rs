//! `ClientProcess`: tells the guard and the WebSocket whether a client is an agent of a run on this machine.

use std::net::SocketAddr;
use std::sync::Arc;

use agent_process::is_connected_from_below;
use tokio::sync::OnceCell;

use crate::problem::{Problem, ProblemCode};
use crate::runners::Runners;

/// The process at the other end of a connection. It is looked up once, when it first wants to change something.
#[derive(Debug, Clone)]
pub struct ClientProcess {
    client: SocketAddr,
    server: SocketAddr,
    is_agent: Arc<OnceCell<bool>>,
}

impl ClientProcess {
    /// Of a connection with these two ends.
    pub(crate) fn new(client: SocketAddr, server: SocketAddr) -> Self {
        Self {
            client,
            server,
            is_agent: Arc::default(),
        }
    }

    /// Refuses a client that an agent of a run has started. Runs get no secret of the server: one that has it took it.
    pub(crate) async fn refuse_agents(&self, runners: &dyn Runners) -> Result<(), Problem> {
        let is_agent = self.is_agent.get_or_init(|| async {
            let (client, server) = (self.client, self.server);
            let runners = runners.local_processes().await;
            let found =
                tokio::task::spawn_blocking(move || is_connected_from_below(client, server, &runners));
            found.await.unwrap_or_else(|error| {
                tracing::error!(%error, "cannot look up the process of a client");
                // Better a user who has to try again than an agent that answers itself.
                true
            })
        });
        if *is_agent.await {
            let detail = "an agent cannot control the server that runs it: this is for the user";
            return Err(Problem::new(ProblemCode::AgentNotAllowed, detail));
        }
        Ok(())
    }
}
