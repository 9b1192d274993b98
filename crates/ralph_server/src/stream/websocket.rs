//! `serve`: one WebSocket client, from its hello to its end.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use axum::http::StatusCode;
use futures_util::{SinkExt as _, StreamExt as _};
use ralph_run::control::{ControlCommand, ControlRequest, Receipt};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::protocol::{ErrorMessage, FromClient, PROTOCOL_VERSION, ToClient, Topic};
use super::subscriptions::Subscriptions;
use crate::auth::{Principal, SessionGuard};
use crate::http::{ClientProcess, CommandLog};
use crate::live::Hub;
use crate::problem::{Problem, ProblemCode};
use crate::runners::Runners;

/// How often a client is told that we are there, and how long it may say nothing.
const HEARTBEAT: Duration = Duration::from_secs(15);
const MAX_SILENCE: Duration = Duration::from_secs(45);
/// How long a client may not take what it is sent.
pub(crate) const MAX_STALL: Duration = Duration::from_secs(30);
/// How many commands of a client may be under way.
const MAX_COMMANDS: usize = 16;

/// What a stream needs.
#[derive(Clone)]
pub struct StreamContext {
    /// What happens now.
    pub live: Arc<Hub>,
    /// Takes commands to runs.
    pub runners: Arc<dyn Runners>,
    /// Our version.
    pub version: &'static str,
    /// Becomes true when the server ends.
    pub ending: watch::Receiver<bool>,
    /// Who watches. Everything is allowed to a caller that checks access by itself.
    pub principal: Option<Principal>,
    /// The process at the other end, where that is known.
    pub process: Option<ClientProcess>,
    /// Where commands are logged.
    pub log: Option<CommandLog>,
}

impl StreamContext {
    pub(super) fn guard(&self) -> Option<SessionGuard> {
        self.principal.as_ref().map(|principal| principal.guard.clone())
    }

    async fn may_command(&self, run: &str, command: &ControlCommand) -> Result<(), Problem> {
        let Some(principal) = &self.principal else {
            return Ok(());
        };
        principal.may_command(command)?;
        self.may_see(principal, run).await
    }

    /// Lists have only what the client may see.
    async fn may_watch(&self, topic: &Topic) -> Result<(), Problem> {
        match (&self.principal, topic) {
            (Some(principal), Topic::Run(run)) => self.may_see(principal, run).await,
            (None, _) | (Some(_), Topic::Feed(_)) => Ok(()),
        }
    }

    /// A token that is confined to workspaces finds no other runs.
    async fn may_see(&self, principal: &Principal, run: &str) -> Result<(), Problem> {
        if principal.workspaces.is_none() {
            return Ok(());
        }
        match self.live.workspace_of(run).await? {
            Some(workspace) if principal.covers(Path::new(&workspace)) => Ok(()),
            Some(_) | None => Err(Problem::no_run(run)),
        }
    }
}

