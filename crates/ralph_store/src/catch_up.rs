//! `catch_up`: brings an index up to date with the journals of a runs directory.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use ralph_run::JournalReader;
use tokio::sync::mpsc;

use crate::error::StoreError;
use crate::fold::RunFold;
use crate::resume::resume_point_in;
use crate::rows::{Batch, IndexedRun, Progress};
use crate::store::Store;

pub(crate) const JOURNAL: &str = "journal.ndjson";

/// How much goes into one commit. Larger ones are hardly faster and need more memory.
const RECORDS_AT_A_TIME: usize = 16_384;
const BYTES_AT_A_TIME: u64 = 16 << 20;
/// Another task can index a run at the same time: then the run is compared again.
const MAX_PASSES: usize = 3;

/// How far it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CatchUpProgress {
    /// Bytes of journals that were taken in.
    pub bytes: u64,
    /// Bytes there are to take in.
    pub all_bytes: u64,
    /// Runs that have something new.
    pub runs: usize,
}

/// What was taken in.
#[derive(Debug, Default)]
pub struct CaughtUp {
    /// Runs that had something new.
    pub runs: usize,
    /// Records that are new.
    pub records: u64,
    /// Bytes of journals that were read.
    pub bytes: u64,
    /// Lines that are no records.
    pub damaged: u64,
    /// Runs whose directory is gone, and which were forgotten.
    pub removed: Vec<String>,
    /// Journals that could not be read, and why. The others were.
    pub unreadable: Vec<(String, io::Error)>,
}

/// Takes in what the index lacks of the runs in a directory, and forgets runs that are gone. Of a run of which nothing
/// is new only the size is looked at.
///
/// # Errors
/// When the runs cannot be listed, or there is no such directory and the index has runs, or the index fails. What was taken in before counts.
pub async fn catch_up(
    store: &dyn Store,
    runs_directory: &Path,
    on_progress: impl FnMut(CatchUpProgress) + Send,
) -> Result<CaughtUp, StoreError> {
    catch_up_runs(store, runs_directory, |_| true, on_progress).await
}

/// As [`catch_up`], for the runs that `is_wanted` names; the others are left as they are.
///
/// # Errors
/// As [`catch_up`].
pub async fn catch_up_runs(
    store: &dyn Store,
    runs_directory: &Path,
    is_wanted: impl Fn(&str) -> bool + Send + Sync + Clone + 'static,
    mut on_progress: impl FnMut(CatchUpProgress) + Send,
) -> Result<CaughtUp, StoreError> {
    let mut caught_up = CaughtUp::default();
    for _ in 0..MAX_PASSES {
        if !pass(
            store,
            runs_directory,
            is_wanted.clone(),
            &mut caught_up,
            &mut on_progress,
        )
        .await?
        {
            break;
        }
    }
    Ok(caught_up)
}

/// Forgets all runs and takes them in again, as they are on the disk now.
///
/// # Errors
/// As [`catch_up`].
pub async fn reindex(
    store: &dyn Store,
    runs_directory: &Path,
    on_progress: impl FnMut(CatchUpProgress) + Send,
) -> Result<CaughtUp, StoreError> {
    store.clear().await?;
    catch_up(store, runs_directory, on_progress).await
}

/// A journal that has something new.
#[derive(Debug)]
struct Behind {
    run: String,
    known_bytes: u64,
    bytes: u64,
}

