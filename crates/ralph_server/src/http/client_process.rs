//! `ClientProcess`: tells the guard and the WebSocket whether a client is an agent of a run on this machine.

use std::net::SocketAddr;
use std::sync::Arc;

use agent_process::{ConnectionOrigin, connection_origin};
use tokio::sync::OnceCell;

use crate::problem::{Problem, ProblemCode};
use crate::runners::Runners;

/// The process at the other end of a connection. It is looked up when it first wants to change something, and again if
/// it could not be found.
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
        let is_agent = self.is_agent.get_or_try_init(|| self.look_up(runners)).await?;
        if *is_agent {
            let detail = "an agent cannot control the server that runs it: this is for the user";
            return Err(Problem::new(ProblemCode::AgentNotAllowed, detail));
        }
        Ok(())
    }

    /// A client that may be an agent is refused: better a user who has to try again than an agent that answers itself.
    async fn look_up(&self, runners: &dyn Runners) -> Result<bool, Problem> {
        let unknown = |reason: &str| {
            let detail = format!("cannot tell whether an agent sent this: {reason}");
            Problem::new(ProblemCode::AgentNotAllowed, detail)
        };
        let (client, server) = (self.client, self.server);
        let runners = runners.local_processes().await.map_err(|error| {
            tracing::error!(%error, "cannot list the runners");
            unknown("the server cannot list the active runs")
        })?;
        let found = tokio::task::spawn_blocking(move || connection_origin(client, server, &runners)).await;
        match found {
            Ok(ConnectionOrigin::Descendant) => Ok(true),
            Ok(ConnectionOrigin::Unrelated) => Ok(false),
            Ok(ConnectionOrigin::Unknown) => Err(unknown(
                "no process shows that it has this connection; try again, or use `ralph` on the command line",
            )),
            Err(error) => {
                tracing::error!(%error, "cannot look up the process of a client");
                Err(unknown("its process cannot be looked up"))
            }
        }
    }
}