/// Serves one client until it leaves.
pub async fn serve(mut socket: WebSocket, context: StreamContext) {
    let (mut ending, mut guard) = (context.ending.clone(), context.guard());
    let mut client = Subscriptions::new(context.live.clone(), context.principal.as_ref());
    let (replies, mut replied) = mpsc::channel::<String>(MAX_COMMANDS);
    let hello = ToClient::Hello {
        protocol: PROTOCOL_VERSION,
        server: context.version,
    };
    if send(&mut socket, [hello.encode().into()]).await.is_err() {
        return;
    }
    let mut heartbeat = interval(HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    heartbeat.tick().await;
    let mut heard = Instant::now();
    loop {
        let waker = client.waker.clone();
        let outcome = tokio::select! {
            message = socket.next() => {
                heard = Instant::now();
                match message {
                    Some(Ok(Message::Text(text))) => on_text(&text, &mut client, &context, &replies, &mut socket).await,
                    Some(Ok(Message::Binary(_))) => {
                        let problem = ErrorMessage { code: ProblemCode::NotText, message: "send text".to_owned() };
                        let text = ToClient::Error { id: None, problem }.encode();
                        send(&mut socket, [text.into()]).await
                    }
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => Ok(()),
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                }
            }
            numbers = waker.wait() => {
                tell(&mut socket, &mut client, numbers).await
            }
            Some(reply) = replied.recv() => send(&mut socket, [reply.into()]).await,
            _ = heartbeat.tick() => {
                if heard.elapsed() > MAX_SILENCE {
                    return;
                }
                let ping = Message::Ping(axum::body::Bytes::new());
                send(&mut socket, [client.heartbeat().into(), ping]).await
            }
            () = is_true(&mut ending) => {
                close(&mut socket, close_code::AWAY, "the server is ending").await;
                return;
            }
            () = is_over(&mut guard) => {
                close(&mut socket, close_code::POLICY, "the token or login session has ended: log in again").await;
                return;
            }
        };
        if outcome.is_err() {
            close(
                &mut socket,
                close_code::AGAIN,
                "too slow: come back and go on where you were",
            )
            .await;
            return;
        }
    }
}

/// Tells what is new, one thing after the other: what is not sent yet is not read yet.
async fn tell(
    socket: &mut WebSocket,
    client: &mut Subscriptions,
    numbers: BTreeSet<usize>,
) -> Result<(), Gone> {
    for number in numbers {
        let news = client.news(number).await;
        let fed = timeout(MAX_STALL, async {
            for text in news {
                socket.feed(Message::Text(text)).await?;
            }
            Ok::<_, axum::Error>(())
        });
        fed.await.map_err(|_| Gone)?.map_err(|_| Gone)?;
    }
    // Once for all of them.
    send(socket, []).await
}

/// Waits until it is so, or nobody can say any more.
pub(super) async fn is_true(value: &mut watch::Receiver<bool>) {
    let _ = value.wait_for(|value| *value).await;
}

/// Waits until the token or session of the client has ended; for ever if it has none.
pub(super) async fn is_over(guard: &mut Option<SessionGuard>) {
    match guard {
        Some(guard) => guard.over().await,
        None => std::future::pending().await,
    }
}

/// The client is gone, or takes nothing.
struct Gone;

async fn send(socket: &mut WebSocket, messages: impl IntoIterator<Item = Message>) -> Result<(), Gone> {
    let sent = timeout(MAX_STALL, async {
        for message in messages {
            socket.feed(message).await?;
        }
        socket.flush().await
    });
    sent.await.map_err(|_| Gone)?.map_err(|_| Gone)
}

async fn close(socket: &mut WebSocket, code: u16, reason: &'static str) {
    let frame = CloseFrame {
        code,
        reason: reason.into(),
    };
    let _ = timeout(Duration::from_secs(1), socket.send(Message::Close(Some(frame)))).await;
}

async fn on_text(
    text: &str,
    client: &mut Subscriptions,
    context: &StreamContext,
    replies: &mpsc::Sender<String>,
    socket: &mut WebSocket,
) -> Result<(), Gone> {
    let told = match serde_json::from_str(text) {
        Ok(FromClient::Subscribe {
            id,
            topic,
            after,
            epoch,
            protocol,
        }) => {
            let told = match context.may_watch(&topic).await {
                Ok(()) => {
                    client
                        .subscribe(
                            id.as_deref(),
                            &topic,
                            after,
                            epoch.as_deref(),
                            protocol.unwrap_or(1),
                        )
                        .await
                }
                Err(problem) => Err(problem.into()),
            };
            told.unwrap_or_else(|problem| {
                let id = id.as_deref();
                ToClient::Error { id, problem }.encode()
            })
        }
        Ok(FromClient::Unsubscribe { topic }) => {
            client.unsubscribe(&topic);
            return Ok(());
        }
        Ok(FromClient::Command { id, run, command }) => match replies.clone().try_reserve_owned() {
            Ok(place) => {
                let (runners, process) = (context.runners.clone(), context.process.clone());
                let context = context.clone();
                let by = context.principal.as_ref().map(Principal::actor);
                let (log, name, began) = (context.log.clone(), command.name(), Instant::now());
                tokio::spawn(async move {
                    let may_steer = context.may_command(&run, &command).await;
                    let allowed = match &process {
                        Some(process) if may_steer.is_ok() => process.refuse_agents(runners.as_ref()).await,
                        Some(_) | None => may_steer,
                    };
                    let done = match allowed {
                        Ok(()) => runners
                            .command(
                                &run,
                                ControlRequest {
                                    id: id.clone(),
                                    by,
                                    command,
                                },
                            )
                            .await
                            .map_err(ErrorMessage::from),
                        Err(refused) => Err(refused.into()),
                    };
                    if let Some(log) = log {
                        let refusal = done.as_ref().err().map(|error| error.code.status());
                        let status = refusal.unwrap_or(StatusCode::ACCEPTED);
                        log.write(&run, name, status, began.elapsed());
                    }
                    place.send(receipt(&id, &run, done));
                });
                return Ok(());
            }
            Err(_) => {
                let problem = ErrorMessage {
                    code: ProblemCode::TooMany,
                    message: "too many commands at once: wait for the receipts".to_owned(),
                };
                let id = Some(id.as_str());
                ToClient::Error { id, problem }.encode()
            }
        },
        Err(error) => {
            let problem = ErrorMessage {
                code: ProblemCode::Malformed,
                message: format!("not understood: {error}"),
            };
            ToClient::Error { id: None, problem }.encode()
        }
    };
    send(socket, [told.into()]).await
}

fn receipt(id: &str, run: &str, done: Result<Receipt, ErrorMessage>) -> String {
    let (receipt, error) = match done {
        Ok(receipt) => (Some(receipt), None),
        Err(error) => (None, Some(error)),
    };
    let receipt = receipt.as_ref();
    ToClient::Receipt {
        id,
        run,
        receipt,
        error,
    }
    .encode()
}
