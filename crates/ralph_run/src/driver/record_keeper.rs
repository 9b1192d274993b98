//! From events to records: stamped, joined, written, shown.

use std::io;
use std::sync::Arc;
use std::time::Instant as Moment;

use agent_api::{Body, Event, Severity};
use jiff::Timestamp;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::coalesce::Coalescer;
use crate::journal::{JournalError, JournalWriter, PendingSync, RecordEncoder, WrittenTexts};
use crate::model::RunModel;
use crate::record::{Record, RunBody, RunEvent};
use crate::redact::{DeltaRedactor, Redactor};
use crate::sink::Sink;
use crate::watchdog::{Finding, WatchRules, Watchdog};

/// Stamps what happens and keeps it.
pub(super) struct RecordKeeper {
    journal: JournalWriter,
    redactor: Arc<Redactor>,
    /// Used again for every record.
    line: Vec<u8>,
    sinks: Vec<Box<dyn Sink>>,
    encoder: RecordEncoder,
    /// Texts that are in the journal, so that they are not written again.
    texts: WrittenTexts,
    seq: u64,
    position: (u32, u32),
    /// When what is being recorded happened: the same moment for all that came at once.
    at: Option<Timestamp>,
    delta_redactor: DeltaRedactor,
    coalescer: Coalescer,
    ready: Vec<Event>,
    /// The run as its journal tells it.
    pub(super) model: RunModel,
    pub(super) watchdog: Watchdog,
    /// What the watchdog found, until the driver takes it.
    pub(super) findings: Vec<Finding>,
    /// The journal has no room, and more is being lost.
    pub(super) has_failed: bool,
    /// The journal has no room for now.
    pub(super) write_error: Option<String>,
    /// The disk did not take what was written.
    pub(super) sync_error: Option<String>,
    /// The wait for the disk that is going on.
    syncing: Option<JoinHandle<()>>,
    /// More was to be synced while it was going on.
    is_sync_owed: bool,
    /// Waits for the disk that came to nothing.
    sync_failures: UnboundedReceiver<io::Error>,
    sync_failed: UnboundedSender<io::Error>,
}

/// A wait for the disk that can be done on another thread.
#[must_use = "nothing waits for the disk until `wait` is called"]
pub(super) struct SyncWait {
    pending: PendingSync,
    failed: UnboundedSender<io::Error>,
}

impl SyncWait {
    /// Waits until the disk has everything, and says whether it does. The system tells of a failure only once, whoever
    /// waits: the keeper hears of it, too.
    pub(super) fn wait(self) -> bool {
        match self.pending.wait() {
            Ok(()) => true,
            Err(error) => {
                // A keeper that is gone has nothing to keep.
                let _ = self.failed.send(error);
                false
            }
        }
    }
}

impl RecordKeeper {
    pub(super) fn new(journal: JournalWriter, redactor: Arc<Redactor>, sinks: Vec<Box<dyn Sink>>) -> Self {
        let (sync_failed, sync_failures) = unbounded_channel();
        Self {
            journal,
            sync_failures,
            sync_failed,
            delta_redactor: DeltaRedactor::new(redactor.clone()),
            redactor,
            line: Vec::new(),
            sinks,
            encoder: RecordEncoder::default(),
            texts: WrittenTexts::default(),
            seq: 0,
            position: (0, 0),
            at: None,
            coalescer: Coalescer::default(),
            ready: Vec::new(),
            model: RunModel::summary_only(),
            watchdog: Watchdog::new(WatchRules::off()),
            findings: Vec::new(),
            has_failed: false,
            write_error: None,
            sync_error: None,
            syncing: None,
            is_sync_owed: false,
        }
    }

    pub(super) fn seq(&self) -> u64 {
        self.seq
    }

    pub(super) fn set_position(&mut self, position: (u32, u32)) {
        self.end_texts();
        self.texts.clear();
        self.position = position;
    }

    /// What is recorded from now on happens now.
    pub(super) fn begin_moment(&mut self) {
        self.at = None;
    }

    /// Takes an event of the agent: shows it, and records it sooner or later.
    pub(super) fn event(&mut self, mut event: Event) {
        let is_delta = matches!(event.body, Body::Delta(_));
        if is_delta {
            // Deltas are joined: no line of the raw log has all of one.
            event.raw = None;
        } else if is_framing(&event.body) {
            return;
        }
        if !is_delta && self.delta_redactor.is_empty() && self.coalescer.is_empty() {
            // Nothing waits for it, and it waits for nothing.
            return self.write(RunEvent::Agent(event));
        }
        let mut clean = Vec::new();
        self.delta_redactor.push(event, &mut clean);
        self.keep(clean);
    }

