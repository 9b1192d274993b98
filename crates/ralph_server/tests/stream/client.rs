//! A client that believes nothing it is told without checking.

use std::collections::BTreeMap;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

type Socket = WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>;

/// What a client has of a run.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) seq: u64,
    pub(crate) epoch: Option<String>,
    pub(crate) texts: BTreeMap<String, String>,
    pub(crate) has_ended: bool,
    /// Bytes on the wire.
    pub(crate) bytes: usize,
    pub(crate) resets: usize,
    pub(crate) lagged: usize,
}

impl Seen {
    /// Takes a message. There may be neither a gap nor a repetition.
    pub(crate) fn take(&mut self, message: &Value) {
        match message["type"].as_str() {
            Some("records") => {
                assert_eq!(
                    message["from"].as_u64(),
                    Some(self.seq + 1),
                    "a gap or a repetition"
                );
                let mut last = self.seq;
                for record in message["records"].as_array().unwrap() {
                    let seq = record["seq"].as_u64().unwrap();
                    assert!(seq > last, "out of order");
                    last = seq;
                    self.take_record(&record["event"]);
                }
                self.seq = message["to"].as_u64().unwrap();
                assert!(last <= self.seq);
            }
            Some("subscribed") => {
                if let Some(epoch) = message["epoch"].as_str() {
                    self.epoch = Some(epoch.to_owned());
                    self.seq = message["after"].as_u64().unwrap();
                }
            }
            Some("reset") => {
                self.resets += 1;
                self.epoch = message["epoch"].as_str().map(ToOwned::to_owned);
                self.seq = message["after"].as_u64().unwrap();
            }
            Some("lagged") => {
                assert_eq!(message["from"].as_u64(), Some(self.seq + 1));
                self.lagged += 1;
                self.seq = message["to"].as_u64().unwrap();
            }
            _ => {}
        }
    }

    fn take_record(&mut self, event: &Value) {
        let data = &event["data"];
        let item = || data["item"].as_str().unwrap().to_owned();
        match event["type"].as_str() {
            Some("delta") => {
                let text = data["text"].as_str().unwrap();
                self.texts.entry(item()).or_default().push_str(text);
            }
            Some("text_block") => {
                let text = data["text"].as_str().unwrap();
                self.texts.insert(item(), text.to_owned());
            }
            Some("run_ended") => self.has_ended = true,
            _ => {}
        }
    }
}

/// A connection.
pub(crate) struct Client {
    socket: Socket,
}

impl Client {
    pub(crate) async fn connect(address: std::net::SocketAddr) -> Self {
        let (socket, _) = connect_async(format!("ws://{address}/stream")).await.unwrap();
        let mut client = Self { socket };
        assert_eq!(client.next().await.unwrap().1["type"], "hello");
        client
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        self.socket
            .send(Message::text(message.to_string()))
            .await
            .unwrap();
    }

    pub(crate) async fn watch(&mut self, run: &str, seen: &Seen) {
        let message = json!({"type": "subscribe", "run": run, "after": seen.seq, "epoch": seen.epoch});
        self.say(&message).await;
    }

    /// The next message and its length.
    pub(crate) async fn next(&mut self) -> Option<(usize, Value)> {
        loop {
            match self.socket.next().await?.ok()? {
                Message::Text(text) => return Some((text.len(), serde_json::from_str(&text).unwrap())),
                Message::Close(_) => return None,
                _ => {}
            }
        }
    }

    /// Takes messages until the run has ended or `most` were taken.
    pub(crate) async fn take(&mut self, seen: &mut Seen, most: usize) {
        for _ in 0..most {
            if seen.has_ended {
                return;
            }
            let Some((length, message)) = self.next().await else {
                return;
            };
            seen.bytes += length;
            seen.take(&message);
        }
    }
}
