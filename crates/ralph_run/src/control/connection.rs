//! `serve`: one client of the control socket. `ControlServer` starts one for each connection.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use json_lines::{Framed, LineFramer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::timeout;

use super::command::ControlRequest;
use super::protocol::{Greeting, MAX_LINE_BYTES, Response, line_of};
use super::receipts::{Begun, Outgoing, Receipts, Waiter};
use super::refusal::{Refusal, RefusalCode};
use super::server::{Incoming, Reply};

/// How many answers of one client can wait to be read; then nothing more of it is read either.
const MAX_UNREAD: usize = 32;

/// A client that reads nothing for this long is dropped.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

const CHUNK_BYTES: usize = 16 * 1024;

/// What all connections of a run have in common.
#[derive(Debug, Clone)]
pub(super) struct Hub {
    pub(super) incoming: mpsc::Sender<Incoming>,
    pub(super) receipts: Arc<Mutex<Receipts>>,
    /// Its sender is the server: when that is gone, so is the run.
    pub(super) greeting: watch::Receiver<Greeting>,
}

impl Hub {
    /// Resolves when the server is gone.
    pub(super) async fn closed(&mut self) {
        while self.greeting.changed().await.is_ok() {}
    }
}

/// Serves one client until it or the run is gone and all is answered. An agent may not speak in its user's name.
pub(super) async fn serve(stream: UnixStream, hub: Hub, is_agent: bool) {
    let (read, write) = stream.into_split();
    let (outbox, queue) = mpsc::unbounded_channel();
    let greeting = line_of(&*hub.greeting.borrow());
    let client = Client {
        hub,
        outbox,
        room: Arc::new(Semaphore::new(MAX_UNREAD)),
        framer: LineFramer::new(MAX_LINE_BYTES),
        is_agent,
    };
    let writer = write_lines(write, greeting, queue);
    tokio::pin!(writer);
    tokio::select! {
        () = &mut writer => return,
        () = client.read_requests(read) => {}
    }
    // The client has said all that it will: what it asked for is still answered. The queue ends with the last answer.
    writer.await;
}

/// Refuses a client because there are too many.
pub(super) fn turn_away(stream: UnixStream) {
    let what = "too many clients are connected to this run: close one";
    let refusal = Refusal::new(RefusalCode::TooManyClients, what);
    let line = line_of(&Response::new(None, Err(refusal)));
    // A new connection has room for one line. Whether it listens is its own affair.
    let _ = stream.into_std().and_then(|mut stream| stream.write_all(&line));
}

async fn write_lines(
    mut write: OwnedWriteHalf,
    greeting: Bytes,
    mut queue: mpsc::UnboundedReceiver<Outgoing>,
) {
    if !write_line(&mut write, &greeting).await {
        return;
    }
    while let Some((line, _room)) = queue.recv().await {
        if !write_line(&mut write, &line).await {
            return;
        }
    }
}

async fn write_line(write: &mut OwnedWriteHalf, line: &[u8]) -> bool {
    match timeout(WRITE_TIMEOUT, write.write_all(line)).await {
        Ok(Ok(())) => true,
        Ok(Err(_)) => false,
        Err(_) => {
            tracing::debug!("a client of the control socket reads nothing and is dropped");
            false
        }
    }
}

struct Client {
    hub: Hub,
    outbox: mpsc::UnboundedSender<Outgoing>,
    room: Arc<Semaphore>,
    framer: LineFramer,
    is_agent: bool,
}

impl Client {
    async fn read_requests(mut self, mut read: OwnedReadHalf) {
        let mut buffer = BytesMut::new();
        let mut run = self.hub.clone();
        loop {
            buffer.reserve(CHUNK_BYTES);
            let received = tokio::select! {
                received = read.read_buf(&mut buffer) => received,
                () = run.closed() => break,
            };
            if !matches!(received, Ok(1..)) {
                // A line without its end may be half a command, and is not done.
                return;
            }
            self.take(buffer.split().freeze()).await;
        }
        // The run is over. What has arrived by now is still answered, with that.
        while matches!(read.try_read_buf(&mut buffer), Ok(1..)) {
            self.take(buffer.split().freeze()).await;
            buffer.reserve(CHUNK_BYTES);
        }
    }

    async fn take(&mut self, chunk: Bytes) {
        self.framer.push(chunk);
        while let Some(framed) = self.framer.next_line() {
            // Waits while the client does not read its answers.
            let Ok(room) = self.room.clone().acquire_owned().await else {
                return;
            };
            match framed {
                Framed::Line(line) => self.handle(&line.bytes, room).await,
                Framed::Overlong { length_bytes, .. } => {
                    let what = format!("a line of {length_bytes} bytes: at most {MAX_LINE_BYTES} are read");
                    self.refuse(None, Refusal::new(RefusalCode::TooLong, what), room);
                }
            }
        }
    }

    async fn handle(&self, line: &[u8], room: OwnedSemaphorePermit) {
        let request = match ControlRequest::parse(line) {
            Ok(request) => request,
            Err((id, refusal)) => return self.refuse(id, refusal, room),
        };
        if self.is_agent && !request.command.is_open_to_agents() {
            let what = "an agent cannot answer, instruct or permit itself: this is for the user of the run";
            return self.refuse(Some(request.id), Refusal::new(RefusalCode::Forbidden, what), room);
        }
        let outbox = self.outbox.clone();
        let waiter = Waiter { outbox, room };
        let reply = if request.command.is_query() {
            Reply::once(request.id.clone(), self.hub.receipts.clone(), waiter)
        } else {
            let begun = lock(&self.hub.receipts).begin(&request, waiter);
            match begun {
                Begun::New => Reply::kept(request.id.clone(), self.hub.receipts.clone()),
                Begun::Waits => return,
                Begun::Answered(waiter, line) => return waiter.send(line),
                Begun::Refused(waiter, refusal) => {
                    return waiter.send(line_of(&Response::new(Some(request.id), Err(refusal))));
                }
            }
        };
        // When the run is over, the reply comes back with the error, and answers that as it is dropped.
        let _ = self
            .hub
            .incoming
            .send(Incoming {
                command_id: request.id,
                by: request.by,
                command: request.command,
                reply,
            })
            .await;
    }

    fn refuse(&self, id: Option<String>, refusal: Refusal, room: OwnedSemaphorePermit) {
        let outbox = self.outbox.clone();
        Waiter { outbox, room }.send(line_of(&Response::new(id, Err(refusal))));
    }
}

/// The receipts. A panic while they were held leaves nothing half done that matters.
pub(super) fn lock(receipts: &Mutex<Receipts>) -> std::sync::MutexGuard<'_, Receipts> {
    receipts.lock().unwrap_or_else(PoisonError::into_inner)
}