    /// Shows events, and records them sooner or later.
    fn keep(&mut self, events: Vec<Event>) {
        for event in events {
            if matches!(event.body, Body::Delta(_)) {
                for sink in &mut self.sinks {
                    sink.delta(&event);
                }
            }
            let mut ready = std::mem::take(&mut self.ready);
            self.coalescer.push(event, Instant::now(), &mut ready);
            self.write_events(ready);
        }
    }

    /// Takes something that happened in the run.
    pub(super) fn body(&mut self, body: RunBody) {
        match &body {
            RunBody::AttemptEnded(_) | RunBody::RunEnded(_) => self.end_texts(),
            _ => self.flush_deltas(),
        }
        self.begin_moment();
        self.write(RunEvent::Run(body));
    }

    /// When pieces of text have waited long enough.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.coalescer.deadline()
    }

    /// Gives out what has waited long enough.
    pub(super) fn on_deadline(&mut self) {
        if self.coalescer.deadline().is_some_and(|at| at <= Instant::now()) {
            self.flush_deltas();
        }
    }

    /// No more of any text comes: gives out everything that waits.
    fn end_texts(&mut self) {
        let mut rest = Vec::new();
        self.delta_redactor.release(&mut rest);
        self.keep(rest);
        self.flush_deltas();
    }

    /// Gives out what waits, but for what may be the beginning of a secret.
    pub(super) fn flush_deltas(&mut self) {
        let mut ready = std::mem::take(&mut self.ready);
        self.coalescer.flush(Instant::now(), &mut ready);
        self.write_events(ready);
    }

    fn write_events(&mut self, mut events: Vec<Event>) {
        for event in events.drain(..) {
            self.write(RunEvent::Agent(event));
        }
        self.ready = events;
    }

    fn write(&mut self, event: RunEvent) {
        let (iteration, attempt) = self.position;
        let mut record = Record {
            seq: self.seq + 1,
            at: *self.at.get_or_insert_with(now),
            iteration,
            attempt,
            event,
        };
        let mut line = std::mem::take(&mut self.line);
        if let Err(error) = self.encode(&mut record, &mut line) {
            tracing::error!(%error, "a record cannot be written as JSON");
            return;
        }
        self.seq = record.seq;
        let offset = self.journal.next_offset();
        if let Some(short) = self.texts.shorten(&record.event, offset) {
            line.clear();
            if let Err(error) = self.encoder.encode_as(&record, Some(&short), &mut line) {
                tracing::error!(%error, "a record cannot be written as JSON");
            }
        }
        let written = self.journal.push(record.seq, &line);
        match written {
            Ok(()) | Err(JournalError::Write { .. }) => self.texts.note(&record.event, offset),
            Err(_) => self.texts.clear(),
        }
        self.note(written);
        self.show(record, line.len());
        self.line = line;
    }

    /// Puts a record into `line`, redacted, and makes it what is in the line: what is shown is what is written.
    fn encode(&mut self, record: &mut Record, line: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        line.clear();
        let words = self.encoder.encode(record, line)?;
        if !self.is_ours(&record.event) && self.redactor.redact_json_from(words, line) {
            *record = serde_json::from_slice(line)?;
        }
        Ok(())
    }

    fn show(&mut self, record: Record, line_bytes: usize) {
        self.model.apply(&record);
        self.findings.extend(self.watchdog.observe(&record));
        if !self.sinks.is_empty() {
            let record = Arc::new(record);
            for sink in &mut self.sinks {
                sink.record(&record, line_bytes);
            }
        }
    }

    /// Whether nothing in it is in the words of others, so that no secret can be.
    fn is_ours(&self, event: &RunEvent) -> bool {
        let RunEvent::Agent(Event {
            parent: None, body, ..
        }) = event
        else {
            return false;
        };
        match body {
            Body::TurnStarted(_) | Body::StatusChanged(_) => true,
            // The most frequent one, and the longest of the short ones.
            Body::Usage(usage) => usage
                .model
                .as_deref()
                .is_none_or(|model| self.redactor.is_clean(model)),
            _ => false,
        }
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
                if !std::mem::replace(&mut self.has_failed, true) {
                    tracing::error!(%error, "the journal cannot be written");
                }
            }
        }
    }

    /// Writes what waits; the wait for the disk is the caller's.
    pub(super) fn start_sync(&mut self) -> Option<SyncWait> {
        let pending = self.journal.start_sync().ok()?;
        let failed = self.sync_failed.clone();
        Some(SyncWait { pending, failed })
    }

    /// The disk is to have everything soon: from the next look on.
    pub(super) fn owe_sync(&mut self) {
        self.is_sync_owed = true;
    }

    /// Sees to it that the disk has everything, without waiting for it. One wait at a time: a disk that is slower than
    /// the agent would only get a queue of them, and the next one covers all that came in between.
    fn sync_soon(&mut self) {
        self.is_sync_owed = self.syncing.as_ref().is_some_and(|wait| !wait.is_finished());
        if self.is_sync_owed {
            return;
        }
        self.syncing = self.start_sync().map(|sync| {
            tokio::task::spawn_blocking(move || {
                sync.wait();
            })
        });
    }

    pub(super) fn sync_if_due(&mut self) {
        while let Ok(error) = self.sync_failures.try_recv() {
            self.note_sync_failure(&error);
        }
        if self.is_sync_owed || self.journal.needs_sync(Moment::now()) {
            self.sync_soon();
        }
    }

    /// What the disk did not take is lost: the next sync knows nothing of it, and may succeed.
    fn note_sync_failure(&mut self, error: &io::Error) {
        tracing::error!(%error, "the journal could not be synced");
        self.sync_error = Some(error.to_string());
        self.has_failed = true;
        self.is_sync_owed = true;
    }

    /// Waits on another thread until the disk has everything that was written so far, and every earlier wait is over.
    /// The task returns what failed.
    pub(super) fn sync_all(&mut self) -> JoinHandle<Vec<io::Error>> {
        let sync = match self.journal.start_sync() {
            Ok(pending) => Some(pending),
            Err(error) => {
                self.note(Err(error));
                None
            }
        };
        let (sync_failed, sync_failures) = unbounded_channel();
        // Closed when the last of the earlier waits is over.
        let failed = std::mem::replace(&mut self.sync_failed, sync_failed);
        let mut failures = std::mem::replace(&mut self.sync_failures, sync_failures);
        tokio::spawn(async move {
            let wait = sync.map(|pending| SyncWait { pending, failed });
            let wait = tokio::task::spawn_blocking(move || wait.map(SyncWait::wait));
            let mut errors = Vec::new();
            while let Some(error) = failures.recv().await {
                errors.push(error);
            }
            // A wait that panicked is over, too.
            let _ = wait.await;
            errors
        })
    }

    /// Notes what came of [`Self::sync_all`]; `None` means that it took too long. Returns whether the disk has everything.
    pub(super) fn note_synced(&mut self, failures: Option<Vec<io::Error>>) -> bool {
        let failures = failures.unwrap_or_else(|| vec![io::ErrorKind::TimedOut.into()]);
        for error in &failures {
            self.note_sync_failure(error);
        }
        // Something may have been recorded meanwhile.
        self.flush();
        self.sync_error.is_none() && !self.has_unwritten()
    }

    /// Whether something could not be written to the file.
    pub(super) fn has_unwritten(&self) -> bool {
        self.journal.pending_bytes() > 0
    }

    /// Whether more is to be synced soon.
    pub(super) fn is_sync_owed(&self) -> bool {
        self.is_sync_owed
    }
}

