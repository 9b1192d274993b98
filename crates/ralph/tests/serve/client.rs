//! A script that asks the server, and one that watches a run.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(30);

/// Where a server is, and what opens it.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
}

impl Door {
    /// Asks. Gives the status and the answer.
    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let mut stream = self.send(method, path, body);
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    /// Asks for what must be there.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, answer) = self.ask("GET", path, None);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.ask("POST", path, Some(body))
    }

    /// What waits for an answer in a run.
    pub(crate) fn pending(&self, run: &str) -> Vec<Value> {
        let answer = self.get(&format!("/api/v1/approvals?pending=true&run={run}"));
        answer["items"].as_array().unwrap().clone()
    }

    /// The numbers of all records that the index has of a run.
    pub(crate) fn indexed(&self, run: &str) -> Vec<u64> {
        let page = self.get(&format!("/api/v1/runs/{run}/records?after=0&limit=1000"));
        let records = page["items"].as_array().unwrap();
        records
            .iter()
            .map(|record| record["seq"].as_u64().unwrap())
            .collect()
    }

    fn send(&self, method: &str, path: &str, body: Option<&Value>) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let Self { address, token } = self;
        let mut text = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n"
        );
        if let Some(body) = body {
            let body = body.to_string();
            let length = body.len();
            text.push_str(&format!(
                "content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
            ));
        } else {
            text.push_str("\r\n");
        }
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    /// Watches a run from behind a record on.
    pub(crate) fn watch(&self, run: &str, after: u64) -> Watching {
        let stream = self.send("GET", &format!("/api/v1/runs/{run}/events?after={after}"), None);
        Watching {
            lines: BufReader::new(stream),
            seq: after,
            records: Vec::new(),
        }
    }
}

/// Somebody who watches a run, and believes nothing without checking.
pub(crate) struct Watching {
    lines: BufReader<TcpStream>,
    pub(crate) seq: u64,
    /// Everything but pieces of text.
    pub(crate) records: Vec<Value>,
}

impl Watching {
    /// Takes what comes until a record of this kind is there that has this in it.
    pub(crate) fn until(&mut self, kind: &str, part: &str) {
        let is_it = |record: &Value| {
            record["event"]["type"] == kind && record["event"]["data"].to_string().contains(part)
        };
        // The server says now and then that it is there, so that a read alone waits for ever.
        let late = Instant::now() + PATIENCE;
        while !self.records.iter().any(is_it) {
            assert!(Instant::now() < late, "no {kind} with {part}: {:?}", self.records);
            let mut line = String::new();
            let length = self.lines.read_line(&mut line).unwrap();
            assert!(length > 0, "the stream has ended: {:?}", self.records);
            if let Some(data) = line.strip_prefix("data: ") {
                self.take(&serde_json::from_str(data).unwrap());
            }
        }
    }

    fn take(&mut self, message: &Value) {
        assert_eq!(message["type"], "records", "{message}");
        assert_eq!(
            message["from"].as_u64(),
            Some(self.seq + 1),
            "a gap or a repetition"
        );
        self.seq = message["to"].as_u64().unwrap();
        let records = message["records"].as_array().unwrap();
        let whole = records.iter().filter(|record| record["event"]["type"] != "delta");
        self.records.extend(whole.cloned());
    }
}
