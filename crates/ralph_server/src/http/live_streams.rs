//! The addresses of the live streams: the WebSocket and the server-sent events of a run.

use std::sync::Arc;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::access::Peer;
use super::access_log::CommandLog;
use super::admission::ConnectionPermit;
use super::client_process::ClientProcess;
use super::input::{InPath, Parameters};
use super::token_connections::TokenConnection;
use crate::app::App;
use crate::auth::Principal;
use crate::problem::{Problem, ProblemCode};
use crate::stream::{self, EventId};

/// A frame of a client is no larger: the longest is a prompt.
const BUFFER_BYTES: usize = 4 << 10;
/// What is collected for one write to the socket.
const WRITE_BUFFER_BYTES: usize = 16 << 10;
const MAX_FRAME_BYTES: usize = 1024 * 1024;
/// What waits to be sent to a client that does not read, beyond what is on its way.
const MAX_UNSENT_BYTES: usize = 4 * 1024 * 1024;

/// Watches runs and tells them things, over a WebSocket.
#[utoipa::path(get, path = "/api/v1/stream", operation_id = "stream", tag = "live",
    params(("ticket" = Option<String>, Query, nullable = false,
        description = "A ticket, instead of the `Authorization` header.")),
    responses((status = 101, description = "The connection is a WebSocket from now on.")))]
pub(super) async fn stream(
    State(app): State<Arc<App>>,
    permit: Option<Extension<ConnectionPermit>>,
    connection: Option<Extension<TokenConnection>>,
    Extension(principal): Extension<Principal>,
    process: Option<Extension<ClientProcess>>,
    Extension(Peer(peer)): Extension<Peer>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade =
        upgrade.map_err(|rejection| Problem::new(ProblemCode::InvalidParameter, rejection.body_text()))?;
    let log = CommandLog::new(Arc::clone(&app.access_log), peer, &principal);
    let mut context = app.stream_context(principal);
    context.log = Some(log);
    context.process = process.map(|Extension(process)| process);
    Ok(upgrade
        .max_message_size(MAX_FRAME_BYTES)
        .max_frame_size(MAX_FRAME_BYTES)
        // Clients say little, and what they are told goes out at once: the default buffers would be most of what a
        // client costs.
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(WRITE_BUFFER_BYTES)
        .max_write_buffer_size(MAX_UNSENT_BYTES)
        .on_upgrade(move |socket| async move {
            let _kept = (permit, app.metrics.count_websocket_client());
            let evicted = async {
                match &connection {
                    Some(connection) => connection.evicted().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = stream::serve(socket, context) => {}
                () = evicted => {}
            }
        }))
}

/// Where to begin.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct EventsParameters {
    /// Only records after this one. `Last-Event-ID`, the id of the last event, says the same and comes first.
    #[param(nullable = false)]
    after: Option<u64>,
    /// A ticket, instead of the `Authorization` header. It is checked before.
    #[param(nullable = false)]
    #[serde(rename = "ticket")]
    _ticket: Option<String>,
}

/// Watches one run, as server-sent events, until it has ended.
#[utoipa::path(get, path = "/api/v1/runs/{id}/events", operation_id = "runs_events", tag = "live",
    params(("id" = String, Path, description = "The run."), EventsParameters),
    responses((status = 200, description = "The records as they come.", body = String, content_type = "text/event-stream"),
        (status = 204, description = "The run has ended, and this was all of it.")))]
pub(super) async fn events(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
    Parameters(asked): Parameters<EventsParameters>,
    Extension(principal): Extension<Principal>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let place = match last.and_then(EventId::parse) {
        Some(place) => Some(place),
        None => asked.after.map(EventId::from),
    };
    let context = app.stream_context(principal);
    Ok(
        match stream::events(context, Arc::clone(&app.store), &id, place).await? {
            Some(events) => events.into_response(),
            None => StatusCode::NO_CONTENT.into_response(),
        },
    )
}
