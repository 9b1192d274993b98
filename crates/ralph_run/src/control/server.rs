//! `ControlServer`: the runner's end of the control socket. The driver takes commands from it and replies.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_process::{Lineage, Marker, lineage};
use tokio::net::UnixListener;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::command::ControlCommand;
use super::connection::{Hub, lock, serve, turn_away};
use super::protocol::{Greeting, Receipt, Response, line_of};
use super::receipts::{Receipts, Waiter};
use super::refusal::Refusal;
use super::socket::{Socket, is_allowed};
use crate::home::{RUN_ID_VARIABLE, RunDirectory};
use crate::model::RunState;

/// How many commands wait between the clients and the run's loop.
const QUEUE_LENGTH: usize = 64;

const MAX_CLIENTS: usize = 128;

/// How long the last answers may take when the run is over.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// How long to pause when the system has no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Takes commands for a run from any number of clients.
///
/// When it is dropped, waiting clients learn that the run has ended, and the socket is removed.
#[derive(Debug)]
pub struct ControlServer {
    incoming: mpsc::Receiver<Incoming>,
    greeting: watch::Sender<Greeting>,
    clients: JoinHandle<()>,
    socket: Socket,
}

#[derive(Debug)]
pub struct Incoming {
    /// The client's own name for it.
    pub command_id: String,
    /// Who asks, where the client says.
    pub by: Option<String>,
    pub command: ControlCommand,
    pub reply: Reply,
}

impl ControlServer {
    /// Listens on `path`, which is for this user alone. A socket that is left over from a dead runner is replaced, one
    /// on which a process answers is not.
    ///
    /// Needs a tokio runtime, in which the clients are served.
    ///
    /// # Errors
    /// When the path is too long, its folder is open to others, another process listens there already, or the system says so.
    pub async fn bind(path: impl AsRef<Path>, greeting: Greeting) -> io::Result<Self> {
        Ok(Self::serve(Socket::bind(path.as_ref()).await?, greeting))
    }

    /// Listens for the clients of a run, in its directory or in a private folder where that cannot hold a socket.
    pub async fn bind_for_run(run: &RunDirectory, greeting: Greeting) -> io::Result<Self> {
        Ok(Self::serve(Socket::bind_for_run(run).await?, greeting))
    }

    fn serve((socket, listener): (Socket, UnixListener), greeting: Greeting) -> Self {
        let (commands, incoming) = mpsc::channel(QUEUE_LENGTH);
        let (greeting, greetings) = watch::channel(greeting);
        let hub = Hub {
            incoming: commands,
            receipts: Arc::new(Mutex::new(Receipts::default())),
            greeting: greetings,
        };
        let clients = tokio::spawn(accept(listener, hub, socket.owner()));
        Self {
            incoming,
            greeting,
            clients,
            socket,
        }
    }

    /// The next command. Waits until there is one; dropping the wait loses nothing.
    pub async fn next(&mut self) -> Incoming {
        match self.incoming.recv().await {
            Some(incoming) => incoming,
            // Only when the runtime that serves the clients is shut down.
            None => std::future::pending().await,
        }
    }

    /// The state in the greeting of later connections.
    pub fn set_state(&self, state: &RunState) {
        self.greeting.send_if_modified(|greeting| {
            let is_new = greeting.state != *state;
            if is_new {
                greeting.state.clone_from(state);
            }
            is_new
        });
    }

    pub fn path(&self) -> &Path {
        self.socket.path()
    }

    /// Tells waiting clients that the run has ended. Takes a second at most.
    pub async fn close(self) {
        let Self {
            incoming,
            greeting,
            mut clients,
            socket,
        } = self;
        drop((socket, incoming, greeting));
        if timeout(CLOSE_TIMEOUT, &mut clients).await.is_err() {
            clients.abort();
        }
    }
}

async fn accept(listener: UnixListener, hub: Hub, owner: u32) {
    let mut clients = JoinSet::new();
    let mut run = hub.clone();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // Those that are done are forgotten as they end.
            Some(_) = clients.join_next() => continue,
            () = run.closed() => break,
        };
        match accepted {
            Ok((stream, _)) => match stream.peer_cred() {
                Ok(peer) if !is_allowed(peer.uid(), owner) => {
                    tracing::warn!(uid = peer.uid(), "another user spoke to the control socket");
                }
                Ok(peer) if clients.len() < MAX_CLIENTS => {
                    let is_agent = is_agent(peer.pid(), &hub);
                    clients.spawn(serve(stream, hub.clone(), is_agent));
                }
                Ok(_) => turn_away(stream),
                Err(error) => tracing::debug!(%error, "a client left before it was asked who it is"),
            },
            Err(error) => {
                tracing::warn!(%error, "cannot let a client in");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    while clients.join_next().await.is_some() {}
}

/// Whether a client is the agent of this run, or was started by it: it is below this process, or it or a process above it
/// carries the run's marker. A client whose process has ended could have been anything, so it counts as the agent.
fn is_agent(pid: Option<i32>, hub: &Hub) -> bool {
    // A process outside of this PID namespace has the id 0 here. Agents are never outside of it.
    let Some(pid) = pid.and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0) else {
        return false;
    };
    let marker = Marker::new(RUN_ID_VARIABLE, hub.greeting.borrow().run_id.clone());
    match lineage(pid, std::process::id(), &marker) {
        Lineage::Descendant | Lineage::Gone => true,
        Lineage::Unrelated => false,
    }
}

/// Where the answer to a command goes. One that is dropped says that the run has ended.
#[derive(Debug)]
pub struct Reply {
    id: String,
    receipts: Arc<Mutex<Receipts>>,
    /// The only one who waits, if the answer is not kept for others.
    waiter: Option<Waiter>,
    is_sent: bool,
}

impl Reply {
    pub(super) fn once(id: String, receipts: Arc<Mutex<Receipts>>, waiter: Waiter) -> Self {
        let mut reply = Self::kept(id, receipts);
        reply.waiter = Some(waiter);
        reply
    }

    pub(super) fn kept(id: String, receipts: Arc<Mutex<Receipts>>) -> Self {
        Self {
            id,
            receipts,
            waiter: None,
            is_sent: false,
        }
    }

    /// Answers. Returns at once, whether or not the client reads it.
    pub fn send(mut self, result: Result<Receipt, Refusal>) {
        self.deliver(result);
    }

    fn deliver(&mut self, result: Result<Receipt, Refusal>) {
        if std::mem::replace(&mut self.is_sent, true) {
            return;
        }
        let line = line_of(&Response::new(Some(self.id.clone()), result));
        match self.waiter.take() {
            Some(waiter) => waiter.send(line),
            None => lock(&self.receipts).answer(&self.id, line),
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.deliver(Err(Refusal::run_ended()));
    }
}