/// Looks at everything once. Says whether to look again.
async fn pass(
    store: &dyn Store,
    runs_directory: &Path,
    is_wanted: impl Fn(&str) -> bool + Send + 'static,
    caught_up: &mut CaughtUp,
    on_progress: &mut (impl FnMut(CatchUpProgress) + Send),
) -> Result<bool, StoreError> {
    let known = store.indexed_runs().await?;
    let directory = runs_directory.to_owned();
    let compared = blocking(move || compare(&directory, known, is_wanted)).await?;
    let Compared {
        behind,
        gone,
        unreadable,
    } = compared?;
    // All runs are looked at again each time.
    caught_up.unreadable = unreadable;
    if !gone.is_empty() {
        store.remove(&gone).await?;
        // One that was cut is there still, and is read from the start.
        caught_up
            .removed
            .extend(gone.into_iter().filter(|run| !runs_directory.join(run).is_dir()));
    }
    if behind.is_empty() {
        return Ok(false);
    }
    let mut progress = CatchUpProgress {
        bytes: 0,
        all_bytes: behind
            .iter()
            .map(|behind| behind.bytes - behind.known_bytes)
            .sum(),
        runs: behind.len(),
    };
    caught_up.runs += behind.len();
    on_progress(progress);

    let (give_task, tasks) = mpsc::channel(8);
    let (give_parcel, mut parcels) = mpsc::channel(1);
    let directory: Arc<Path> = runs_directory.into();
    let keeps_lines = store.keeps_lines();
    let reader = tokio::task::spawn_blocking(move || {
        Reader::new(give_parcel, keeps_lines).read_all(&directory, tasks)
    });
    let feed = async move {
        let mut unreadable = Vec::new();
        for behind in behind {
            let journal = runs_directory.join(&behind.run).join(JOURNAL);
            let resume = match behind.known_bytes {
                0 => Ok(None),
                _ => resume_point_in(store, &behind.run, &journal).await,
            };
            let resume = match resume {
                Err(StoreError::Journal { source, .. }) => {
                    // It may have been removed a moment ago.
                    if source.kind() != io::ErrorKind::NotFound {
                        unreadable.push((behind.run, source));
                    }
                    continue;
                }
                resume => resume?,
            };
            if give_task.send((behind.run, resume)).await.is_err() {
                break;
            }
        }
        Ok::<_, StoreError>(unreadable)
    };
    let take = async {
        let taken = async {
            let mut disconnected = 0;
            while let Some(Parcel { batches, bytes }) = parcels.recv().await {
                let ingested = store.ingest(batches).await?;
                caught_up.records += ingested.records;
                disconnected += ingested.disconnected.len();
                progress.bytes += bytes;
                // One that is read again from its start has more than was thought.
                progress.all_bytes = progress.all_bytes.max(progress.bytes);
                on_progress(progress);
            }
            Ok::<usize, StoreError>(disconnected)
        }
        .await;
        // So that the reader does not wait for us if the index fails.
        parcels.close();
        taken
    };
    let (fed, disconnected) = tokio::join!(feed, take);
    let read = reader
        .await
        .map_err(|error| StoreError::Database(error.to_string()))?;
    caught_up.bytes += progress.bytes;
    caught_up.damaged += read.damaged;
    caught_up.unreadable.extend(read.unreadable);
    let disconnected = disconnected?;
    caught_up.unreadable.extend(fed?);
    Ok(disconnected > 0)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work);
    done.await
        .map_err(|error| StoreError::Database(error.to_string()))
}

/// What the index lacks, and what it has too much.
#[derive(Debug, Default)]
struct Compared {
    /// Newest runs first.
    behind: Vec<Behind>,
    /// What has to be forgotten.
    gone: Vec<String>,
    /// Runs whose journals cannot be looked at.
    unreadable: Vec<(String, io::Error)>,
}

fn compare(
    runs_directory: &Path,
    known: Vec<IndexedRun>,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Compared, StoreError> {
    let may_be_missing = known.is_empty();
    let mut known: HashMap<String, IndexedRun> = known
        .into_iter()
        .map(|known| (known.run.clone(), known))
        .collect();
    let mut compared = Compared::default();
    for run in list(runs_directory, may_be_missing)? {
        let indexed = known.remove(&run);
        // Asked once for each run: the answer can change at any time, and a run must not be skipped here by one answer
        // and counted as gone by another.
        if !is_wanted(&run) {
            continue;
        }
        let is_current = indexed.as_ref().is_none_or(|known| known.is_current);
        let known_bytes = indexed.map(|known| known.offset);
        let metadata = match fs::metadata(runs_directory.join(&run).join(JOURNAL)) {
            Ok(metadata) => metadata,
            // No journal yet, or no run at all.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                if known_bytes.is_some() {
                    compared.gone.push(run);
                }
                continue;
            }
            // It is there, so it must not be forgotten.
            Err(error) => {
                compared.unreadable.push((run, error));
                continue;
            }
        };
        let bytes = metadata.len();
        if !is_current {
            // What is read from the start replaces the rows that another version of the fold made.
            compared.behind.push(Behind {
                run,
                known_bytes: 0,
                bytes,
            });
        } else if known_bytes.is_some_and(|known_bytes| known_bytes > bytes) {
            compared.gone.push(run.clone());
            compared.behind.push(Behind {
                run,
                known_bytes: 0,
                bytes,
            });
        } else if known_bytes.unwrap_or(0) < bytes {
            compared.behind.push(Behind {
                run,
                known_bytes: known_bytes.unwrap_or(0),
                bytes,
            });
        }
    }
    // The directory has none of these.
    compared
        .gone
        .extend(known.into_keys().filter(|run| is_wanted(run)));
    let newest_first = |one: &Behind, other: &Behind| other.run.cmp(&one.run);
    compared.behind.sort_unstable_by(newest_first);
    Ok(compared)
}

