//! `RecordStream`: the records of a run as a view reads them, live from the runner or from the journal. The console of
//! `ralph run`, `attach`, `logs` and `replay` all read one.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_api::{Body, Event};
use tokio::sync::mpsc::error::{TryRecvError, TrySendError};
use tokio::sync::{Notify, mpsc};

use crate::home::open_linked_file;
use crate::journal::{Damage, JournalFollower};
use crate::record::{Record, RunBody, RunEvent, WarningKind};
use crate::sink::Sink;

/// At most this many updates wait for a view.
const MAX_UPDATES: usize = 1_024;

/// At most this many bytes of records, as measured in the journal, wait for a view.
const MAX_BYTES: usize = 1 << 20;

/// At most this many warnings about the disk are kept for a view that is behind.
const MAX_WARNINGS: usize = 16;

/// What a view is given.
#[derive(Debug)]
pub enum ViewUpdate {
    /// A piece of text that is not recorded yet.
    Delta(Box<Event>),
    /// Redacted, as it is in the journal.
    Record(Arc<Record>),
    /// The journal cannot be read at this place.
    Damage(Damage),
}

/// Sends a run's records to a [`RecordStream`] without ever waiting for it. When the stream falls behind, sending
/// pauses, and the stream reads what it missed from the journal.
#[derive(Debug)]
pub struct RecordSender {
    updates: mpsc::Sender<Queued>,
    position: Arc<Mutex<Position>>,
    warned: Arc<Notify>,
    wants_deltas: bool,
}

/// Sends records from any source to a [`RecordStream`], and waits while it is behind.
#[derive(Debug)]
pub struct PacedSender(mpsc::Sender<Queued>);

