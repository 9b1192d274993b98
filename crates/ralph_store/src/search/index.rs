//! `TextIndex`: the search index with its writer thread and its reading connections.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use ralph_run::JournalReader;
use rusqlite::Connection;

use super::gather::{Gatherer, JournalSource};
use super::journal_lines::journal_of;
use super::schema::{self, Opened, explain};
use super::scope::Scope;
use super::{find, removal, scan, write};
use crate::columns::bounded;
use crate::error::StoreError;
use crate::query::{SearchMode, SearchPage, SearchQuery};
use crate::summary::RunSummary;

/// Readers that wait for the next search.
const IDLE_READERS: usize = 4;
/// After this time a page of ranked hits ends, and the next page continues.
const PAGE_TIME_LIMIT: Duration = Duration::from_millis(15);
/// How much is put together between two looks at the clock.
const MERGE_PAGES: i64 = 250;

/// Where the text index and the journals are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchOptions {
    /// The index's file, such as `search.db`. Its directory must exist.
    pub path: PathBuf,
    /// Where the runs are.
    pub runs_directory: PathBuf,
}

/// How far a run has been indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indexed {
    /// The run.
    pub run: String,
    /// Which journal of that name.
    pub epoch: String,
    /// How much of its journal.
    pub offset: u64,
    /// Its last record there.
    pub seq: u64,
}

/// An index of the words in journals. It reads them itself, from where it stopped, and writes what it found together
/// with where it stopped: so it loses nothing and has nothing twice. Everything in it can be rebuilt; a damaged file
/// is moved aside, and the next [`TextIndex::index_runs`] begins from the start.
///
/// All methods block.
#[derive(Debug)]
pub struct TextIndex {
    options: SearchOptions,
    state: RwLock<State>,
    /// Only one reads journals at a time.
    gathering: Mutex<()>,
}

#[derive(Debug)]
struct State {
    /// How often the file has been replaced.
    generation: u64,
    opened: Opened,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
}

impl State {
    fn open(options: &SearchOptions) -> Result<Self, StoreError> {
        let (writer, opened) = schema::open_writer(&options.path)?;
        Ok(Self {
            generation: 0,
            opened,
            writer: Mutex::new(writer),
            readers: Mutex::new(Vec::new()),
        })
    }
}

impl TextIndex {
    /// Opens the index, or makes a new one. A damaged file is moved aside, a file of a newer version is left alone and
    /// another one is used beside it.
    ///
    /// # Errors
    /// When there cannot be one: no room, no such directory, no right to write there.
    pub fn open(options: SearchOptions) -> Result<Self, StoreError> {
        let state = State::open(&options)?;
        Ok(Self {
            options,
            state: RwLock::new(state),
            gathering: Mutex::new(()),
        })
    }

    /// Moves the file aside, so that the next open creates a new one. Returns where it is; none if there was none.
    ///
    /// # Errors
    /// When it cannot be moved.
    pub fn replace(options: &SearchOptions) -> Result<Option<PathBuf>, StoreError> {
        schema::replace(&options.path)
    }

    /// Where a damaged file was moved to, if there was one.
    #[must_use]
    pub fn moved_to(&self) -> Option<PathBuf> {
        self.state
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .opened
            .moved_to
            .clone()
    }

    /// Indexes what a run's journal has up to some place. Says how many records had words.
    ///
    /// # Errors
    /// When the index cannot be written. A journal that cannot be read is left for the next time.
    pub fn index_run(&self, run: &RunSummary, up_to: u64) -> Result<u64, StoreError> {
        self.index_runs(&[(run, up_to)])
    }

    /// Indexes what several runs' journals have, in the order of time: the order of hits is best when all that is new
    /// is given at once. In between, other threads can search and remove.
    ///
    /// # Errors
    /// As [`TextIndex::index_run`]. What was written before counts.
    pub fn index_runs(&self, runs: &[(&RunSummary, u64)]) -> Result<u64, StoreError> {
        let count = self.index_new(runs)?;
        self.delete_removed()?;
        Ok(count)
    }

    fn index_new(&self, runs: &[(&RunSummary, u64)]) -> Result<u64, StoreError> {
        let _gathering = lock(&self.gathering);
        let directory = &self.options.runs_directory;
        let pending = self.write(|writer| {
            write::pending(writer, runs, |run, offset, seq| {
                // A journal that cannot be read now is left for the next time.
                JournalReader::open(&journal_of(directory, run))
                    .and_then(|journal| journal.stands_at(offset, seq))
                    .unwrap_or(true)
            })
        })?;
        if pending.is_empty() {
            return Ok(0);
        }
        let mut gatherer = Gatherer::new(JournalSource::new(directory.clone()), pending);
        thread::scope(|scope| {
            // While one batch is written, the next is read.
            let (sender, receiver) = sync_channel(0);
            scope.spawn(move || {
                while let Some(batch) = gatherer.next_batch() {
                    if sender.send(batch).is_err() {
                        break;
                    }
                }
            });
            let mut count = 0;
            for batch in receiver {
                count += self.write(|writer| write::write_batch(writer, &batch))?;
            }
            Ok(count)
        })
    }