/// Directories that may be runs. What is being made or removed begins with a dot. That there is no directory is in order
/// only if the index has no runs: a disk that is not mounted must not empty the index.
fn list(runs_directory: &Path, may_be_missing: bool) -> Result<Vec<String>, StoreError> {
    let fail = |source| StoreError::Journal {
        path: runs_directory.to_owned(),
        source,
    };
    let entries = match fs::read_dir(runs_directory) {
        Ok(entries) => entries,
        Err(error) if may_be_missing && error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fail(error)),
    };
    let mut runs = Vec::new();
    for entry in entries {
        let name = entry.map_err(fail)?.file_name();
        if let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) {
            runs.push(name.to_owned());
        }
    }
    Ok(runs)
}

/// What is taken in at once.
#[derive(Debug, Default)]
struct Parcel {
    batches: Vec<Batch>,
    bytes: u64,
}

/// Reads and folds, on a thread of its own.
struct Reader {
    parcels: mpsc::Sender<Parcel>,
    parcel: Parcel,
    records: usize,
    keeps_lines: bool,
    read: Read,
    /// For the lines of a journal.
    buffer: Vec<u8>,
}

#[derive(Debug, Default)]
struct Read {
    damaged: u64,
    unreadable: Vec<(String, io::Error)>,
}

/// The receiver of parcels is closed.
struct Unwanted;

impl Reader {
    fn new(parcels: mpsc::Sender<Parcel>, keeps_lines: bool) -> Self {
        Self {
            parcels,
            keeps_lines,
            parcel: Parcel::default(),
            records: 0,
            read: Read::default(),
            buffer: Vec::new(),
        }
    }

    fn read_all(
        mut self,
        runs_directory: &Path,
        mut tasks: mpsc::Receiver<(String, Option<Progress>)>,
    ) -> Read {
        while let Some((run, resume)) = tasks.blocking_recv() {
            let journal = runs_directory.join(&run).join(JOURNAL);
            match self.read_run(&run, resume, &journal) {
                Ok(Ok(())) => {}
                Ok(Err(Unwanted)) => return self.read,
                // It was removed a moment ago.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => self.read.unreadable.push((run, error)),
            }
        }
        // It is the last one, so a closed receiver changes nothing.
        let _ = self.send();
        self.read
    }

    fn read_run(
        &mut self,
        run: &str,
        resume: Option<Progress>,
        journal: &Path,
    ) -> io::Result<Result<(), Unwanted>> {
        let fold = resume.map_or_else(|| RunFold::named(run), RunFold::resume);
        let mut fold = fold.keeping_lines(self.keeps_lines);
        let known = fold.damaged();
        let mut journal = JournalReader::open_at(journal, fold.offset())?;
        let mut begun = fold.offset();
        loop {
            let has_more = journal.read(&mut self.buffer, |item| {
                fold.push_item(&item);
            })?;
            let bytes = self.parcel.bytes + fold.offset() - begun;
            if self.records + fold.waiting() >= RECORDS_AT_A_TIME || bytes >= BYTES_AT_A_TIME {
                self.pack(&mut fold, &mut begun);
                if self.send().is_err() {
                    return Ok(Err(Unwanted));
                }
            }
            if !has_more {
                break;
            }
        }
        self.pack(&mut fold, &mut begun);
        self.read.damaged += fold.damaged() - known;
        Ok(Ok(()))
    }

    fn pack(&mut self, fold: &mut RunFold, begun: &mut u64) {
        self.parcel.bytes += fold.offset() - std::mem::replace(begun, fold.offset());
        if let Some(batch) = fold.take() {
            self.records += batch.records.len();
            self.parcel.batches.push(batch);
        }
    }

    fn send(&mut self) -> Result<(), Unwanted> {
        self.records = 0;
        let parcel = std::mem::take(&mut self.parcel);
        self.parcels.blocking_send(parcel).map_err(|_| Unwanted)
    }
}
