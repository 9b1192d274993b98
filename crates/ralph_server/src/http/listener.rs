//! `serve`: accepts connections, limits how long and how many, and ends them in good order.

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
use super::write_timeout::WriteTimeout;
use crate::stream::MAX_STALL;
use crate::tls::Tls;

/// How long nobody is let in when the system has no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\n\
    content-length: 146\r\nretry-after: 5\r\nconnection: close\r\n\r\n\
    {\"type\":\"urn:ralph:problem:too_many_clients\",\"title\":\"Service Unavailable\",\"status\":503,\
    \"code\":\"too_many_clients\",\"detail\":\"too many connections\"}";

/// The answer to plain HTTP on a port that speaks TLS.
const SPEAK_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json\r\n\
    content-length: 155\r\nconnection: close\r\n\r\n\
    {\"type\":\"urn:ralph:problem:tls_required\",\"title\":\"Bad Request\",\"status\":400,\
    \"code\":\"tls_required\",\"detail\":\"this port speaks TLS: use an https:// address\"}";

/// The first byte of every TLS connection: the record of a handshake.
const TLS_HANDSHAKE: u8 = 0x16;

/// What clients may take.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// How many connections there may be.
    pub max_connections: usize,
    /// How many of them may have shown neither a token nor a session yet. The oldest makes room for a new one.
    pub max_strangers: usize,
    /// How long a client may take to say what it wants, and stay without wanting anything.
    pub header_timeout: Duration,
    /// How long answers may take when the server ends.
    pub shutdown_timeout: Duration,
    /// The certificate, if the server speaks TLS. A handshake is part of what a client says within `header_timeout`.
    pub tls: Option<Arc<Tls>>,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            max_connections: 1024,
            max_strangers: 256,
            header_timeout: Duration::from_secs(20),
            shutdown_timeout: Duration::from_secs(10),
            tls: None,
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
                    connections.spawn(converse(
                        client,
                        router.clone(),
                        is_ending.clone(),
                        options.clone(),
                    ));
                }
                None if options.tls.is_some() => drop(stream),
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
    let client = Client {
        peer,
        permit: permit.clone(),
        process,
    };
    let Some(tls) = &options.tls else {
        let stream = WriteTimeout::new(stream, MAX_STALL);
        return answer(stream, client, router, ending, &options).await;
    };
    // Until the handshake is done, nobody has said anything: the end of the server does not wait for it.
    let shaken = tokio::select! {
        shaken = timeout(options.header_timeout, shake_hands(stream, tls)) => shaken,
        () = permit.evicted() => return,
        _ = ending.wait_for(|is_ending| *is_ending) => return,
    };
    match shaken {
        Ok(Ok(Some(stream))) => answer(stream, client, router, ending, &options).await,
        Ok(Ok(None)) => {}
        Ok(Err(error)) => tracing::debug!(%error, %peer, "a TLS handshake failed"),
        Err(_) => tracing::debug!(%peer, "a TLS handshake took too long"),
    }
}

/// Begins TLS. None if the client speaks something else, which it was told.
async fn shake_hands(
    mut stream: TcpStream,
    tls: &Tls,
) -> io::Result<Option<TlsStream<WriteTimeout<TcpStream>>>> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 0 {
        return Ok(None);
    }
    if first != [TLS_HANDSHAKE] {
        stream.write_all(SPEAK_TLS).await?;
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

/// Who is at the other end.
struct Client {
    peer: SocketAddr,
    permit: ConnectionPermit,
    process: Option<ClientProcess>,
}

/// Answers requests, until the client leaves or the server ends.
async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    client: Client,
    router: Router,
    mut ending: watch::Receiver<bool>,
    options: &ServeOptions,
) {
    let Client {
        peer,
        permit,
        process,
    } = client;
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
        .serve_connection(TokioIo::new(stream), service)
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
    use super::{FULL, SPEAK_TLS};

    #[test]
    fn answers_without_a_request_are_as_long_as_they_say() {
        for answer in [FULL, SPEAK_TLS] {
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
