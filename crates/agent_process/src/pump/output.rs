//! What `Pump` does with the child's output: logs it, delivers it, and reads the rest at the end.

use std::io;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::{MAX_LAST_READ_BYTES, MAX_READ_BYTES, Pump, after, next_read_bytes};
use crate::streams::{OutputRead, OutputSource, ReadFirst, read_next};

impl Pump {
    /// The other stream is read first next time.
    pub(super) fn on_read(&mut self, read: OutputRead) {
        match read {
            OutputRead::Stdout(read) => {
                self.read_first = ReadFirst::Stderr;
                self.on_stdout(read);
            }
            OutputRead::Stderr(read) => {
                self.read_first = ReadFirst::Stdout;
                self.on_stderr(read);
            }
        }
    }

    pub(super) fn on_stderr(&mut self, read: io::Result<Bytes>) {
        match read {
            Ok(bytes) if !bytes.is_empty() => {
                self.tail.push(&bytes);
                self.stderr_log.write(&bytes);
                if let Some(feed) = &mut self.stderr_feed {
                    feed.pass(bytes);
                }
            }
            Ok(_) | Err(_) => {
                self.stderr = None;
                self.stderr_feed = None;
                self.on_stream_end();
            }
        }
    }

    pub(super) fn on_stdout(&mut self, read: io::Result<usize>) {
        match read {
            Ok(0) => self.end_stdout(),
            Ok(read) => {
                self.read_bytes = next_read_bytes(self.read_bytes, read);
                let chunk = self.buffer.split().freeze();
                self.state.stdout_bytes += chunk.len() as u64;
                // Before the chunk is delivered: the log must have it even if the consumer fails on it.
                self.raw_log.write(&chunk);
                self.deliver(Ok(chunk));
            }
            Err(error) => {
                self.deliver(Err(error));
                self.end_stdout();
            }
        }
    }

    /// Sends a chunk to the consumer, after those that are pending.
    pub(super) fn deliver(&mut self, chunk: io::Result<Bytes>) {
        match self.pending.is_empty() {
            _ if self.consumer_gone => {}
            true => self.deliver_now(chunk),
            false => self.pending.push_back(chunk),
        }
    }

    pub(super) fn deliver_now(&mut self, chunk: io::Result<Bytes>) {
        match self.chunks.try_send(chunk) {
            Ok(()) => {}
            Err(mpsc::error::TrySendError::Full(chunk)) => self.pending.push_front(chunk),
            Err(mpsc::error::TrySendError::Closed(_)) => self.on_consumer_gone(),
        }
    }

    pub(super) fn end_stdout(&mut self) {
        if let Some(OutputSource::Spool { follower, .. }) = &self.stdout {
            self.state.log_truncated = follower.was_truncated();
            // A spool without a consumer is not read to its end.
            self.state.stdout_bytes = self.state.stdout_bytes.max(follower.length_bytes());
        }
        self.stdout = None;
        self.on_stream_end();
    }

    /// Before the child's exit, the end of stdout starts the deadline for exiting. After it, the drain may be over.
    pub(super) fn on_stream_end(&mut self) {
        if self.state.status.is_some() {
            if self.is_drained() {
                self.deadlines.drained = None;
                self.kill_descendants();
            }
        } else if self.stdout.is_none() && self.state.step.is_none() {
            self.deadlines.end_of_output = after(self.limits.exit_after_end_of_output);
        }
    }

    /// Empties the pipes without waiting, then closes them.
    pub(super) fn read_remaining(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        let mut read_bytes = 0;
        while read_bytes < MAX_LAST_READ_BYTES {
            self.buffer.reserve(MAX_READ_BYTES);
            let stdout = self
                .stdout
                .as_mut()
                .filter(|source| matches!(source, OutputSource::Stream(_)));
            let read = read_next(stdout, &mut self.buffer, self.stderr.as_mut(), self.read_first);
            // Without tokio's budget for a task, which would end the loop early.
            let Poll::Ready(read) = pin!(tokio::task::unconstrained(read)).poll(&mut context) else {
                break;
            };
            read_bytes += match &read {
                OutputRead::Stdout(Ok(bytes)) => *bytes,
                OutputRead::Stderr(Ok(bytes)) => bytes.len(),
                OutputRead::Stdout(Err(_)) | OutputRead::Stderr(Err(_)) => 0,
            };
            self.on_read(read);
        }
        self.stderr = None;
        if matches!(self.stdout, Some(OutputSource::Stream(_))) {
            self.end_stdout();
        }
    }
}