    /// How far each run has been indexed.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn indexed(&self) -> Result<Vec<Indexed>, StoreError> {
        self.read(|reader| {
            let sql = format!(
                "SELECT name, epoch, offset, seq FROM run WHERE {}",
                removal::IS_HERE
            );
            let mut statement = reader.prepare_cached(&sql).map_err(explain)?;
            let rows = statement.query_map([], |row| {
                Ok(Indexed {
                    run: row.get(0)?,
                    epoch: row.get(1)?,
                    offset: row.get::<_, i64>(2)?.unsigned_abs(),
                    seq: row.get::<_, i64>(3)?.unsigned_abs(),
                })
            });
            rows.and_then(Iterator::collect).map_err(explain)
        })
    }

    /// A page of what contains what is asked for. The lag is not known here and given as 0. A page that would take
    /// too long has fewer hits, or none, and says where to continue.
    ///
    /// # Errors
    /// When the text has no words, the cursor is of another question, or the index cannot be read.
    pub fn search(&self, query: &SearchQuery) -> Result<SearchPage, StoreError> {
        self.read(|reader| search_with(reader, &self.options.runs_directory, query))
    }

    /// Forgets runs.
    ///
    /// # Errors
    /// When the index cannot be written.
    pub fn remove(&self, runs: &[String]) -> Result<(), StoreError> {
        self.write(|writer| write::remove(writer, runs))?;
        self.delete_removed()
    }

    /// Deletes the records of removed runs, in steps. Which records is asked between two steps, without the writer: then
    /// it is another thread's turn to write.
    fn delete_removed(&self) -> Result<(), StoreError> {
        while let Some(run) = self.read(|reader| removal::marked(reader).map_err(explain))? {
            let mut last = 0;
            loop {
                let records = self.read(|reader| removal::records(reader, run, last).map_err(explain))?;
                let was_there = self.write(|writer| removal::delete(writer, run, &records))?;
                match records.last() {
                    Some(record) if was_there => last = *record,
                    _ => break,
                }
            }
        }
        Ok(())
    }

    /// Forgets those of some runs whose journals are not there any more.
    ///
    /// # Errors
    /// When the index cannot be written.
    pub(crate) fn remove_gone(&self, runs: &[String]) -> Result<(), StoreError> {
        let is_gone = |run: &&String| {
            let looked = journal_of(&self.options.runs_directory, run).symlink_metadata();
            looked.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        };
        let gone: Vec<String> = runs.iter().filter(is_gone).cloned().collect();
        if gone.is_empty() {
            return Ok(());
        }
        self.remove(&gone)
    }

    /// Searches in a file that another process writes, without changing it. New text is found once that process has
    /// indexed it.
    ///
    /// # Errors
    /// As [`TextIndex::search`], or when there is no index of this version.
    pub fn search_beside(options: &SearchOptions, query: &SearchQuery) -> Result<SearchPage, StoreError> {
        search_with(
            &schema::open_beside(&options.path)?,
            &options.runs_directory,
            query,
        )
    }

    /// Forgets everything.
    ///
    /// # Errors
    /// When the index cannot be written.
    pub fn clear(&self) -> Result<(), StoreError> {
        self.write(write::clear)
    }

    /// For idle moments: checks the file once after an unclean stop, deletes what is left of removed runs, and makes
    /// searches faster by merging parts of the index, for about this long. Returns whether there is more to merge.
    ///
    /// # Errors
    /// When the index is damaged (it is a new one then) or cannot be written.
    pub fn maintain(&self, time: Duration) -> Result<bool, StoreError> {
        let until = Instant::now() + time;
        self.check_after_unclean_stop()?;
        self.delete_removed()?;
        while Instant::now() < until {
            if !self.write(|writer| write::merge(writer, MERGE_PAGES))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Ends in good order.
    ///
    /// # Errors
    /// When the index cannot be written.
    pub fn close(&self) -> Result<(), StoreError> {
        let _gathering = lock(&self.gathering);
        self.write(|writer| {
            writer.execute("UPDATE meta SET value = 0 WHERE key = 'is_open'", [])?;
            writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        })
    }

    fn check_after_unclean_stop(&self) -> Result<(), StoreError> {
        let was_unclean = self
            .state
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .opened
            .was_unclean;
        if !was_unclean {
            return Ok(());
        }
        self.read(|reader| {
            let found: String = reader
                .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
                .map_err(explain)?;
            if found == "ok" {
                Ok(())
            } else {
                Err(StoreError::Damaged(found))
            }
        })?;
        self.state
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .opened
            .was_unclean = false;
        Ok(())
    }

    fn write<T>(&self, task: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let (generation, result) = {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            let mut writer = lock(&state.writer);
            (state.generation, task(&mut writer).map_err(explain))
        };
        self.replace_if_damaged(generation, result)
    }

    fn read<T>(&self, task: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let (generation, result) = {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            let idle = lock(&state.readers).pop();
            let reader = idle.map_or_else(|| schema::open_reader(&state.opened.path), Ok);
            let result = reader.and_then(|reader| {
                let result = task(&reader);
                let mut readers = lock(&state.readers);
                if readers.len() < IDLE_READERS {
                    readers.push(reader);
                }
                result
            });
            (state.generation, result)
        };
        self.replace_if_damaged(generation, result)
    }

    /// Moves a damaged index aside and opens a new one. The caller still gets the error.
    fn replace_if_damaged<T>(&self, generation: u64, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(StoreError::Damaged(problem)) = &result {
            let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
            // Another thread may have met the damage, too, and been here first.
            if state.generation == generation {
                tracing::warn!(problem, "the text index is damaged and is rebuilt");
                lock(&state.readers).clear();
                let moved_to = schema::move_aside(&state.opened.path)?;
                *state = State::open(&self.options)?;
                state.generation = generation + 1;
                state.opened.moved_to = Some(moved_to);
            }
        }
        result
    }
}

fn search_with(reader: &Connection, runs: &Path, query: &SearchQuery) -> Result<SearchPage, StoreError> {
    let query = SearchQuery {
        limit: bounded(query.limit),
        ..query.clone()
    };
    let scope = || Scope::of(reader, runs, &query).map_err(explain);
    match query.mode {
        SearchMode::Words => find::find(&query, PAGE_TIME_LIMIT, scope),
        SearchMode::Substring => scan::scan(&query, scope),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{SearchOptions, TextIndex, lock};
    use crate::fold::RunFold;
    use crate::query::SearchQuery;
    use crate::search::{removal, write};
    use crate::summary::RunSummary;

    /// A run of so many records with a word, and how long its journal is.
    fn write_run(options: &SearchOptions, run: &str, records: u64, word: &str) -> (RunSummary, u64) {
        let mut journal = format!(
            r#"{{"seq":1,"at":"2026-01-01T00:00:00Z","iteration":0,"attempt":0,"event":{{"type":"run_started","data":{{"workspace":"/{word}"}}}}}}"#
        );
        let mut fold = RunFold::named(run);
        fold.push(journal.as_bytes());
        journal.push('\n');
        for seq in 2..2 + records {
            journal += &format!(
                r#"{{"seq":{seq},"at":"2026-01-01T00:00:01Z","iteration":1,"attempt":1,"event":{{"agent_kind":"claude_code","type":"text_block","data":{{"item":"i","text":"{word}"}}}}}}"#
            );
            journal.push('\n');
        }
        let directory = options.runs_directory.join(run);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("journal.ndjson"), &journal).unwrap();
        (fold.summary().unwrap().clone(), journal.len() as u64)
    }

    fn count(index: &TextIndex, table: &str) -> i64 {
        let state = index.state.read().unwrap();
        let writer = lock(&state.writer);
        writer
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
            .unwrap()
    }

    fn hits(index: &TextIndex, text: &str) -> usize {
        let query = SearchQuery {
            text: text.to_owned(),
            ..SearchQuery::default()
        };
        index.search(&query).unwrap().hits.len()
    }

    #[test]
    fn a_removed_run_is_never_found_and_goes_step_by_step() {
        let directory = tempfile::tempdir().unwrap();
        let options = SearchOptions {
            path: directory.path().join("search.db"),
            runs_directory: directory.path().join("runs"),
        };
        let index = TextIndex::open(options.clone()).unwrap();
        let (other, other_end) = write_run(&options, "other", 3, "elsewhere");
        let (old, old_end) = write_run(&options, "long", 4_500, "needle");
        assert_eq!(
            index.index_runs(&[(&other, other_end), (&old, old_end)]).unwrap(),
            4_503
        );
        assert!(hits(&index, "needle") > 0);

        index
            .write(|writer| write::remove(writer, &["long".to_owned()]))
            .unwrap();
        assert_eq!(hits(&index, "needle"), 0);
        assert_eq!(index.indexed().unwrap().len(), 1);
        let run = index
            .read(|reader| Ok(removal::marked(reader).unwrap()))
            .unwrap()
            .unwrap();
        let records = index
            .read(|reader| Ok(removal::records(reader, run, 0).unwrap()))
            .unwrap();
        assert!(
            index
                .write(|writer| removal::delete(writer, run, &records))
                .unwrap()
        );
        assert_eq!((count(&index, "record"), count(&index, "run")), (2_503, 2));

        // It comes back before the rest of it is gone, as after a crash.
        let index = TextIndex::open(options.clone()).unwrap();
        let (new, new_end) = write_run(&options, "long", 5, "needle");
        assert_eq!(index.index_run(&new, new_end).unwrap(), 5);
        assert_eq!((count(&index, "record"), count(&index, "run")), (8, 2));
        assert_eq!((hits(&index, "needle"), hits(&index, "elsewhere")), (5, 3));
        // A thread that comes late deletes nothing of others.
        assert!(
            !index
                .write(|writer| removal::delete(writer, run, &records))
                .unwrap()
        );
        assert_eq!(hits(&index, "needle"), 5);
    }
}
