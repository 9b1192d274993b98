//! `load()`: reads a run in a thread: the end of its journal first, then the whole, then what is written.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use ralph_run::model::RunModel;
use ralph_run::{Home, JournalFollower, RunDirectory, RunFile, ViewUpdate, read_journal, read_journal_tail};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::panic_hook::catch_panic;
use crate::input::{Input, LoadedRun};
use crate::transcript::Transcript;

/// As much of a journal as is read before anything else: many screens of it.
const TAIL_BYTES: u64 = 512 << 10;
/// How often it is checked whether the runner is alive: a dead one writes no end.
const LIVENESS_INTERVAL: Duration = Duration::from_secs(1);
/// How often a journal that is not there yet is looked for.
const JOURNAL_INTERVAL: Duration = Duration::from_millis(50);
/// At most this many updates are one input, so that keys between them do not wait long.
const MAX_BATCH: usize = 128;
/// How many inputs wait for the screen. Reading waits for it.
const MAX_WAITING: usize = 4;

/// Starts to load and follow a run. It ends when the receiver is dropped.
pub(super) fn load(run: RunDirectory) -> io::Result<mpsc::Receiver<Input>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    spawn_loader(run, move |loader| {
        // `None` where nobody wants it any more.
        let _ = runtime.block_on(loader.load());
    })
}

/// A panic of the thread is reported like a journal that cannot be read.
fn spawn_loader(
    run: RunDirectory,
    work: impl FnOnce(Loader) + Send + 'static,
) -> io::Result<mpsc::Receiver<Input>> {
    let (inputs, received) = mpsc::channel(MAX_WAITING);
    thread::Builder::new().name("loader".to_owned()).spawn(move || {
        let (id, failures) = (run.id().to_owned(), inputs.clone());
        if let Err(reason) = catch_panic(|| work(Loader { run, inputs })) {
            // Without a receiver, nobody waits for it.
            let _ = failures.blocking_send(Input::LoadFailed { run: id, reason });
        }
    })?;
    Ok(received)
}

/// What a run has done so far, for the preview on the home screen.
pub(super) fn read_model(home: &Home, run: &str) -> Result<RunModel, String> {
    let directory = home
        .run(run)
        .ok_or_else(|| format!("run {run} does not exist any more"))?;
    let records =
        read_journal(&directory.journal()).map_err(|error| format!("cannot open the journal: {error}"))?;
    let mut model = RunModel::new();
    for record in records.flatten() {
        model.apply(&record);
    }
    Ok(model)
}

/// The whole transcript of a run as Markdown, from its journal. Takes a while for a long one.
pub(super) fn read_transcript(home: &Home, run: &str) -> Result<String, String> {
    let directory = home
        .run(run)
        .ok_or_else(|| format!("run {run} does not exist any more"))?;
    let records =
        read_journal(&directory.journal()).map_err(|error| format!("cannot open the journal: {error}"))?;
    let mut transcript = Transcript::default();
    for record in records {
        match record {
            Ok(record) => transcript.apply(&record),
            Err(damage) => transcript.push_damage(&damage.to_string()),
        }
    }
    Ok(transcript.to_markdown())
}

struct Loader {
    run: RunDirectory,
    inputs: mpsc::Sender<Input>,
}

impl Loader {
    async fn load(self) -> Option<()> {
        self.wait_for_journal().await?;
        if let Some(tail) = self.read_tail() {
            self.send(Input::Tail(Box::new(tail))).await?;
        }
        let mut follower = match JournalFollower::open(&self.run.journal(), 1) {
            Ok(follower) => follower,
            Err(error) => return self.fail(format!("cannot open the journal: {error}")).await,
        };
        let mut loaded = self.empty();
        let mut is_over = false;
        while let Some(update) = next_ready(&mut follower, &mut is_over).await {
            match update {
                Ok(update) => loaded.apply(&update),
                Err(reason) => return self.fail(reason).await,
            }
            if self.inputs.is_closed() {
                return None;
            }
        }
        self.send(Input::Loaded(Box::new(loaded))).await?;
        if is_over {
            return Some(());
        }
        self.follow(follower).await
    }

