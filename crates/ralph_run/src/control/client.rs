//! `ControlClient`: connects to a run's control socket and sends commands. Used by commands and the server.

use std::collections::hash_map::RandomState;
use std::future::Future;
use std::hash::BuildHasher as _;
use std::io;
use std::path::Path;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use json_lines::{Framed, LineFramer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::command::{ControlCommand, ControlRequest};
use super::error::ControlError;
use super::protocol::{Greeting, MAX_LINE_BYTES, OLDEST_PROTOCOL, PROTOCOL, Receipt, Response, line_of};

/// A runner answers from the loop that does everything else, which never takes this long.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct ControlClient {
    stream: UnixStream,
    framer: LineFramer,
    greeting: Greeting,
    protocol: u32,
    limit: Duration,
    by: Option<String>,
}

impl ControlClient {
    /// Connects to the runner that listens on `path`.
    pub async fn connect(path: impl AsRef<Path>) -> Result<Self, ControlError> {
        Self::connect_within(path, ANSWER_TIMEOUT).await
    }

    /// As [`Self::connect`], with another limit for how long each answer may take.
    pub async fn connect_within(path: impl AsRef<Path>, limit: Duration) -> Result<Self, ControlError> {
        let path = path.as_ref();
        let greet = async {
            let mut stream = UnixStream::connect(path)
                .await
                .map_err(|error| match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => ControlError::NotRunning {
                        path: path.to_owned(),
                    },
                    _ => broken(error),
                })?;
            let mut framer = LineFramer::new(MAX_LINE_BYTES);
            let line = read_line(&mut stream, &mut framer).await?;
            Ok((stream, framer, line))
        };
        let (stream, framer, line) = within(limit, greet).await?;
        let not_a_runner = || ControlError::NotARunner {
            path: path.to_owned(),
        };
        let greeting: Greeting = match serde_json::from_slice(&line) {
            Ok(greeting) => greeting,
            // Turned away at the door.
            Err(_) => {
                let response: Response = serde_json::from_slice(&line).map_err(|_| not_a_runner())?;
                return Err(response
                    .into_result()
                    .err()
                    .map_or_else(not_a_runner, ControlError::Refused));
            }
        };
        let protocol = greeting.agree(OLDEST_PROTOCOL, PROTOCOL)?;
        Ok(Self {
            stream,
            framer,
            greeting,
            protocol,
            limit,
            by: None,
        })
    }

    /// Says from now on who asks, for people: at most 128 bytes.
    #[must_use]
    pub fn named(mut self, by: impl Into<String>) -> Self {
        self.by = Some(by.into());
        self
    }

    pub fn greeting(&self) -> &Greeting {
        &self.greeting
    }

    /// The version of the protocol that both sides speak.
    pub fn protocol(&self) -> u32 {
        self.protocol
    }

    /// Resolves when the runner has closed the connection, as it does at the end of the run.
    pub async fn closed(&mut self) {
        // Whatever it still says is not for us.
        while read_line(&mut self.stream, &mut self.framer).await.is_ok() {}
    }

    /// Asks for something, under a new id.
    pub async fn request(&mut self, command: ControlCommand) -> Result<Receipt, ControlError> {
        self.request_as(command_id(), command).await
    }

    /// Asks for something under an id of the caller's, so that it can be asked for again, on another connection too,
    /// and still happens once.
    pub async fn request_as(&mut self, id: String, command: ControlCommand) -> Result<Receipt, ControlError> {
        let line = line_of(&ControlRequest {
            id: id.clone(),
            by: self.by.clone(),
            command,
        });
        // The newline does not count.
        let length = line.len() - 1;
        if length > MAX_LINE_BYTES {
            let limit = MAX_LINE_BYTES;
            return Err(ControlError::TooLong { length, limit });
        }
        let Self { stream, framer, .. } = self;
        let answer = async {
            stream.write_all(&line).await.map_err(broken)?;
            loop {
                let line = read_line(stream, framer).await?;
                // What a newer runner may say beside answers is not for us.
                let Ok(response) = serde_json::from_slice::<Response>(&line) else {
                    continue;
                };
                // Only one request is open, so a refusal without an id answers it.
                if response.id.as_ref().is_none_or(|named| *named == id) {
                    return Ok(response);
                }
            }
        };
        Ok(within(self.limit, answer).await?.into_result()?)
    }
}

/// An id that no other command has.
pub fn command_id() -> String {
    // The keys of the standard library's hashes are random: 128 bits of them make an id.
    let random = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", random(), random())
}

async fn read_line(stream: &mut UnixStream, framer: &mut LineFramer) -> Result<Bytes, ControlError> {
    let mut buffer = BytesMut::with_capacity(4096);
    loop {
        match framer.next_line() {
            Some(Framed::Line(line)) => return Ok(line.bytes),
            // No line of a runner is that long.
            Some(Framed::Overlong { .. }) => {}
            None => {
                buffer.reserve(4096);
                if stream.read_buf(&mut buffer).await.map_err(broken)? == 0 {
                    return Err(ControlError::Closed);
                }
                framer.push(buffer.split().freeze());
            }
        }
    }
}

/// A runner that is gone looks different when something was on its way.
fn broken(error: io::Error) -> ControlError {
    match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => ControlError::Closed,
        _ => ControlError::Io(error),
    }
}

async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, ControlError>>,
) -> Result<T, ControlError> {
    timeout(limit, answer)
        .await
        .unwrap_or(Err(ControlError::Silent { limit }))
}