/// Keeps a [`RecordStream`] waiting at the end of the journal. Drop it when nothing more will be written.
#[derive(Debug)]
pub struct FollowGuard(#[expect(dead_code, reason = "dropping it closes the channel")] mpsc::Sender<Queued>);

/// A run's updates in order, without gaps or repetitions. Reads them from the runner while it can keep up, otherwise
/// from the journal. That the journal cannot be written is said in any case, after all that the journal has.
#[derive(Debug)]
pub struct RecordStream {
    updates: mpsc::Receiver<Queued>,
    position: Arc<Mutex<Position>>,
    warned: Arc<Notify>,
    /// Records that were passed on before the journal had them.
    passed_early: Vec<u64>,
    source: Source,
    journal: Option<Journal>,
    last_seq: u64,
    /// Whether the journal may still grow.
    is_growing: bool,
}

#[derive(Debug)]
struct Queued {
    update: ViewUpdate,
    bytes: usize,
}

/// Shared by the sender and the stream.
#[derive(Debug)]
struct Position {
    mode: Mode,
    /// The number of the newest record of the run.
    newest_seq: u64,
    queued_bytes: usize,
    /// Warnings about the disk that a view which is behind may not find in the journal.
    warnings: VecDeque<Arc<Record>>,
    /// The same for the end of the run.
    end: Option<Arc<Record>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Everything is sent.
    Live,
    /// Records are sent. Deltas are not, until a record shows that all earlier ones are recorded.
    RecordsOnly,
    /// Nothing is sent: the stream reads the journal.
    Behind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Runner,
    Journal,
}

#[derive(Debug)]
enum Journal {
    /// Opened when it is needed, by the runtime that reads it: file notifications belong to one.
    At(PathBuf),
    Open(Box<JournalFollower>),
}

impl RecordStream {
    /// The stream of a run in this process. `journal` is read when the view falls behind.
    #[must_use]
    pub fn live(journal: &Path) -> (RecordSender, Self) {
        let (updates, stream) = Self::channel(Some(journal));
        let sender = RecordSender {
            updates,
            position: Arc::clone(&stream.position),
            warned: Arc::clone(&stream.warned),
            wants_deltas: true,
        };
        (sender, stream)
    }

    /// The stream of any run, from record `from_seq` on. It waits for more at the end of the journal until the guard is
    /// dropped or the run has ended.
    ///
    /// # Errors
    /// If the journal cannot be opened.
    pub fn follow(journal: &Path, from_seq: u64) -> io::Result<(FollowGuard, Self)> {
        open_linked_file(journal)?;
        let (updates, mut stream) = Self::channel(Some(journal));
        stream.source = Source::Journal;
        stream.last_seq = from_seq.saturating_sub(1);
        Ok((FollowGuard(updates), stream))
    }

    /// A stream of records from any other source.
    #[must_use]
    pub fn paced() -> (PacedSender, Self) {
        let (updates, stream) = Self::channel(None);
        (PacedSender(updates), stream)
    }

    fn channel(journal: Option<&Path>) -> (mpsc::Sender<Queued>, Self) {
        let (sender, updates) = mpsc::channel(MAX_UPDATES);
        let stream = Self {
            updates,
            position: Arc::new(Mutex::new(Position {
                mode: Mode::Live,
                newest_seq: 0,
                queued_bytes: 0,
                warnings: VecDeque::new(),
                end: None,
            })),
            warned: Arc::default(),
            passed_early: Vec::new(),
            source: Source::Runner,
            journal: journal.map(|path| Journal::At(path.to_owned())),
            last_seq: 0,
            is_growing: true,
        };
        (sender, stream)
    }

    /// The next update; `None` when there are no more. Cancel-safe.
    pub async fn next(&mut self) -> Option<ViewUpdate> {
        loop {
            if self.source == Source::Journal {
                return self.next_written().await;
            }
            let queued = match self.updates.try_recv() {
                Err(TryRecvError::Empty) if !self.is_behind() => self.updates.recv().await,
                tried => tried.ok(),
            };
            if let Some(Queued { update, bytes }) = queued {
                if let ViewUpdate::Record(record) = &update {
                    self.last_seq = record.seq;
                }
                lock(&self.position).queued_bytes -= bytes;
                return Some(update);
            }
            if !self.is_behind() {
                return None;
            }
            self.source = Source::Journal;
        }
    }

    async fn next_written(&mut self) -> Option<ViewUpdate> {
        loop {
            let follower = match &mut self.journal {
                Some(Journal::Open(follower)) => follower,
                Some(Journal::At(path)) => match JournalFollower::open(path, self.last_seq + 1) {
                    Ok(follower) => {
                        self.journal = Some(Journal::Open(Box::new(follower)));
                        continue;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot read the journal");
                        return None;
                    }
                },
                None => return None,
            };
            follower.skip_to(self.last_seq + 1);
            tokio::select! {
                biased;
                next = follower.next() => match next {
                    Some(Ok(record)) => {
                        self.last_seq = record.seq;
                        self.rejoin();
                        if !self.passed_early.contains(&record.seq) {
                            return Some(ViewUpdate::Record(Arc::new(record)));
                        }
                    }
                    Some(Err(damage)) => return Some(ViewUpdate::Damage(damage)),
                    None => return self.next_warning().or_else(|| self.unwritten_end()),
                },
                () = self.warned.notified() => if let Some(update) = self.next_warning() {
                    return Some(update);
                },
                // Nothing is sent while this side reads the journal: the sender is gone.
                _ = self.updates.recv(), if self.is_growing => {
                    self.is_growing = false;
                    follower.stop_at_end();
                }
            }
        }
    }

    /// The next warning that is not in the journal, or not yet.
    fn next_warning(&mut self) -> Option<ViewUpdate> {
        let mut position = lock(&self.position);
        let record = loop {
            let record = position.warnings.pop_front()?;
            if record.seq > self.last_seq {
                break record;
            }
        };
        if !position.warnings.is_empty() {
            self.warned.notify_one();
        }
        self.passed_early.push(record.seq);
        Some(ViewUpdate::Record(record))
    }

    /// How the run ended, if the journal does not say it.
    fn unwritten_end(&mut self) -> Option<ViewUpdate> {
        let end = lock(&self.position).end.take()?;
        (end.seq > self.last_seq).then_some(ViewUpdate::Record(end))
    }

    /// Reads from the runner again once the newest record has been read.
    fn rejoin(&mut self) {
        let mut position = lock(&self.position);
        if position.mode == Mode::Behind && position.newest_seq == self.last_seq {
            position.mode = Mode::RecordsOnly;
            self.source = Source::Runner;
        }
    }

    fn is_behind(&self) -> bool {
        lock(&self.position).mode == Mode::Behind
    }
}

impl RecordSender {
    /// Sends whole records only.
    #[must_use]
    pub fn without_deltas(self) -> Self {
        Self {
            wants_deltas: false,
            ..self
        }
    }

    fn send(&self, position: &mut Position, update: ViewUpdate, bytes: usize) {
        // A record that is larger than the limit is sent if nothing else waits.
        let has_room = position.queued_bytes == 0 || position.queued_bytes + bytes <= MAX_BYTES;
        let is_sent = has_room
            && match self.updates.try_send(Queued { update, bytes }) {
                // Without a reader it does not matter.
                Ok(()) | Err(TrySendError::Closed(_)) => true,
                Err(TrySendError::Full(_)) => false,
            };
        if is_sent {
            position.queued_bytes += bytes;
        } else {
            position.mode = Mode::Behind;
        }
    }

    /// Keeps what a view must know even if the disk is full, so that the journal never gets it.
    fn keep(&self, position: &mut Position, record: &Arc<Record>) {
        match &record.event {
            RunEvent::Run(RunBody::Warned(warned)) if warned.kind == WarningKind::Storage => {
                if position.warnings.len() == MAX_WARNINGS {
                    position.warnings.pop_front();
                }
                position.warnings.push_back(Arc::clone(record));
                self.warned.notify_one();
            }
            RunEvent::Run(RunBody::RunEnded(_)) => position.end = Some(Arc::clone(record)),
            _ => {}
        }
    }
}

impl Sink for RecordSender {
    fn delta(&mut self, event: &Event) {
        let mut position = lock(&self.position);
        if self.wants_deltas && position.mode == Mode::Live {
            let bytes = match &event.body {
                Body::Delta(delta) => delta.text.len(),
                _ => 0,
            };
            self.send(&mut position, ViewUpdate::Delta(Box::new(event.clone())), bytes);
        }
    }

    fn record(&mut self, record: &Arc<Record>, line_bytes: usize) {
        let mut position = lock(&self.position);
        position.newest_seq = record.seq;
        if position.mode != Mode::Behind {
            self.send(&mut position, ViewUpdate::Record(Arc::clone(record)), line_bytes);
        }
        if position.mode == Mode::Behind {
            self.keep(&mut position, record);
            return;
        }
        // Text is recorded before anything that happened after it.
        if position.mode == Mode::RecordsOnly && !is_delta(record) {
            position.mode = Mode::Live;
        }
    }
}

impl PacedSender {
    /// Sends a record. False if the stream is gone.
    pub async fn send(&self, record: Record) -> bool {
        let update = ViewUpdate::Record(Arc::new(record));
        self.0.send(Queued { update, bytes: 0 }).await.is_ok()
    }
}

fn is_delta(record: &Record) -> bool {
    matches!(
        &record.event,
        RunEvent::Agent(Event {
            body: Body::Delta(_),
            ..
        })
    )
}

fn lock(position: &Mutex<Position>) -> MutexGuard<'_, Position> {
    position.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agent_api::{AgentKind, Body, Delta, DeltaMode, Event, ItemId, Part};
    use jiff::Timestamp;
    use tempfile::TempDir;

    use super::{MAX_UPDATES, RecordSender, RecordStream, ViewUpdate};
    use crate::journal::JournalWriter;
    use crate::reason::EndReason;
    use crate::record::{Record, RunBody, RunEnded, RunEvent, Totals, Warned, WarningKind};
    use crate::sink::Sink as _;

    /// A runner that writes a journal and sends what it writes.
    struct Runner {
        _directory: TempDir,
        journal: JournalWriter,
        sender: RecordSender,
        seq: u64,
    }

    fn start() -> (Runner, RecordStream) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let journal = JournalWriter::create(&path).unwrap();
        let (sender, stream) = RecordStream::live(&path);
        let runner = Runner {
            _directory: directory,
            journal,
            sender,
            seq: 0,
        };
        (runner, stream)
    }

    fn delta(text: &str) -> Event {
        Event::new(
            AgentKind::DEMO,
            Body::Delta(Delta {
                item: ItemId::new("a"),
                part: Part::Text,
                mode: DeltaMode::Append,
                text: text.to_owned(),
            }),
        )
    }

    fn warning() -> RunEvent {
        RunEvent::Run(RunBody::Warned(Warned::new(
            WarningKind::Degraded,
            "x".to_owned(),
        )))
    }

    fn ended() -> RunEvent {
        RunEvent::Run(RunBody::RunEnded(RunEnded {
            reason: EndReason::Completed.into(),
            exit_code: 0,
            message: None,
            iterations: 1,
            totals: Totals::default(),
        }))
    }

    fn disk_is_full() -> RunEvent {
        RunEvent::Run(RunBody::Warned(Warned::new(WarningKind::Storage, "x".to_owned())))
    }

    impl Runner {
        fn record(&mut self, event: RunEvent, line_bytes: usize) {
            let record = self.next_record(event);
            self.journal.append(&record).unwrap();
            self.sender.record(&Arc::new(record), line_bytes);
        }

        /// As with a full disk: the journal does not get it.
        fn record_unwritten(&mut self, event: RunEvent) -> Record {
            let record = self.next_record(event);
            self.sender.record(&Arc::new(record.clone()), 10);
            record
        }

        fn next_record(&mut self, event: RunEvent) -> Record {
            self.seq += 1;
            Record {
                seq: self.seq,
                at: Timestamp::UNIX_EPOCH,
                iteration: 1,
                attempt: 1,
                event,
            }
        }
    }

    fn seq(update: Option<ViewUpdate>) -> u64 {
        match update {
            Some(ViewUpdate::Record(record)) => record.seq,
            other => unreachable!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_stream_that_fell_behind_misses_nothing_and_sees_nothing_twice() {
        let (mut runner, mut stream) = start();
        let many = 3 * MAX_UPDATES as u64;
        for _ in 0..many {
            runner.record(warning(), 10);
        }
        for expected in 1..=many {
            assert_eq!(seq(stream.next().await), expected);
        }
        // It is live again, and falls behind again.
        runner.record(warning(), 10);
        assert_eq!(seq(stream.next().await), many + 1);
        for _ in 0..many {
            runner.record(warning(), 10);
        }
        runner.record(ended(), 10);
        drop(runner);
        for expected in many + 2..=2 * many + 2 {
            assert_eq!(seq(stream.next().await), expected);
        }
        assert!(stream.next().await.is_none());
    }

    #[tokio::test]
    async fn large_records_count_by_their_bytes() {
        let (mut runner, mut stream) = start();
        runner.record(warning(), 4 << 20);
        runner.record(warning(), 10);
        assert!(stream.is_behind());
        assert_eq!(seq(stream.next().await), 1);
        assert_eq!(seq(stream.next().await), 2);
        assert!(!stream.is_behind());
    }

    #[tokio::test]
    async fn a_stream_that_is_behind_says_that_the_disk_is_full_and_how_the_run_ended() {
        let (mut runner, mut stream) = start();
        runner.record(warning(), 4 << 20);
        runner.record(warning(), 10);
        runner.record_unwritten(warning());
        runner.record_unwritten(disk_is_full());
        for expected in [1, 2, 4] {
            assert_eq!(seq(stream.next().await), expected);
        }
        runner.record_unwritten(warning());
        runner.record_unwritten(ended());
        drop(runner);
        assert_eq!(seq(stream.next().await), 6);
        assert!(stream.next().await.is_none());
    }

    #[tokio::test]
    async fn a_warning_that_came_before_the_journal_had_it_is_not_repeated() {
        let (mut runner, mut stream) = start();
        runner.record(warning(), 4 << 20);
        let late = [
            runner.record_unwritten(warning()),
            runner.record_unwritten(disk_is_full()),
        ];
        assert_eq!(seq(stream.next().await), 1);
        assert_eq!(seq(stream.next().await), 3);
        for record in late {
            runner.journal.append(&record).unwrap();
        }
        runner.record(ended(), 10);
        drop(runner);
        assert_eq!(seq(stream.next().await), 2);
        assert_eq!(seq(stream.next().await), 4);
        assert!(stream.next().await.is_none());
    }

    #[tokio::test]
    async fn text_is_live_again_only_after_a_record_that_follows_it() {
        let (mut runner, mut stream) = start();
        runner.record(warning(), 4 << 20);
        runner.sender.delta(&delta("one "));
        assert!(stream.is_behind());
        assert_eq!(seq(stream.next().await), 1);
        // The first piece was not sent, so the next one must not be shown alone.
        runner.record(RunEvent::Agent(delta("one ")), 10);
        assert_eq!(seq(stream.next().await), 2);
        runner.sender.delta(&delta("two "));
        runner.record(RunEvent::Agent(delta("two ")), 10);
        assert_eq!(seq(stream.next().await), 3);
        runner.record(warning(), 10);
        runner.sender.delta(&delta("three"));
        assert_eq!(seq(stream.next().await), 4);
        assert!(matches!(stream.next().await, Some(ViewUpdate::Delta(_))));
    }

    #[tokio::test]
    async fn a_followed_journal_ends_when_its_guard_is_dropped() {
        let (mut runner, _stream) = start();
        runner.record(warning(), 10);
        runner.record(warning(), 10);
        let path = runner._directory.path().join("journal");
        let (guard, mut stream) = RecordStream::follow(&path, 2).unwrap();
        assert_eq!(seq(stream.next().await), 2);
        runner.record(warning(), 10);
        assert_eq!(seq(stream.next().await), 3);
        drop(guard);
        assert!(stream.next().await.is_none());
        assert!(RecordStream::follow(&path.join("none"), 1).is_err());
    }
}