/// Whether an event only says that the agent wrote a line that changes nothing. The raw log has the line.
fn is_framing(body: &Body) -> bool {
    matches!(body, Body::Notice(notice) if notice.severity == Severity::Debug && notice.code == "framing")
}

/// Now, to the millisecond: order is by `seq`.
fn now() -> Timestamp {
    Timestamp::from_millisecond(Timestamp::now().as_millisecond()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    use agent_api::{
        AgentKind, Body, Delta, DeltaMode, Event, ItemId, Notice, Part, Piece, Severity, TextBlock,
    };

    use super::RecordKeeper;
    use crate::journal::{JournalWriter, Unsynced};
    use crate::reason::EndReason;
    use crate::record::{Record, RunBody, RunEnded, RunEvent, Totals, Warned, WarningKind};
    use crate::redact::{Redactor, Secret};
    use crate::sink::Sink;

    const SECRET: &str = "zq9secretvalue77";

    /// The pieces and the blocks that a view is given.
    #[derive(Debug, Clone, Default, PartialEq)]
    struct Seen {
        live: String,
        recorded: String,
        blocks: Vec<String>,
    }

    #[derive(Clone, Default)]
    struct View(Arc<Mutex<Seen>>);

    impl View {
        fn seen(&self) -> Seen {
            self.0.lock().unwrap().clone()
        }
    }

    impl Sink for View {
        fn delta(&mut self, event: &Event) {
            let Body::Delta(delta) = &event.body else {
                unreachable!("{event:?}")
            };
            self.0.lock().unwrap().live.push_str(&delta.text);
        }

        fn record(&mut self, record: &Arc<Record>, line_bytes: usize) {
            let mut seen = self.0.lock().unwrap();
            assert!(line_bytes > 0);
            match &record.event {
                RunEvent::Agent(Event {
                    body: Body::Delta(delta),
                    ..
                }) => seen.recorded.push_str(&delta.text),
                RunEvent::Agent(Event {
                    body: Body::TextBlock(block),
                    ..
                }) => seen.blocks.push(block.text.clone()),
                _ => {}
            }
        }
    }

    fn event(body: Body) -> Event {
        Event::new(AgentKind::DEMO, body)
    }

    fn piece(text: &str) -> Event {
        event(Body::Delta(Delta {
            item: ItemId::new("a"),
            part: Part::Text,
            mode: DeltaMode::Append,
            text: text.to_owned(),
        }))
    }

    /// What is seen and what is in the journal, after something else happened between the pieces.
    fn play(pieces: [&str; 2], block: Option<&str>) -> (Seen, String) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let journal = JournalWriter::create(&path).unwrap();
        let redactor = Redactor::new(Secret::new("A_KEY", SECRET), [""; 0]).unwrap();
        let views = [View::default(), View::default()];
        let sinks = views.iter().map(|view| Box::new(view.clone()) as Box<dyn Sink>);
        let mut keeper = RecordKeeper::new(journal, Arc::new(redactor), sinks.collect());
        for text in pieces {
            keeper.event(piece(text));
            let notice = Notice::new(Severity::Info, "x", "in the middle");
            keeper.event(event(Body::Notice(Box::new(notice))));
            let warned = Warned::new(WarningKind::Degraded, "in the middle");
            keeper.body(RunBody::Warned(warned));
        }
        if let Some(text) = block {
            keeper.event(event(Body::TextBlock(TextBlock {
                item: ItemId::new("a"),
                text: text.to_owned(),
                piece: Piece::WHOLE,
                is_aborted: false,
            })));
        }
        keeper.set_position((1, 2));
        keeper.flush();
        let journal = std::fs::read_to_string(&path).unwrap();
        let [seen, other] = views.map(|view| view.seen());
        assert_eq!(seen, other);
        (seen, journal)
    }

    #[test]
    fn a_secret_is_neither_shown_nor_kept_wherever_it_is_cut() {
        let token = "abcdef0123456789".repeat(2);
        let said = format!("The key is {SECRET}, Bearer {token} or none");
        let clean = "The key is [redacted:A_KEY], Bearer [redacted:bearer] or none";
        for place in 0..=said.len() {
            let (one, two) = said.split_at(place);
            let (seen, journal) = play([one, two], Some(&said));
            assert_eq!(seen.blocks, [clean]);
            // A view adds the rest of the block to what it has shown, so the text appears once.
            assert!(clean.starts_with(&seen.live), "{place}: {}", seen.live);
            assert!(clean.starts_with(&seen.recorded), "{place}: {}", seen.recorded);
            assert!(!journal.contains(SECRET) && !journal.contains("abcdef0123456789"));
        }
    }

    #[test]
    fn a_text_without_a_block_is_shown_and_kept_completely() {
        for (one, two) in [("Hello wo", "rld"), ("", "x"), ("a  b\n", "\n c zq9sec")] {
            let (seen, _) = play([one, two], None);
            let whole = format!("{one}{two}");
            assert_eq!((&seen.live, &seen.recorded), (&whole, &whole));
        }
    }

    /// A keeper on a disk that takes everything and syncs nothing when that is done elsewhere.
    fn unsynced(path: &Path) -> RecordKeeper {
        let journal = JournalWriter::on(Box::new(Unsynced(File::create(path).unwrap())), path, 0);
        let redactor = Redactor::new([], [""; 0]).unwrap();
        RecordKeeper::new(journal, Arc::new(redactor), Vec::new())
    }

    fn ended(reason: EndReason) -> RunBody {
        RunBody::RunEnded(RunEnded {
            reason: reason.into(),
            exit_code: reason.exit_code(),
            message: None,
            iterations: 1,
            totals: Totals::default(),
        })
    }

    #[tokio::test]
    async fn a_sync_that_failed_elsewhere_is_known_though_the_next_one_succeeds() {
        let directory = tempfile::tempdir().unwrap();
        let mut keeper = unsynced(&directory.path().join("journal"));
        keeper.body(ended(EndReason::Completed));
        keeper.owe_sync();
        keeper.sync_if_due();
        assert!(!keeper.has_failed);
        let failures = keeper.sync_all().await.unwrap();
        assert!(!keeper.note_synced(Some(failures)));
        assert!(keeper.has_failed && keeper.is_sync_owed && keeper.sync_error.is_some());

        // The same for a receipt's.
        let mut keeper = unsynced(&directory.path().join("another"));
        let sync = keeper.start_sync().unwrap();
        assert!(!sync.wait());
        keeper.sync_if_due();
        assert!(keeper.has_failed && keeper.sync_error.is_some());
    }
}
