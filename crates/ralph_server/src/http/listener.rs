//! `serve`: accepts connections, limits how long and how many, and ends them in good order.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tower_service::Service as _;

use super::admission::{Admission, ConnectionPermit};
use super::client_process::ClientProcess;
use super::write_timeout::WriteTimeout;
use crate::stream::MAX_STALL;

/// How long nobody is let in when the system has no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\n\
    content-length: 146\r\nretry-after: 5\r\nconnection: close\r\n\r\n\
    {\"type\":\"urn:ralph:problem:too_many_clients\",\"title\":\"Service Unavailable\",\"status\":503,\
    \"code\":\"too_many_clients\",\"detail\":\"too many connections\"}";

/// What clients may take.
#[derive(Debug, Clone, Copy)]
pub struct ServeOptions {
    /// How many connections there may be.
    pub max_connections: usize,
    /// How many of them may have shown neither a token nor a session yet. The oldest makes room for a new one.
    pub max_strangers: usize,
    /// How long a client may take to say what it wants, and stay without wanting anything.
    pub header_timeout: Duration,
    /// How long answers may take when the server ends.
    pub shutdown_timeout: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            max_connections: 1024,
            max_strangers: 256,
            header_timeout: Duration::from_secs(20),
            shutdown_timeout: Duration::from_secs(10),
        }
    }
}

/// How large the head of a request may be.
pub(super) const MAX_HEAD_BYTES: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;

/// Serves until `shutdown`, then lets answers that are on their way finish within a limit.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()>,
    options: ServeOptions,
) {
    let (ending, is_ending) = watch::channel(false);
    let mut connections = JoinSet::new();
    let admission = Admission::new(options.max_connections, options.max_strangers);
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // Those that are done are forgotten as they end; one that panicked takes nobody with it.
            Some(_) = connections.join_next() => continue,
            () = &mut shutdown => break,
        };
        match accepted {
            Ok((stream, peer)) => match admission.admit() {
                Some(permit) => {
                    let client = (stream, peer, permit);
                    connections.spawn(converse(client, router.clone(), is_ending.clone(), options));
                }
                None => turn_away(stream),
            },
            Err(error) => pause_after(&error).await,
        }
    }
    drop((listener, router));
    ending.send_replace(true);
    let finished = async {
        while connections.join_next().await.is_some() {}
        // A connection that is a WebSocket now is not one of these tasks any more, and still has its place.
        admission.all_left().await;
    };
    if timeout(options.shutdown_timeout, finished).await.is_err() {
        tracing::warn!("some answers were not finished in time");
        connections.shutdown().await;
    }
}

/// One connection, until the client leaves or the server ends.
async fn converse(
    (stream, peer, permit): (TcpStream, SocketAddr, ConnectionPermit),
    router: Router,
    mut ending: watch::Receiver<bool>,
    options: ServeOptions,
) {
    let _ = stream.set_nodelay(true);
    let process = stream
        .local_addr()
        .ok()
        .map(|local| ClientProcess::new(peer, local));
    let evicted = permit.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        let extensions = request.extensions_mut();
        extensions.insert(ConnectInfo::<SocketAddr>(peer));
        extensions.insert(permit.clone());
        if let Some(process) = &process {
            extensions.insert(process.clone());
        }
        router.clone().call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(options.header_timeout)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(WriteTimeout::new(stream, MAX_STALL)), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = evicted.evicted() => {
            tracing::debug!(%peer, "a connection without a token made room for another one");
            return;
        }
        () = async { drop(ending.wait_for(|is_ending| *is_ending).await) } => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %peer, "a connection ended badly");
    }
}

async fn pause_after(error: &io::Error) {
    // A client that left before it was let in is none of our concern; anything else is a lack of room.
    if !matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    ) {
        tracing::warn!(%error, "cannot let a client in");
        sleep(ACCEPT_PAUSE).await;
    }
}

/// Says that there is no room, without waiting for anything.
fn turn_away(mut stream: TcpStream) {
    tokio::spawn(async move {
        let _ = timeout(Duration::from_secs(1), stream.write_all(FULL)).await;
        let _ = timeout(Duration::from_secs(1), stream.shutdown()).await;
    });
}

#[cfg(test)]
mod tests {
    use super::FULL;

    #[test]
    fn the_answer_to_one_too_many_is_as_long_as_it_says() {
        let text = std::str::from_utf8(FULL).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains(&format!("content-length: {}\r\n", body.len())),
            "{}",
            body.len()
        );
        serde_json::from_str::<serde_json::Value>(body).unwrap();
    }
}
