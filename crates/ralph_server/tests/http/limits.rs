//! Clients that send too much, too slowly, or come in crowds.

use std::time::Duration;

use futures_util::StreamExt as _;
use ralph_server::http::ServeOptions;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::client::send_raw;
use crate::stage::Stage;

async fn read_all(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = timeout(Duration::from_secs(20), stream.read_to_end(&mut answer))
        .await
        .unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let stage = Stage::new().await;
    let head = |more: &str| {
        format!(
            "POST /api/v1/runs HTTP/1.1\r\nhost: {}\r\nauthorization: {}\r\ncontent-type: application/json\r\n\
             connection: close\r\n{more}\r\n\r\n",
            stage.address,
            stage.bearer()
        )
    };
    let answer = send_raw(stage.address, head("content-length: 99999999999").as_bytes()).await;
    assert_eq!(answer.problem(), (413, "too_large".into()));
    // One that does not say how large it is, neither.
    let mut chunked = head("transfer-encoding: chunked").into_bytes();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    for _ in 0..20 {
        chunked.extend_from_slice(chunk.as_bytes());
    }
    let answer = send_raw(stage.address, &chunked).await;
    assert_eq!(answer.problem(), (413, "too_large".into()));
    let keyed = head("content-length: 99999999999\r\nidempotency-key: k");
    assert_eq!(send_raw(stage.address, keyed.as_bytes()).await.problem().0, 413);
}

#[tokio::test]
async fn heads_are_bounded() {
    let stage = Stage::new().await;
    let long = "x".repeat(400_000);
    let answer = stage.ask("GET", "/health", &[("x-long", &long)], "").await;
    assert_eq!(answer.status, 431);
    // As strictly as it is said, whatever a single read brings.
    for (length, status) in [(65_000, 200), (65_536, 431), (70_000, 431), (100_000, 431)] {
        let long = "x".repeat(length);
        let answer = stage.ask("GET", "/health", &[("x-long", &long)], "").await;
        assert_eq!(answer.status, status, "{length}");
        let halves = [("x-long", &long[..length / 2]), ("x-long", &long[length / 2..])];
        assert_eq!(
            stage.ask("GET", "/health", &halves, "").await.status,
            status,
            "{length}"
        );
    }
    let many: Vec<_> = std::iter::repeat_n(("x-many", "1"), 200).collect();
    assert_eq!(stage.ask("GET", "/health", &many, "").await.status, 431);
    let address = format!("/api/v1/search?q={long}");
    assert!([400, 414, 431].contains(&stage.get(&address).await.status));
}

#[tokio::test]
async fn who_takes_too_long_to_ask_is_sent_away_and_disturbs_nobody() {
    let options = ServeOptions {
        header_timeout: Duration::from_millis(200),
        ..ServeOptions::default()
    };
    let stage = Stage::with(options).await;
    let mut slow = TcpStream::connect(stage.address).await.unwrap();
    slow.write_all(b"GET /health HTTP/1.1\r\nhost: ").await.unwrap();
    let mut silent = TcpStream::connect(stage.address).await.unwrap();
    assert_eq!(stage.get("/health").await.status, 200);
    assert!(!read_all(&mut slow).await.contains("200 OK"));
    assert_eq!(read_all(&mut silent).await, "");
}

#[tokio::test]
async fn one_connection_too_many_is_told_so() {
    let options = ServeOptions {
        max_connections: 2,
        ..ServeOptions::default()
    };
    let stage = Stage::with(options).await;
    let request = format!("GET /health HTTP/1.1\r\nhost: {}\r\n\r\n", stage.address);
    let mut kept = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(stage.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        kept.push(stream);
    }
    let mut third = TcpStream::connect(stage.address).await.unwrap();
    let answer = read_all(&mut third).await;
    assert!(
        answer.starts_with("HTTP/1.1 503") && answer.contains("too_many_clients"),
        "{answer}"
    );
    drop(kept);
    // The place of one that leaves is free as soon as that is noticed.
    let free = async {
        loop {
            let mut stream = TcpStream::connect(stage.address).await.unwrap();
            let close = request.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all(close.as_bytes()).await;
            if read_all(&mut stream).await.starts_with("HTTP/1.1 200") {
                break;
            }
        }
    };
    timeout(Duration::from_secs(10), free).await.unwrap();
}

/// Somebody who watches, once the server has said hello.
async fn watch(stage: &Stage) -> WebSocketStream<MaybeTlsStream<TcpStream>> {
    let address = format!("ws://{}/api/v1/stream", stage.address);
    let mut request = address.into_client_request().unwrap();
    let bearer = stage.bearer().parse().unwrap();
    request.headers_mut().insert("authorization", bearer);
    let (mut socket, _) = connect_async(request).await.unwrap();
    let hello = timeout(Duration::from_secs(10), socket.next()).await.unwrap();
    assert!(hello.unwrap().unwrap().to_text().unwrap().contains("hello"));
    socket
}

