//! Watching one run, as server-sent events, and for how long.

use std::time::Duration;

use ralph_server::Scope;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::Answer;
use crate::stage::{Stage, ended, wrote};

const LONGEST: Duration = Duration::from_secs(20);

/// The names of events in an answer.
fn ids(answer: &Answer) -> Vec<String> {
    let text = answer.text();
    let ids = text.lines().filter_map(|line| line.strip_prefix("id: "));
    ids.map(str::to_owned).collect()
}

/// A request whose answer has begun.
async fn open(stage: &Stage, path: &str, headers: &[(&str, &str)]) -> TcpStream {
    let mut request = String::from_utf8(stage.request("GET", path, headers, "")).unwrap();
    if headers.iter().any(|(name, _)| *name == "connection") {
        request = request.replacen("connection: close\r\n", "", 1);
    }
    let mut stream = TcpStream::connect(stage.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Reads until these bytes have come.
async fn read_until(stream: &mut TcpStream, wanted: &[u8]) -> Vec<u8> {
    let mut read = Vec::new();
    let reading = async {
        while !read.windows(wanted.len()).any(|window| window == wanted) {
            assert_ne!(stream.read_buf(&mut read).await.unwrap(), 0, "{read:?}");
        }
    };
    let in_time = timeout(LONGEST, reading).await;
    assert!(in_time.is_ok(), "{}", String::from_utf8_lossy(&read));
    read
}

async fn read_to_end(stream: &mut TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    timeout(LONGEST, stream.read_to_end(&mut rest))
        .await
        .unwrap()
        .unwrap();
    rest
}

/// The events of a run from its start, once these bytes have come.
pub(crate) async fn open_events(stage: &Stage, run: &str, wanted: &[u8]) -> TcpStream {
    let path = format!("/api/v1/runs/{run}/events?after=0");
    let mut stream = open(stage, &path, &[("authorization", &stage.bearer())]).await;
    read_until(&mut stream, wanted).await;
    stream
}

/// What comes until the server closes.
pub(crate) async fn rest_of(stream: &mut TcpStream) -> String {
    String::from_utf8(read_to_end(stream).await).unwrap()
}

#[tokio::test]
async fn events_end_with_their_run_and_nobody_has_to_come_back() {
    let stage = Stage::new().await;
    let run = stage.run(&[wrote(1, "hello"), ended()]).await;
    let path = format!("/api/v1/runs/{}/events", run.id());
    let bearer = stage.bearer();
    let ask = async |path: &str, last: &str| {
        let headers = [("authorization", bearer.as_str()), ("last-event-id", last)];
        stage.ask("GET", path, &headers, "").await
    };
    let all = ask(&format!("{path}?after=0"), "").await;
    assert!(all.status == 200 && all.text().contains("run_ended"), "{all:?}");
    let last = ids(&all).pop().unwrap();
    let (epoch, seq) = last.split_once(':').unwrap();
    assert!(!epoch.is_empty() && seq == "3", "{last}");
    assert_eq!(ask(&path, &last).await.status, 204);
    assert_eq!(ask(&path, "3").await.status, 204);
    for earlier in ["1".to_owned(), format!("{epoch}:1")] {
        let rest = ask(&path, &earlier).await.text();
        assert!(rest.contains("hello") && !rest.contains("run_started"), "{rest}");
    }
    // What a client has of another journal means nothing, and it is told so.
    let other = ask(&path, "0123:3").await;
    assert!(other.text().contains(r#""type":"reset""#), "{other:?}");
    assert_eq!(ids(&other), [last]);
}

#[tokio::test]
async fn events_page_through_a_run_of_any_size() {
    let stage = Stage::new().await;
    let text = "long output ".repeat(5_000);
    let mut records: Vec<_> = (1..=100).map(|item| wrote(item, &text)).collect();
    records.push(ended());
    let run = stage.run(&records).await;
    assert!(run.journal().metadata().unwrap().len() > 5 << 20);
    let path = format!("/api/v1/runs/{}/events?after=0", run.id());
    let all = stage.get(&path).await.text();
    assert!(!all.contains(r#""type":"lagged""#) && all.contains("run_ended"));
    let mut next = 1;
    for event in all.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let event: serde_json::Value = serde_json::from_str(event).unwrap();
        assert_eq!(event["from"], next);
        next = event["to"].as_u64().unwrap() + 1;
    }
    assert_eq!(next, 103);
}

#[tokio::test]
async fn events_go_on_until_the_run_ends() {
    let stage = Stage::new().await;
    let run = stage.run(&[wrote(1, "hello")]).await;
    let working = tokio::spawn(stage.app.live.clone().work());
    let path = format!("/api/v1/runs/{}/events?after=0", run.id());
    let mut stream = open(&stage, &path, &[("authorization", &stage.bearer())]).await;
    read_until(&mut stream, b"hello").await;
    stage.append(&run, &[wrote(2, "bye"), ended()]);
    let rest = String::from_utf8(read_to_end(&mut stream).await).unwrap();
    assert!(rest.contains("bye") && rest.contains("run_ended"), "{rest}");
    working.abort();
}

#[tokio::test]
async fn events_that_cannot_be_read_end_with_a_problem() {
    let stage = Stage::new().await;
    let run = stage.run(&[wrote(1, "hello"), ended()]).await;
    std::fs::remove_file(run.journal()).unwrap();
    let answer = stage
        .get(&format!("/api/v1/runs/{}/events?after=1", run.id()))
        .await;
    assert_eq!(answer.json()["code"], "unreadable");
}

/// A stream of a run's events that has begun.
async fn watch(stage: &Stage, run: &str, bearer: &str) -> TcpStream {
    let path = format!(
        "/api/v1/runs/{run}/events?after=0&ticket={}",
        stage.ticket(bearer).await
    );
    let mut stream = open(stage, &path, &[]).await;
    read_until(&mut stream, b"hello").await;
    stream
}

/// A WebSocket that was greeted.
async fn open_socket(stage: &Stage, bearer: &str) -> TcpStream {
    let upgrade = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let path = format!("/api/v1/stream?ticket={}", stage.ticket(bearer).await);
    let mut socket = open(stage, &path, &upgrade).await;
    read_until(&mut socket, b"hello").await;
    socket
}

#[tokio::test]
async fn logging_out_ends_what_the_session_watches_and_nothing_else() {
    let stage = Stage::new().await;
    let run = stage.run(&[wrote(1, "hello")]).await;
    let working = tokio::spawn(stage.app.live.clone().work());
    let log_in = async || format!("Bearer {}", stage.log_in().await);
    let (one, other) = (log_in().await, log_in().await);
    let mut leaving = watch(&stage, run.id(), &one).await;
    let mut staying = watch(&stage, run.id(), &other).await;
    let mut socket = open_socket(&stage, &one).await;
    let out = [("authorization", one.as_str())];
    assert_eq!(stage.ask("POST", "/api/v1/logout", &out, "").await.status, 204);
    let told = String::from_utf8(read_to_end(&mut leaving).await).unwrap();
    assert!(told.contains(r#""code":"session_ended""#), "{told}");
    // 1008, and why.
    read_until(&mut socket, b"\x03\xf0the token or login session has ended").await;
    stage.append(&run, &[wrote(2, "bye")]);
    read_until(&mut staying, b"bye").await;
    working.abort();
}

#[tokio::test]
async fn revoking_or_rotating_a_token_ends_what_it_watches_without_a_request() {
    let stage = Stage::new().await;
    let run = stage.run(&[wrote(1, "hello")]).await;
    let working = tokio::spawn(stage.app.live.clone().work());
    let named = stage.token_named("ci", Scope::Read);
    let mut events = watch(&stage, run.id(), &named).await;
    let mut socket = open_socket(&stage, &stage.bearer()).await;
    stage.tokens().revoke("ci").unwrap();
    let told = String::from_utf8(read_to_end(&mut events).await).unwrap();
    assert!(told.contains(r#""code":"session_ended""#), "{told}");
    ralph_server::rotate_server_token(stage.home.state_directory()).unwrap();
    read_until(&mut socket, b"\x03\xf0the token or login session has ended").await;
    working.abort();
}

#[tokio::test]
async fn commands_over_a_websocket_are_in_the_access_log() {
    let stage = Stage::new().await;
    let (steer, read) = (
        stage.token_named("steer", Scope::Steer),
        stage.token_named("read", Scope::Read),
    );
    for bearer in [&steer, &read] {
        let mut socket = open_socket(&stage, bearer).await;
        let text = r#"{"type":"command","id":"1","run":"nothing","command":{"command":"interrupt"}}"#;
        let mut frame = vec![0x81, 0x80 | u8::try_from(text.len()).unwrap(), 0, 0, 0, 0];
        frame.extend_from_slice(text.as_bytes());
        socket.write_all(&frame).await.unwrap();
        read_until(&mut socket, b"\"error\"").await;
    }
    let path = stage.home.state_directory().join("access.log");
    for wanted in [
        r#""actor":"token steer","method":"WEBSOCKET","path":"/api/v1/runs/nothing/interrupt","status":404"#,
        r#""actor":"token read","method":"WEBSOCKET","path":"/api/v1/runs/nothing/interrupt","status":403"#,
    ] {
        let is_there = || std::fs::read_to_string(&path).is_ok_and(|text| text.contains(wanted));
        while !is_there() {
            tokio::task::yield_now().await;
        }
    }
}
