//! `serve`: accepts connections, limits their number and duration, and shuts down gracefully.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::server::TlsStream;
use tower_service::Service as _;

use super::admission::{Admission, ConnectionPermit};
use super::client_process::ClientProcess;
use super::token_connections::{TokenConnection, TokenConnections};
use super::write_timeout::WriteTimeout;
use crate::stream::MAX_STALL;
use crate::tls::Tls;

/// Pause after a failed `accept`, such as when there are too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

const SERVER_FULL_RESPONSE: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\n\
    content-length: 146\r\nretry-after: 5\r\nconnection: close\r\n\r\n\
    {\"type\":\"urn:ralph:problem:too_many_clients\",\"title\":\"Service Unavailable\",\"status\":503,\
    \"code\":\"too_many_clients\",\"detail\":\"too many connections\"}";

/// The answer to plain HTTP on a port that speaks TLS.
const TLS_REQUIRED_RESPONSE: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json\r\n\
    content-length: 155\r\nconnection: close\r\n\r\n\
    {\"type\":\"urn:ralph:problem:tls_required\",\"title\":\"Bad Request\",\"status\":400,\
    \"code\":\"tls_required\",\"detail\":\"this port speaks TLS: use an https:// address\"}";

/// The first byte of every TLS connection: the record of a handshake.
const TLS_HANDSHAKE: u8 = 0x16;

/// Limits of connections.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Open connections, WebSockets included.
    pub max_connections: usize,
    /// Connections that have shown neither a token nor a session yet. The oldest is closed for a new one.
    pub max_strangers: usize,
    /// Connections of one token, its sessions included. The oldest is closed for a new one. Tokens that may do everything
    /// have no limit of their own.
    pub max_connections_of_token: usize,
    /// How long a client may take to send the head of a request, and may stay idle between requests.
    pub header_timeout: Duration,
    /// How long open requests may take when the server shuts down.
    pub shutdown_timeout: Duration,
    /// The certificate, if the server speaks TLS. A handshake has `header_timeout`, too.
    pub tls: Option<Arc<Tls>>,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            max_connections: 1024,
            max_strangers: 256,
            max_connections_of_token: 128,
            header_timeout: Duration::from_secs(20),
            shutdown_timeout: Duration::from_secs(10),
            tls: None,
        }
    }
}

/// Largest head of a request.
pub(super) const MAX_HEAD_BYTES: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;

/// Serves until `shutdown`, then lets open requests finish within `shutdown_timeout`.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()>,
    options: ServeOptions,
) {
    let (ending, is_ending) = watch::channel(false);
    let mut connections = JoinSet::new();
    let admission = Admission::new(options.max_connections, options.max_strangers);
    let of_tokens = TokenConnections::new(options.max_connections_of_token);
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
                    let client = (stream, peer, permit, of_tokens.connection());
                    connections.spawn(serve_connection(
                        client,
                        router.clone(),
                        is_ending.clone(),
                        options.clone(),
                    ));
                }
                None if options.tls.is_some() => drop(stream),
                None => reject_full(stream),
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

/// Serves one connection until the client leaves or the server shuts down.
async fn serve_connection(
    (stream, peer, permit, of_token): (TcpStream, SocketAddr, ConnectionPermit, TokenConnection),
    router: Router,
    mut ending: watch::Receiver<bool>,
    options: ServeOptions,
) {
    let _ = stream.set_nodelay(true);
    let process = stream
        .local_addr()
        .ok()
        .map(|local| ClientProcess::new(peer, local));
    let client = Client {
        peer,
        permit: permit.clone(),
        of_token,
        process,
    };
    let Some(tls) = &options.tls else {
        let stream = WriteTimeout::new(stream, MAX_STALL);
        return serve_requests(stream, client, router, ending, &options).await;
    };
    // Until the handshake is done, nobody has said anything: the end of the server does not wait for it.
    let shaken = tokio::select! {
        shaken = timeout(options.header_timeout, accept_tls(stream, tls)) => shaken,
        () = permit.evicted() => return,
        _ = ending.wait_for(|is_ending| *is_ending) => return,
    };
    match shaken {
        Ok(Ok(Some(stream))) => serve_requests(stream, client, router, ending, &options).await,
        Ok(Ok(None)) => {}
        Ok(Err(error)) => tracing::debug!(%error, %peer, "a TLS handshake failed"),
        Err(_) => tracing::debug!(%peer, "a TLS handshake took too long"),
    }
}

/// Accepts a TLS connection. None if the client does not speak TLS; it gets `TLS_REQUIRED_RESPONSE`.
async fn accept_tls(
    mut stream: TcpStream,
    tls: &Tls,
) -> io::Result<Option<TlsStream<WriteTimeout<TcpStream>>>> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 0 {
        return Ok(None);
    }
    if first != [TLS_HANDSHAKE] {
        stream.write_all(TLS_REQUIRED_RESPONSE).await?;
        stream.shutdown().await?;
        // Closing with unread bytes would reset the connection before the answer is read.
        let _ = timeout(Duration::from_secs(1), async {
            let mut rest = [0; 4096];
            while stream.read(&mut rest).await.is_ok_and(|count| count > 0) {}
        })
        .await;
        return Ok(None);
    }
    let stream = WriteTimeout::new(stream, MAX_STALL);
    tls.acceptor().accept(stream).await.map(Some)
}

/// The client of a connection.
struct Client {
    peer: SocketAddr,
    permit: ConnectionPermit,
    of_token: TokenConnection,
    process: Option<ClientProcess>,
}

/// Serves the requests of a connection until the client leaves or the server shuts down.
async fn serve_requests(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    client: Client,
    router: Router,
    mut ending: watch::Receiver<bool>,
    options: &ServeOptions,
) {
    let Client {
        peer,
        permit,
        of_token,
        process,
    } = client;
    let (evicted, outnumbered) = (permit.clone(), of_token.clone());
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        let extensions = request.extensions_mut();
        extensions.insert(ConnectInfo::<SocketAddr>(peer));
        extensions.insert(permit.clone());
        extensions.insert(of_token.clone());
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
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = evicted.evicted() => {
            tracing::debug!(%peer, "a connection without a token made room for another one");
            return;
        }
        () = outnumbered.evicted() => {
            tracing::debug!(%peer, "a connection made room for another one of its token");
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

/// Answers with `SERVER_FULL_RESPONSE` in a task of its own, so that `accept` does not wait for the client.
fn reject_full(mut stream: TcpStream) {
    tokio::spawn(async move {
        let _ = timeout(Duration::from_secs(1), stream.write_all(SERVER_FULL_RESPONSE)).await;
        let _ = timeout(Duration::from_secs(1), stream.shutdown()).await;
    });
}

#[cfg(test)]
mod tests {
    use super::{SERVER_FULL_RESPONSE, TLS_REQUIRED_RESPONSE};

    #[test]
    fn answers_without_a_request_are_as_long_as_they_say() {
        for answer in [SERVER_FULL_RESPONSE, TLS_REQUIRED_RESPONSE] {
            let text = std::str::from_utf8(answer).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(
                head.contains(&format!("content-length: {}\r\n", body.len())),
                "{}",
                body.len()
            );
            serde_json::from_str::<serde_json::Value>(body).unwrap();
        }
    }
}