#[tokio::test]
async fn those_who_watch_have_places_too() {
    let options = ServeOptions {
        max_connections: 2,
        ..ServeOptions::default()
    };
    let stage = Stage::with(options).await;
    let kept = (watch(&stage).await, watch(&stage).await);
    let mut third = TcpStream::connect(stage.address).await.unwrap();
    let answer = read_all(&mut third).await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    drop(kept);
    let request = stage.request("GET", "/health", &[], "");
    let free = async {
        loop {
            let mut stream = TcpStream::connect(stage.address).await.unwrap();
            let _ = stream.write_all(&request).await;
            if read_all(&mut stream).await.starts_with("HTTP/1.1 200") {
                break;
            }
        }
    };
    timeout(Duration::from_secs(10), free).await.unwrap();
}

#[tokio::test]
async fn the_end_waits_until_those_who_watch_have_been_told() {
    let mut stage = Stage::new().await;
    let mut socket = watch(&stage).await;
    stage.stop();
    let early = timeout(Duration::from_millis(300), &mut stage.serving).await;
    assert!(early.is_err(), "somebody still watches");
    stage.end_streams();
    timeout(Duration::from_secs(5), &mut stage.serving)
        .await
        .unwrap()
        .unwrap();
    let told = timeout(Duration::from_secs(5), socket.next()).await.unwrap();
    assert!(matches!(told, Some(Ok(Message::Close(Some(_))))), "{told:?}");
}

#[tokio::test]
async fn the_end_waits_for_answers_and_not_for_those_who_ask_nothing() {
    let mut stage = Stage::new().await;
    let mut idle = TcpStream::connect(stage.address).await.unwrap();
    let request = format!("GET /health HTTP/1.1\r\nhost: {}\r\n\r\n", stage.address);
    idle.write_all(request.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).await.unwrap();
    stage.stop();
    timeout(Duration::from_secs(5), &mut stage.serving)
        .await
        .unwrap()
        .unwrap();
    assert!(TcpStream::connect(stage.address).await.is_err());
}

#[tokio::test]
async fn the_end_comes_even_if_somebody_does_not_finish() {
    let options = ServeOptions {
        shutdown_timeout: Duration::from_millis(200),
        ..ServeOptions::default()
    };
    let mut stage = Stage::with(options).await;
    let mut half = TcpStream::connect(stage.address).await.unwrap();
    let request = format!(
        "POST /api/v1/runs HTTP/1.1\r\nhost: {}\r\nauthorization: {}\r\ncontent-type: application/json\r\n\
         content-length: 100\r\nexpect: 100-continue\r\n\r\n",
        stage.address,
        stage.bearer()
    );
    half.write_all(request.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    // It is being read now.
    half.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 100");
    stage.stop();
    timeout(Duration::from_secs(5), &mut stage.serving)
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn strangers_who_hold_connections_do_not_lock_the_owner_out() {
    let options = ServeOptions {
        max_connections: 64,
        max_strangers: 32,
        ..ServeOptions::default()
    };
    let stage = Stage::with(options).await;
    let mut owner = TcpStream::connect(stage.address).await.unwrap();
    let request = format!(
        "GET /api/v1/runs HTTP/1.1\r\nhost: {}\r\nauthorization: {}\r\n\r\n",
        stage.address,
        stage.bearer()
    );
    let mut answer = [0; 12];
    owner.write_all(request.as_bytes()).await.unwrap();
    owner.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    // Some say nothing, some half of a request, some ask for what is public and stay.
    let mut held = Vec::new();
    for number in 0..300 {
        let mut stream = TcpStream::connect(stage.address).await.unwrap();
        let said = [
            "",
            "GET /api/v1/runs HTTP/1.1\r\n",
            "GET /health HTTP/1.1\r\nhost: x\r\n\r\n",
        ];
        let _ = stream.write_all(said[number % 3].as_bytes()).await;
        held.push(stream);
        if number % 50 == 0 {
            let asked = timeout(Duration::from_secs(1), stage.get("/api/v1/runs")).await;
            assert_eq!(asked.unwrap().status, 200, "after {number}");
        }
    }
    let asked = timeout(Duration::from_secs(1), stage.get("/api/v1/runs")).await;
    assert_eq!(asked.unwrap().status, 200);
    // The connection of the owner was never closed.
    let mut rest = [0; 4096];
    let _ = owner.read(&mut rest).await.unwrap();
    owner.write_all(request.as_bytes()).await.unwrap();
    assert!(owner.read(&mut rest).await.unwrap() > 0);
}
