//! From events to records: stamped, joined, written, shown.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant as Moment;

use agent_api::{Body, Event};
use jiff::Timestamp;
use tokio::time::Instant;

use super::coalesce::Coalescer;
use super::hold_back::HoldBack;
use crate::control::PendingRequests;
use crate::journal::{JournalError, JournalWriter, PendingSync};
use crate::record::{Record, RunBody, RunEvent};
use crate::redact::Redactor;
use crate::sink::Sink;

/// Stamps what happens and keeps it.
pub(super) struct RecordKeeper<'a> {
    journal: JournalWriter,
    redactor: Arc<Redactor>,
    /// Used again for every record.
    line: Vec<u8>,
    sink: &'a mut dyn Sink,
    seq: u64,
    position: (u32, u32),
    hold_back: HoldBack,
    coalescer: Coalescer,
    ready: Vec<Event>,
    pub(super) pending: PendingRequests,
    /// The journal has no room, and more is being lost.
    pub(super) has_failed: bool,
    /// The journal has no room for now.
    pub(super) write_error: Option<String>,
}

impl<'a> RecordKeeper<'a> {
    pub(super) fn new(journal: JournalWriter, redactor: Arc<Redactor>, sink: &'a mut dyn Sink) -> Self {
        Self {
            journal,
            redactor,
            line: Vec::new(),
            sink,
            seq: 0,
            position: (0, 0),
            hold_back: HoldBack::default(),
            coalescer: Coalescer::default(),
            ready: Vec::new(),
            pending: PendingRequests::default(),
            has_failed: false,
            write_error: None,
        }
    }

    pub(super) fn seq(&self) -> u64 {
        self.seq
    }

    pub(super) fn set_position(&mut self, position: (u32, u32)) {
        self.flush_deltas();
        self.position = position;
    }

    /// Takes an event of the agent: shows it, and records it sooner or later.
    pub(super) fn event(&mut self, event: Event) {
        let (other, own) = self.hold_back.push(event, Instant::now());
        for event in [other, own].into_iter().flatten() {
            self.take(event);
        }
    }

    fn take(&mut self, mut event: Event) {
        if let Body::Delta(delta) = &mut event.body
            && let Cow::Owned(redacted) = self.redactor.redact(&delta.text)
        {
            delta.text = redacted;
        }
        self.sink.live(&event);
        self.pending.observe(&event.body);
        let mut ready = std::mem::take(&mut self.ready);
        self.coalescer.push(event, Instant::now(), &mut ready);
        self.write_events(ready);
    }

    /// Takes something that happened in the run.
    pub(super) fn body(&mut self, body: RunBody) {
        self.flush_deltas();
        self.write(RunEvent::Run(body));
    }

    /// When pieces of text have waited long enough.
    pub(super) fn deadline(&self) -> Option<Instant> {
        [self.coalescer.deadline(), self.hold_back.deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Gives out what has waited long enough.
    pub(super) fn on_deadline(&mut self) {
        let now = Instant::now();
        if self.hold_back.deadline().is_some_and(|at| at <= now)
            && let Some(event) = self.hold_back.release()
        {
            self.take(event);
        }
        if self.coalescer.deadline().is_some_and(|at| at <= now) {
            self.flush_coalesced();
        }
    }

    /// Gives out everything that waits.
    pub(super) fn flush_deltas(&mut self) {
        if let Some(event) = self.hold_back.release() {
            self.take(event);
        }
        self.flush_coalesced();
    }

    fn flush_coalesced(&mut self) {
        let mut ready = std::mem::take(&mut self.ready);
        self.coalescer.flush(&mut ready);
        self.write_events(ready);
    }

    fn write_events(&mut self, mut events: Vec<Event>) {
        for event in events.drain(..) {
            self.write(RunEvent::Agent(event));
        }
        self.ready = events;
    }

    fn write(&mut self, event: RunEvent) {
        self.seq += 1;
        let (iteration, attempt) = self.position;
        let record = Record {
            seq: self.seq,
            at: Timestamp::now(),
            iteration,
            attempt,
            event,
        };
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        if let Err(error) = serde_json::to_writer(&mut line, &record) {
            tracing::error!(%error, "a record cannot be written as JSON");
            return;
        }
        let had_secrets = self.redactor.redact_json_line(&mut line);
        let written = self.journal.queue_line(record.seq, &line);
        self.note(written);
        // What is shown is what is written.
        match had_secrets.then(|| serde_json::from_slice(&line)) {
            Some(Ok(redacted)) => self.sink.record(&redacted),
            Some(Err(error)) => tracing::error!(%error, "a redacted record cannot be read"),
            None => self.sink.record(&record),
        }
        self.line = line;
    }

    /// Writes what waits for the file.
    pub(super) fn flush(&mut self) {
        let flushed = self.journal.flush();
        self.note(flushed);
    }

    /// What cannot be written yet waits; what cannot wait any more is lost, and that ends the run.
    fn note(&mut self, result: Result<(), JournalError>) {
        match result {
            Ok(()) => {}
            Err(JournalError::Write { source, .. }) => self.write_error = Some(source.to_string()),
            Err(error) => {
                tracing::error!(%error, "the journal cannot be written");
                self.has_failed = true;
            }
        }
    }

    /// Writes what waits; the wait for the disk is the caller's.
    pub(super) fn start_sync(&mut self) -> Option<PendingSync> {
        self.journal.start_sync().ok()
    }

    /// Sees to it that the disk has everything, without waiting for it.
    pub(super) fn sync_soon(&mut self) {
        if let Some(pending) = self.start_sync() {
            tokio::task::spawn_blocking(move || {
                if let Err(error) = pending.wait() {
                    tracing::warn!(%error, "the journal could not be synced");
                }
            });
        }
    }

    pub(super) fn sync_if_due(&mut self) {
        if self.journal.needs_sync(Moment::now()) {
            self.sync_soon();
        }
    }

    /// Waits until the disk has everything. Says whether it does.
    pub(super) fn sync(&mut self) -> bool {
        let synced = self.journal.sync();
        let is_kept = synced.is_ok();
        self.note(synced);
        is_kept
    }

    pub(super) fn tick(&mut self) {
        self.sink.tick();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.sink.is_closed()
    }
}