    /// Sends what is written, until the run has ended.
    async fn follow(self, mut follower: JournalFollower) -> Option<()> {
        let mut liveness = interval(LIVENESS_INTERVAL);
        liveness.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_gone = false;
        let mut silent_ticks = 0;
        loop {
            let next = tokio::select! {
                biased;
                () = self.inputs.closed() => return None,
                next = follower.next() => next,
                _ = liveness.tick() => {
                    if follower.was_replaced() {
                        return self.fail("the journal was changed by another program; open the run again".to_owned()).await;
                    }
                    silent_ticks += 1;
                    // The end of a run is in the journal before it is in `run.json`.
                    let is_over = |file: RunFile| file.is_ended() || file.is_lost();
                    if !is_gone && silent_ticks > 1 && RunFile::load(&self.run.run_file()).is_ok_and(is_over) {
                        // What was lost may still be recorded: `ralph runs` does.
                        is_gone = true;
                        self.send(Input::RunnerGone { run: self.id() }).await?;
                    }
                    continue;
                }
            };
            silent_ticks = 0;
            let Some(first) = next else { return Some(()) };
            let mut is_over = false;
            let mut updates = Vec::new();
            let mut problem = None;
            let mut update = Some(convert(first));
            while let Some(converted) = update {
                match converted {
                    Ok(update) => updates.push(update),
                    Err(reason) => {
                        problem = Some(reason);
                        break;
                    }
                }
                if updates.len() >= MAX_BATCH {
                    break;
                }
                update = next_ready(&mut follower, &mut is_over).await;
            }
            self.send(Input::Updates {
                run: self.id(),
                updates,
            })
            .await?;
            if let Some(reason) = problem {
                return self.fail(reason).await;
            }
            if is_over {
                return Some(());
            }
        }
    }

    /// A run that has just been started may have none yet.
    async fn wait_for_journal(&self) -> Option<()> {
        while !self.run.journal().exists() {
            if self.inputs.is_closed() {
                return None;
            }
            let is_coming = RunFile::load(&self.run.run_file()).is_ok_and(|file| file.is_live());
            if !is_coming {
                let reason = format!("run {} has no journal", self.run.short_id());
                self.fail(reason).await;
                return None;
            }
            sleep(JOURNAL_INTERVAL).await;
        }
        Some(())
    }

    /// The end of a long journal. What is wrong with it is reported when the whole is read.
    fn read_tail(&self) -> Option<LoadedRun> {
        let path = self.run.journal();
        if std::fs::metadata(&path).ok()?.len() <= TAIL_BYTES {
            return None;
        }
        let mut loaded = self.empty();
        // How the run was started.
        if let Some(Ok(first)) = read_journal(&path).ok()?.next() {
            loaded.model.apply(&first);
            loaded.transcript.apply(&first);
        }
        for record in read_journal_tail(&path, TAIL_BYTES).ok()?.flatten() {
            loaded.model.apply(&record);
            loaded.transcript.apply(&record);
        }
        Some(loaded)
    }

    fn empty(&self) -> LoadedRun {
        LoadedRun {
            run: self.id(),
            model: RunModel::new(),
            transcript: Transcript::default(),
        }
    }

    fn id(&self) -> String {
        self.run.id().to_owned()
    }

    async fn fail(&self, reason: String) -> Option<()> {
        let run = self.id();
        self.send(Input::LoadFailed { run, reason }).await
    }

    async fn send(&self, input: Input) -> Option<()> {
        self.inputs.send(input).await.ok()
    }
}

impl LoadedRun {
    fn apply(&mut self, update: &ViewUpdate) {
        match update {
            ViewUpdate::Record(record) => {
                self.model.apply(record);
                self.transcript.apply(record);
            }
            ViewUpdate::Delta(event) => self.transcript.apply_delta(event),
            ViewUpdate::Damage(damage) => self.transcript.push_damage(&damage.to_string()),
        }
    }
}

type Read = Result<ralph_run::Record, ralph_run::Damage>;

