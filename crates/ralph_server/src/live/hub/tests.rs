//! What the hub makes of journals that cannot be followed.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use ralph_run::ports::{
    FollowEnd, JournalChunk, JournalHead, JournalSink, JournalText, Journals, LocalJournals, Place,
    RunPresence,
};
use ralph_run::{Home, JournalMatch, JournalPage, PageQuery, RunDirectory};
use ralph_store::{SqliteOptions, SqliteStore};
use tempfile::TempDir;

use super::Hub;

/// Journals of a disk that fails as long as `is_broken`. The runs are active until their end is written.
#[derive(Debug)]
struct Failing {
    journals: LocalJournals,
    is_broken: AtomicBool,
    is_active: AtomicBool,
}

#[async_trait]
impl Journals for Failing {
    async fn presence(&self, run: &str) -> Option<RunPresence> {
        let presence = self.journals.presence(run).await?;
        Some(RunPresence {
            is_active: self.is_active.load(Ordering::Relaxed),
            ..presence
        })
    }

    async fn active(&self) -> io::Result<Vec<String>> {
        let runs = self.journals.active().await?;
        Ok(match self.is_active.load(Ordering::Relaxed) {
            true => runs,
            false => Vec::new(),
        })
    }

    async fn new_run_id(&self, at: Timestamp) -> String {
        self.journals.new_run_id(at).await
    }

    async fn head(&self, run: &str) -> io::Result<Option<JournalHead>> {
        self.journals.head(run).await
    }

    async fn page(&self, run: &str, query: PageQuery) -> io::Result<JournalPage> {
        self.journals.page(run, query).await
    }

    async fn find_after(&self, run: &str, seq: u64) -> io::Result<Place> {
        self.journals.find_after(run, seq).await
    }

    async fn read(
        &self,
        run: &str,
        from: Place,
        to: Option<Place>,
        max_bytes: u64,
        text: JournalText,
    ) -> io::Result<JournalChunk> {
        self.journals.read(run, from, to, max_bytes, text).await
    }

    fn follow(&self, run: &str, from: Place, mut sink: Box<dyn JournalSink>) {
        if self.is_broken.load(Ordering::Relaxed) {
            sink.on_end(FollowEnd::Failed(io::Error::other("broken")));
        } else {
            self.journals.follow(run, from, sink);
        }
    }

    async fn compare(&self, run: &str, epoch: &str, seq: u64, place: Place) -> io::Result<JournalMatch> {
        self.journals.compare(run, epoch, seq, place).await
    }
}

fn line(seq: u64, kind: &str, data: &str) -> String {
    format!(
        r#"{{"seq":{seq},"at":"2026-01-01T00:00:00Z","iteration":0,"attempt":0,"event":{{"type":"{kind}","data":{data}}}}}"#
    ) + "\n"
}

fn start(home: &Home) -> RunDirectory {
    let run = home.create_run("2026-01-01T00:00:00Z".parse().unwrap()).unwrap();
    let data = format!(
        r#"{{"format_version":1,"run_id":"{}","ralph_version":"0.1.0","workspace":"/w","backend":"demo","display_name":"Demo","max_iterations":1}}"#,
        run.id()
    );
    fs::write(run.journal(), line(1, "run_started", &data)).unwrap();
    run
}

fn end(run: &Path) {
    let data = r#"{"reason":"completed","exit_code":0,"iterations":1,"totals":{}}"#;
    let journal = fs::read_to_string(run).unwrap() + &line(2, "run_ended", data);
    fs::write(run, journal).unwrap();
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let look = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), look)
        .await
        .unwrap_or_else(|_| panic!("{what}"));
}

async fn open(directory: &TempDir) -> (Home, std::sync::Arc<Failing>, std::sync::Arc<Hub>) {
    let home = Home::new(directory.path().join("state"), None);
    let options = SqliteOptions {
        data_directory: directory.path().join("data"),
        runs_directory: home.runs_directory(),
        home: None,
    };
    let store = SqliteStore::open(options).await.unwrap().store;
    let journals = std::sync::Arc::new(Failing {
        journals: LocalJournals::new(home.clone()),
        is_broken: AtomicBool::new(false),
        is_active: AtomicBool::new(true),
    });
    let hub = Hub::new(journals.clone(), std::sync::Arc::new(store));
    (home, journals, hub)
}

#[tokio::test]
async fn a_run_that_ended_while_its_journal_could_not_be_followed_does_not_stay_active() {
    let directory = tempfile::tempdir().unwrap();
    let (home, journals, hub) = open(&directory).await;
    let run = start(&home);
    journals.is_broken.store(true, Ordering::Relaxed);
    let work = tokio::spawn(hub.clone().work());
    until("it is tried", || !hub.follow_states.failed().is_empty()).await;
    end(&run.journal());
    journals.is_active.store(false, Ordering::Relaxed);
    journals.is_broken.store(false, Ordering::Relaxed);
    until("it is let go", || !hub.follow_states.has(run.id())).await;
    assert!(hub.board().get(run.id()).is_none());
    work.abort();
}

#[tokio::test]
async fn a_run_that_was_deleted_while_its_journal_could_not_be_followed_is_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let (home, journals, hub) = open(&directory).await;
    let run = start(&home);
    journals.is_broken.store(true, Ordering::Relaxed);
    let work = tokio::spawn(hub.clone().work());
    until("it is tried", || !hub.follow_states.failed().is_empty()).await;
    fs::remove_dir_all(run.path()).unwrap();
    until("it is forgotten", || !hub.follow_states.has(run.id())).await;
    work.abort();
}
