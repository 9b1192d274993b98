//! `LocalJournals`: the runs in a state directory of this machine.

use std::io;

use async_trait::async_trait;
use jiff::Timestamp;

use super::journals::{JournalHead, Journals, Place, RunPresence};
use crate::home::Home;
use crate::journal::{JournalMatch, JournalPage, JournalReader, PageQuery};

/// The runs of a [`Home`]. Files are read on threads for blocking work: a disk that does not answer delays no other
/// request.
#[derive(Debug, Clone)]
pub struct LocalJournals {
    home: Home,
}

impl LocalJournals {
    pub fn new(home: Home) -> Self {
        Self { home }
    }

    async fn with_home<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Home) -> T + Send + 'static,
    ) -> io::Result<T> {
        let home = self.home.clone();
        tokio::task::spawn_blocking(move || work(&home))
            .await
            .map_err(io::Error::other)
    }

    async fn with_journal<T: Send + 'static>(
        &self,
        run: &str,
        work: impl FnOnce(&JournalReader) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let run = run.to_owned();
        self.with_home(move |home| work(&open(home, &run)?)).await?
    }
}

fn open(home: &Home, run: &str) -> io::Result<JournalReader> {
    let run = home.run(run).ok_or(io::ErrorKind::NotFound)?;
    JournalReader::open(&run.journal())
}

#[async_trait]
impl Journals for LocalJournals {
    async fn presence(&self, run: &str) -> Option<RunPresence> {
        let id = run.to_owned();
        let look = self.with_home(move |home| {
            let run = home.run(&id)?;
            Some(RunPresence {
                is_started: run.run_file().exists(),
                is_active: home.is_active(&id),
            })
        });
        look.await.unwrap_or_else(|error| {
            tracing::error!(%error, run, "cannot look for a run");
            None
        })
    }

    async fn active(&self) -> io::Result<Vec<String>> {
        let list = self.with_home(Home::list_active).await?;
        let runs = list.map_err(io::Error::other)?;
        Ok(runs.iter().map(|run| run.id().to_owned()).collect())
    }

    async fn new_run_id(&self, at: Timestamp) -> String {
        let drawn = self.with_home(move |home| home.new_run_id(at)).await;
        drawn.unwrap_or_else(|_| self.home.new_run_id(at))
    }

    async fn head(&self, run: &str) -> io::Result<Option<JournalHead>> {
        self.with_journal(run, |journal| {
            let Some((seq, end)) = journal.last()? else {
                return Ok(None);
            };
            Ok(Some(JournalHead {
                epoch: journal.epoch()?,
                seq,
                end: end.into(),
            }))
        })
        .await
    }

    async fn page(&self, run: &str, query: PageQuery) -> io::Result<JournalPage> {
        self.with_journal(run, move |journal| journal.page(&query)).await
    }

    async fn find_after(&self, run: &str, seq: u64) -> io::Result<Place> {
        self.with_journal(run, move |journal| Ok(journal.find_after(seq)?.into()))
            .await
    }

    async fn compare(&self, run: &str, epoch: &str, seq: u64, place: Place) -> io::Result<JournalMatch> {
        let epoch = epoch.to_owned();
        self.with_journal(run, move |journal| journal.compare(&epoch, seq, place.into()))
            .await
    }
}