/// An update, or why nothing more can be read.
fn convert(read: Read) -> Result<ViewUpdate, String> {
    match read {
        Ok(record) => Ok(ViewUpdate::Record(Arc::new(record))),
        Err(damage) if damage.is_final() => Err(damage.to_string()),
        Err(damage) => Ok(ViewUpdate::Damage(damage)),
    }
}

/// What can be read without waiting. Sets `is_over` after the last record of the run.
async fn next_ready(
    follower: &mut JournalFollower,
    is_over: &mut bool,
) -> Option<Result<ViewUpdate, String>> {
    let next = pin!(follower.next());
    tokio::select! {
        biased;
        read = next => match read {
            Some(read) => Some(convert(read)),
            None => {
                *is_over = true;
                None
            }
        },
        () = std::future::ready(()) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use jiff::Timestamp;
    use ralph_run::{Home, RunDirectory};
    use tempfile::TempDir;

    use super::{TAIL_BYTES, load, spawn_loader};
    use crate::input::Input;

    fn run() -> (TempDir, RunDirectory) {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path().join("state"), None);
        let run = home.create_run(Timestamp::now()).unwrap();
        (directory, run)
    }

    fn lines(numbers: std::ops::RangeInclusive<u64>) -> String {
        let at = "2026-01-01T00:00:00Z";
        numbers
            .map(|seq| {
                let event = r#"{"type":"unheard_of","data":{}}"#;
                format!(r#"{{"seq":{seq},"at":"{at}","iteration":1,"attempt":1,"event":{event}}}"#) + "\n"
            })
            .collect()
    }

    #[tokio::test]
    async fn a_long_run_is_shown_by_its_end_then_whole_then_as_it_grows() {
        let (_directory, run) = run();
        let text = lines(1..=10_000);
        assert!(text.len() as u64 > TAIL_BYTES);
        fs::write(run.journal(), text).unwrap();
        let mut inputs = load(run.clone()).unwrap();
        assert!(matches!(inputs.recv().await, Some(Input::Tail(_))));
        assert!(matches!(inputs.recv().await, Some(Input::Loaded(_))));
        let mut journal = fs::OpenOptions::new().append(true).open(run.journal()).unwrap();
        journal.write_all(lines(10_001..=10_300).as_bytes()).unwrap();
        let mut count = 0;
        while count < 300 {
            let Some(Input::Updates { updates, .. }) = inputs.recv().await else {
                panic!("not an update");
            };
            assert!(updates.len() <= super::MAX_BATCH);
            count += updates.len();
        }
        assert_eq!(count, 300);
    }

    #[tokio::test]
    async fn a_reader_that_panics_says_so() {
        let (_directory, run) = run();
        let mut inputs = spawn_loader(run, |_| panic!("no such record")).unwrap();
        let failed = inputs.recv().await;
        assert!(
            matches!(&failed, Some(Input::LoadFailed { reason, .. }) if reason.contains("no such record")),
            "{failed:?}"
        );
        assert!(inputs.recv().await.is_none());
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_said_in_a_sentence() {
        let (_directory, missing) = run();
        let mut inputs = load(missing).unwrap();
        let failed = |input| match input {
            Some(Input::LoadFailed { reason, .. }) => reason,
            other => panic!("{other:?}"),
        };
        assert!(failed(inputs.recv().await).contains("has no journal"));
        // Once.
        assert!(inputs.recv().await.is_none());

        let (_directory, newer) = run();
        let line = r#"{"seq":1,"event":{"type":"run_started","data":{"format_version":99}}}"#;
        fs::write(newer.journal(), format!("{line}\n")).unwrap();
        let mut inputs = load(newer).unwrap();
        assert!(failed(inputs.recv().await).contains("Upgrade ralph"));

        let (_directory, cut) = run();
        fs::write(cut.journal(), lines(1..=3)).unwrap();
        let mut inputs = load(cut.clone()).unwrap();
        assert!(matches!(inputs.recv().await, Some(Input::Loaded(_))));
        fs::write(cut.journal(), lines(1..=1)).unwrap();
        assert!(failed(inputs.recv().await).contains("open the run again"));
    }
}
