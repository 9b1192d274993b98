//! Clients that cost little: they look at the bytes of a message and parse none.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use memchr::memmem;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::agent::now;
use super::journal::each_tick;
use super::server::Server;
use crate::process::explain;

/// Where a server is, and what opens it.
#[derive(Clone)]
pub struct Door {
    address: SocketAddr,
    token: String,
}

impl Door {
    pub fn of(server: &Server) -> Self {
        Self {
            address: server.address,
            token: server.token.clone(),
        }
    }
}

pub struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub async fn open(door: &Door) -> Result<Self, String> {
        let mut request = format!("ws://{}/api/v1/stream", door.address)
            .into_client_request()
            .map_err(explain)?;
        let bearer = HeaderValue::from_str(&format!("Bearer {}", door.token)).map_err(explain)?;
        request.headers_mut().insert("authorization", bearer);
        Ok(Self(connect_async(request).await.map_err(explain)?.0))
    }

    pub async fn say(&mut self, message: &Value) -> Result<(), String> {
        self.0
            .send(Message::text(message.to_string()))
            .await
            .map_err(explain)
    }

    /// From a record of a journal on.
    pub async fn watch(&mut self, run: &str, after: u64, epoch: Option<&str>) -> Result<(), String> {
        self.say(&json!({"type": "subscribe", "run": run, "after": after, "epoch": epoch}))
            .await
    }

    pub async fn watch_list(&mut self) -> Result<(), String> {
        self.say(&json!({"type": "subscribe", "feed": "runs"})).await
    }

    /// None when the server has closed.
    pub async fn next(&mut self) -> Result<Option<Utf8Bytes>, String> {
        loop {
            match self.0.next().await.transpose().map_err(explain)? {
                Some(Message::Text(text)) => return Ok(Some(text)),
                Some(Message::Close(_)) | None => return Ok(None),
                Some(_) => {}
            }
        }
    }
}

/// What a client has of a run.
#[derive(Debug, Default)]
pub struct Seen {
    pub seq: u64,
    pub ticks: u64,
    pub gaps: u64,
    pub repeated: u64,
    pub lagged: u64,
    pub bytes: usize,
    pub has_ended: bool,
    last_tick: u64,
}

/// What a client has.
#[derive(Debug, Default)]
pub struct Report {
    pub runs: HashMap<String, Seen>,
    /// How old each text was, in milliseconds.
    pub ages: Vec<f64>,
    pub messages: u64,
    pub bytes: usize,
    /// The server let it go, or it could not go on.
    pub problem: Option<String>,
}

/// Watches runs from their start to their end, or until it is too late.
pub async fn watch(door: Door, runs: Vec<String>, has_list: bool, most: Duration) -> Report {
    let mut report = Report::default();
    report
        .runs
        .extend(runs.iter().map(|run| (run.clone(), Seen::default())));
    let until = Instant::now() + most;
    report.problem = match timeout_at(until, report.follow(&door, &runs, has_list)).await {
        Ok(followed) => followed.err(),
        Err(_) => Some("it was not told all within its time".to_owned()),
    };
    report
}

impl Report {
    async fn follow(&mut self, door: &Door, runs: &[String], has_list: bool) -> Result<(), String> {
        let mut socket = Socket::open(door).await?;
        for run in runs {
            socket.watch(run, 0, None).await?;
        }
        if has_list {
            socket.watch_list().await?;
        }
        let mut open = runs.len();
        while open > 0 {
            let text = socket.next().await?.ok_or("the server has closed")?;
            if text.starts_with(r#"{"type":"error""#) {
                return Err(text.as_str().to_owned());
            }
            open -= usize::from(self.take(text.as_bytes(), now()));
        }
        Ok(())
    }

    /// Says whether a run has ended with it.
    fn take(&mut self, message: &[u8], arrived: u64) -> bool {
        self.messages += 1;
        self.bytes += on_the_wire(message);
        let Some(run) = value_of(message, br#""run":""#).and_then(|text| self.runs.get_mut(text)) else {
            return false;
        };
        let is_lagged = message.starts_with(br#"{"type":"lagged""#);
        if !is_lagged && !message.starts_with(br#"{"type":"records""#) {
            return false;
        }
        let (Some(from), Some(to)) = (number_of(message, br#""from":"#), number_of(message, br#""to":"#))
        else {
            return false;
        };
        run.bytes += on_the_wire(message);
        run.gaps += from.saturating_sub(run.seq + 1);
        run.repeated += (run.seq + 1).saturating_sub(from);
        run.lagged += u64::from(is_lagged);
        run.seq = to;
        each_tick(message, |tick| {
            // A block repeats the texts of its pieces.
            if tick > run.last_tick {
                run.last_tick = tick;
                run.ticks += 1;
                self.ages.push(arrived.saturating_sub(tick) as f64 / 1e6);
            }
        });
        let ends = !run.has_ended && memmem::rfind(message, br#""type":"run_ended""#).is_some();
        run.has_ended |= ends;
        ends
    }
}

/// The length of a message with its frame's head, as a server sends it.
fn on_the_wire(message: &[u8]) -> usize {
    message.len()
        + match message.len() {
            0..126 => 2,
            126..65_536 => 4,
            _ => 10,
        }
}

/// The head of a message is short.
fn head(message: &[u8]) -> &[u8] {
    &message[..message.len().min(256)]
}

fn value_of<'a>(message: &'a [u8], name: &[u8]) -> Option<&'a str> {
    let start = memmem::find(head(message), name)? + name.len();
    let length = memchr::memchr(b'"', &message[start..])?;
    std::str::from_utf8(&message[start..start + length]).ok()
}

fn number_of(message: &[u8], name: &[u8]) -> Option<u64> {
    let start = memmem::find(head(message), name)? + name.len();
    let digits = message[start..].iter().take_while(|byte| byte.is_ascii_digit());
    Some(digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}
