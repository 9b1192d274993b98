//! `docs/stream.schema.json`: what the server and its clients say on a WebSocket is valid, and described completely.

use std::collections::BTreeSet;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

use crate::client::Door;
use crate::stage::{Stage, answered, asks, is_done, works};

const PATIENCE: Duration = Duration::from_secs(30);

/// Messages with the definitions that they must fit.
#[derive(Default)]
struct Collected(String);

impl Collected {
    fn add(&mut self, definition: &str, message: &Value) {
        self.0.push_str(&format!(
            "{}\n",
            json!({"definition": definition, "message": message})
        ));
    }

    /// Validates all of them. A field that the schema does not describe is refused.
    #[track_caller]
    fn assert_valid(&self, stage: &Stage, schema: &str) {
        let (schema_file, messages) = (stage.path("schema.json"), stage.path("messages.ndjson"));
        std::fs::write(&schema_file, schema).unwrap();
        std::fs::write(&messages, &self.0).unwrap();
        let mut command = stage.with_cache("scripts/schemathesis/run");
        let output = command
            .arg("validate")
            .arg(schema_file)
            .arg(messages)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
    }
}

struct Socket {
    socket: WebSocket<TcpStream>,
    collected: Collected,
    seen: BTreeSet<String>,
}

impl Socket {
    fn open(door: &Door) -> Self {
        let mut request = format!("ws://{}/api/v1/stream", door.address)
            .into_client_request()
            .unwrap();
        let bearer = format!("Bearer {}", door.token).parse().unwrap();
        request.headers_mut().insert("authorization", bearer);
        let stream = TcpStream::connect(door.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = tungstenite::client(request, stream).unwrap();
        Self {
            socket,
            collected: Collected::default(),
            seen: BTreeSet::new(),
        }
    }

    fn say(&mut self, message: &Value) {
        self.collected.add("FromClient", message);
        self.socket.send(Message::text(message.to_string())).unwrap();
    }

    /// Takes messages until one of them is it.
    #[track_caller]
    fn until(&mut self, is_it: impl Fn(&Value) -> bool) {
        loop {
            let Message::Text(text) = self.socket.read().unwrap() else {
                continue;
            };
            let message: Value = serde_json::from_str(&text).unwrap();
            self.collected.add("ToClient", &message);
            self.seen.insert(message["type"].as_str().unwrap().to_owned());
            if is_it(&message) {
                return;
            }
        }
    }
}

fn has_record(message: &Value, kind: &str) -> bool {
    let mut records = message["records"].as_array().into_iter().flatten();
    records.any(|record| record["event"]["type"] == kind)
}

#[test]
fn every_message_of_a_run_is_valid_in_both_directions() {
    let mut stage = Stage::new();
    let script = works()
        .emit(asks("p", "Bash", &json!({"command": "ls"})))
        .expect_line(answered("p"))
        .then(is_done());
    let workspace = stage.workspace("workspace", &script);
    let server = stage.serve();
    let mut socket = Socket::open(&server.door);
    socket.say(&json!({"type": "subscribe", "feed": "runs", "protocol": 2}));
    socket.say(&json!({"type": "subscribe", "feed": "inbox", "id": "i"}));
    socket.until(|message| message["type"] == "inbox");
    let run = server.start(&workspace, &json!({}));
    socket.say(&json!({"type": "subscribe", "run": run, "after": 0}));
    socket.until(|message| message["approvals"][0]["request"] == "p");
    let answer = json!({"command": "answer", "request": "p", "answer": {"kind": "allow"}});
    socket.say(&json!({"type": "command", "id": "c", "run": run, "command": answer}));
    socket.until(|message| message["type"] == "receipt" && message["receipt"].is_object());
    socket.until(|message| has_record(message, "run_ended"));
    // Refused.
    socket.say(&json!({"type": "command", "id": "d", "run": run, "command": {"command": "interrupt"}}));
    socket.until(|message| message["error"]["code"].is_string());
    socket.say(&json!({"type": "subscribe", "feed": "runs", "protocol": 3, "id": "n"}));
    socket.until(|message| message["type"] == "error" && message["id"] == "n");
    socket.say(&json!({"type": "unsubscribe", "feed": "inbox"}));
    let kinds = [
        "error",
        "hello",
        "inbox",
        "receipt",
        "records",
        "runs",
        "runs_changed",
        "subscribed",
    ];
    assert_eq!(socket.seen.iter().map(String::as_str).collect::<Vec<_>>(), kinds);
    for record in stage.journal(&run) {
        socket.collected.add("RunRecord", &record);
    }
    let schema = server.door.get("/api/v1/stream.schema.json").to_string();
    socket.collected.assert_valid(&stage, &schema);
    // The schema is not one that accepts everything.
    for wrong in [
        json!({"type": "lagged", "run": "r", "from": 1}),
        json!({"type": "lagged", "run": "r", "from": "1", "to": 2}),
        json!({"type": "lagged", "run": "r", "from": 1, "to": 2, "why": "x"}),
        json!({"type": "dance"}),
    ] {
        let mut collected = Collected::default();
        collected.add("ToClient", &wrong);
        let refused = std::panic::catch_unwind(|| collected.assert_valid(&stage, &schema));
        assert!(refused.is_err(), "{wrong}");
    }
}
