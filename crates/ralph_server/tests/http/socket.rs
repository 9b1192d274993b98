//! A WebSocket client of the whole server.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::stage::Stage;

const LONGEST: Duration = Duration::from_secs(20);

/// A connection that was greeted.
pub(crate) struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub(crate) async fn open(stage: &Stage, bearer: &str) -> Self {
        let mut request = format!("ws://{}/api/v1/stream", stage.address)
            .into_client_request()
            .unwrap();
        request
            .headers_mut()
            .insert("authorization", bearer.parse().unwrap());
        let (socket, _) = connect_async(request).await.unwrap();
        let mut socket = Self(socket);
        assert_eq!(socket.next().await["type"], "hello");
        socket
    }

    /// Says something, and takes the answer to it.
    pub(crate) async fn ask(&mut self, message: &Value) -> Value {
        self.0.send(Message::text(message.to_string())).await.unwrap();
        self.next().await
    }

    pub(crate) async fn next(&mut self) -> Value {
        let next = async {
            loop {
                if let Message::Text(text) = self.0.next().await.unwrap().unwrap() {
                    return serde_json::from_str(&text).unwrap();
                }
            }
        };
        timeout(LONGEST, next).await.unwrap()
    }

    /// The next message that is wanted.
    pub(crate) async fn until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next().await;
            if is_wanted(&message) {
                return message;
            }
        }
    }
}
