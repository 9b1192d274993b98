//! `LocalJournals`: the runs in a state directory of this machine.

use std::borrow::Cow;
use std::io;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;

use super::follow::{FollowEnd, JournalSink};
use super::follower_threads::FollowerThreads;
use super::journals::{JournalChunk, JournalHead, JournalText, Journals, Place, ReadItem, RunPresence};
use crate::home::Home;
use crate::journal::{JournalItem, JournalMatch, JournalPage, JournalReader, PageQuery};

/// The runs of a [`Home`]. Files are read on threads for blocking work: a disk that does not answer delays no other
/// request.
#[derive(Debug, Clone)]
pub struct LocalJournals {
    home: Home,
    /// Started when the first journal is followed.
    followers: Arc<OnceLock<Option<FollowerThreads>>>,
}

impl LocalJournals {
    pub fn new(home: Home) -> Self {
        Self {
            home,
            followers: Arc::default(),
        }
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
                has_journal: run.journal().exists(),
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

    async fn read(
        &self,
        run: &str,
        from: Place,
        to: Option<Place>,
        max_bytes: u64,
        text: JournalText,
    ) -> io::Result<JournalChunk> {
        self.with_journal(run, move |journal| {
            let mut reader = journal.reopened(from.into())?;
            let end = to.map_or(u64::MAX, u64::from);
            let (mut items, mut buffer, mut has_more) = (Vec::new(), Vec::new(), true);
            while has_more && (items.is_empty() || Place::from(reader.offset()).bytes_since(from) < max_bytes)
            {
                has_more = reader.read_until(end, &mut buffer, |item| items.push(read_item(&item, text)))?;
            }
            Ok(JournalChunk {
                items,
                end: reader.offset().into(),
                is_end: !has_more,
            })
        })
        .await
    }

    fn follow(&self, run: &str, from: Place, mut sink: Box<dyn JournalSink>) {
        let followers = self.followers.get_or_init(|| {
            let threads = FollowerThreads::spawn();
            threads
                .inspect_err(|error| tracing::error!(%error, "cannot start threads to follow journals"))
                .ok()
        });
        match followers {
            Some(threads) => {
                let path = self.home.run_directory(run.to_owned()).journal();
                threads.follow(path, from.into(), sink);
            }
            None => sink.on_end(FollowEnd::Failed(io::Error::other(
                "there is no thread to follow it",
            ))),
        }
    }

    async fn compare(&self, run: &str, epoch: &str, seq: u64, place: Place) -> io::Result<JournalMatch> {
        let epoch = epoch.to_owned();
        self.with_journal(run, move |journal| journal.compare(&epoch, seq, place.into()))
            .await
    }
}

fn read_item(item: &JournalItem<'_>, text: JournalText) -> ReadItem {
    let line = match item {
        JournalItem::Overlong(bytes) => return ReadItem::Overlong { bytes: *bytes },
        JournalItem::Line(line) => line,
    };
    let bytes = match text {
        JournalText::AsWritten => Cow::Borrowed(line.bytes),
        JournalText::Restored => line.restored(),
    };
    ReadItem::Line {
        start: line.start.into(),
        end: line.end().into(),
        line: match bytes {
            Cow::Borrowed(bytes) => Bytes::copy_from_slice(bytes),
            Cow::Owned(bytes) => bytes.into(),
        },
    }
}
