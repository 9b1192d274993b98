//! `Gatherer`: reads the words of new records of all runs, merged roughly by time, for the writer of the text index.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::ops::Range;
use std::path::PathBuf;

use ralph_run::{JournalItem, JournalReader, RecordHead};
use serde::{Deserialize, Serialize};

use super::extract::{ToolUse, extract};
use super::filters::{self, Filter};
use super::journal_lines::journal_of;
use super::kinds;
use super::words::each_word;
use crate::error::StoreError;

/// How much of a journal is read before it is another one's turn.
const CHUNK_BYTES: u64 = 256 * 1024;
/// How many words are written in one transaction, in bytes, and of how many records at most.
const BATCH_BYTES: usize = 16 * 1024 * 1024;
const BATCH_ROWS: usize = 65_536;
/// Calls that have not ended. A call that is older has no words about its tool at its end.
const MAX_CALLS: usize = 256;

/// A run of which there is more to read.
#[derive(Debug)]
pub(crate) struct Pending {
    /// Its number in the index.
    pub(crate) run: i64,
    pub(crate) name: String,
    /// Where to continue, and where to stop: places of the [`LineSource`].
    pub(crate) place: u64,
    pub(crate) up_to: u64,
    pub(crate) seq: u64,
    /// The time of its last record, in milliseconds.
    pub(crate) at: i64,
    pub(crate) calls: Calls,
    /// The words for what narrows a search to this run and its like.
    pub(crate) filters: String,
}

/// Which call is of which tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Calls(VecDeque<(String, String)>);

/// What is written in one transaction.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// In the order of time.
    pub(crate) rows: Vec<Row>,
    /// The words of all rows.
    pub(crate) words: String,
    pub(crate) marks: Vec<Mark>,
}

/// A record with words in it.
#[derive(Debug)]
pub(crate) struct Row {
    /// When, as it says itself, in seconds: by this it is found.
    pub(crate) second: i64,
    /// In milliseconds, and never before a record that it follows: by this it is ordered.
    at: i64,
    pub(crate) run: i64,
    pub(crate) place: u64,
    pub(crate) length: u32,
    pub(crate) kind: u8,
    pub(crate) words: Range<usize>,
}

/// How far a run is after a batch.
#[derive(Debug)]
pub(crate) struct Mark {
    pub(crate) run: i64,
    pub(crate) name: String,
    /// Where the batch begins: it counts only if the index is there.
    pub(crate) from: u64,
    pub(crate) place: u64,
    pub(crate) seq: u64,
    pub(crate) at: i64,
    pub(crate) calls: Calls,
}

/// Lines of a run that were not gathered yet.
#[derive(Debug)]
pub(crate) struct Span {
    /// The number of the run in the index.
    pub(crate) run: i64,
    pub(crate) name: String,
    pub(crate) from: u64,
    pub(crate) up_to: u64,
}

/// Where the lines of records come from. A place is an offset in the journal for one engine, and a record number for the
/// other.
pub(crate) trait LineSource {
    /// Passes on some of the next lines, about 256 KiB: the place, the length as it is kept, and the line with all of its
    /// text. Returns where to continue; that is `from` if there are no more.
    fn read(&mut self, span: &Span, each: &mut dyn FnMut(u64, usize, &[u8])) -> Result<u64, StoreError>;
}

/// The journals in a directory of runs.
#[derive(Debug)]
pub(super) struct JournalSource {
    directory: PathBuf,
    buffer: Vec<u8>,
}

impl JournalSource {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self {
            directory,
            buffer: Vec::new(),
        }
    }
}

/// Reads several runs.
#[derive(Debug)]
pub(crate) struct Gatherer<S> {
    source: S,
    runs: Vec<Pending>,
    turns: BinaryHeap<Reverse<(i64, usize)>>,
    text: String,
}

impl<S: LineSource> Gatherer<S> {
    pub(crate) fn new(source: S, runs: Vec<Pending>) -> Self {
        let turns = runs
            .iter()
            .enumerate()
            .map(|(index, run)| Reverse((run.at, index)))
            .collect();
        Self {
            source,
            runs,
            turns,
            text: String::new(),
        }
    }

    /// Gives back the source.
    pub(crate) fn into_source(self) -> S {
        self.source
    }

    /// The next records; none when everything has been read.
    pub(crate) fn next_batch(&mut self) -> Option<Batch> {
        let mut batch = Batch::default();
        let mut touched = BTreeSet::new();
        let starts: Vec<u64> = self.runs.iter().map(|run| run.place).collect();
        while batch.words.len() < BATCH_BYTES && batch.rows.len() < BATCH_ROWS {
            let Some(Reverse((_, index))) = self.turns.pop() else {
                break;
            };
            match self.read_chunk(index, &mut batch) {
                Ok(false) => {}
                Ok(true) => {
                    touched.insert(index);
                    self.turns.push(Reverse((self.runs[index].at, index)));
                }
                Err(error) => {
                    tracing::debug!(run = self.runs[index].name, %error, "cannot index this journal now")
                }
            }
        }
        batch.rows.sort_by_key(|row| row.at);
        batch.marks = touched
            .into_iter()
            .map(|index| self.runs[index].mark(starts[index]))
            .collect();
        (!batch.marks.is_empty()).then_some(batch)
    }

    /// Reads on in one run. Returns whether there was anything more.
    fn read_chunk(&mut self, index: usize, batch: &mut Batch) -> Result<bool, StoreError> {
        let (source, text) = (&mut self.source, &mut self.text);
        let Some(run) = self.runs.get_mut(index) else {
            return Ok(false);
        };
        let span = Span {
            run: run.run,
            name: run.name.clone(),
            from: run.place,
            up_to: run.up_to,
        };
        if span.from >= span.up_to {
            return Ok(false);
        }
        let before = Undo::of(run, batch);
        let read = source.read(&span, &mut |place, length, line| {
            run.take_line(place, length, line, text, batch);
        });
        match read {
            Ok(place) => {
                run.place = place;
                Ok(place > span.from)
            }
            Err(error) => {
                before.apply(run, batch);
                Err(error)
            }
        }
    }
}

/// Takes back what was read of a chunk that failed. The next job reads the chunk again from its start: lines that stayed
/// in the batch would be indexed twice.
struct Undo {
    rows: usize,
    words: usize,
    seq: u64,
    at: i64,
    calls: Calls,
}

impl Undo {
    fn of(run: &Pending, batch: &Batch) -> Self {
        Self {
            rows: batch.rows.len(),
            words: batch.words.len(),
            seq: run.seq,
            at: run.at,
            calls: run.calls.clone(),
        }
    }

    fn apply(self, run: &mut Pending, batch: &mut Batch) {
        batch.rows.truncate(self.rows);
        batch.words.truncate(self.words);
        run.seq = self.seq;
        run.at = self.at;
        run.calls = self.calls;
    }
}

impl LineSource for JournalSource {
    fn read(&mut self, span: &Span, each: &mut dyn FnMut(u64, usize, &[u8])) -> Result<u64, StoreError> {
        let path = journal_of(&self.directory, &span.name);
        let read = JournalReader::open_at(&path, span.from).and_then(|mut journal| {
            let enough = span.up_to.min(span.from + CHUNK_BYTES);
            while journal.read_until(span.up_to, &mut self.buffer, |item| {
                if let JournalItem::Line(line) = item {
                    each(line.start, line.bytes.len(), &line.restored());
                }
            })? && journal.offset() < enough
            {}
            Ok(journal.offset())
        });
        read.map_err(|source| StoreError::Journal { path, source })
    }
}

impl Pending {
    fn take_line(&mut self, place: u64, length: usize, line: &[u8], text: &mut String, batch: &mut Batch) {
        let Some(head) = RecordHead::parse(line) else {
            return;
        };
        self.seq = head.seq;
        let Some(kind) = kinds::number_of(&head.event.kind) else {
            return;
        };
        let tool_use = extract(&head, text);
        let tool = self.calls.tool_of(&tool_use);
        if text.is_empty() {
            return;
        }
        let at = head.at();
        // A clock that goes back does not put a record before those that it follows.
        self.at = self.at.max(at.as_millisecond());
        let out = &mut batch.words;
        let start = out.len();
        out.push_str(&self.filters);
        out.push(' ');
        filters::write(Filter::Kind(kind), out);
        if let Some(tool) = tool {
            out.push(' ');
            filters::write(Filter::Tool(&tool), out);
        }
        each_word(text, |_, word| {
            out.push(' ');
            out.push_str(word);
        });
        batch.rows.push(Row {
            second: at.as_second(),
            at: self.at,
            run: self.run,
            place,
            length: u32::try_from(length).unwrap_or(u32::MAX),
            kind,
            words: start..out.len(),
        });
    }

    fn mark(&self, from: u64) -> Mark {
        Mark {
            run: self.run,
            name: self.name.clone(),
            from,
            place: self.place,
            seq: self.seq,
            at: self.at,
            calls: self.calls.clone(),
        }
    }
}

impl Calls {
    /// The tool that a record is about.
    fn tool_of(&mut self, tool_use: &ToolUse<'_>) -> Option<String> {
        match tool_use {
            ToolUse::None => None,
            ToolUse::About { name } => Some(name.clone().into_owned()),
            ToolUse::Started { item, name } => {
                if !self.0.iter().any(|(known, _)| known == item) {
                    if self.0.len() == MAX_CALLS {
                        self.0.pop_front();
                    }
                    self.0
                        .push_back((item.clone().into_owned(), name.clone().into_owned()));
                }
                Some(name.clone().into_owned())
            }
            ToolUse::Finished { item } => {
                let index = self.0.iter().position(|(known, _)| known == item)?;
                self.0.remove(index).map(|(_, name)| name)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Calls, Gatherer, LineSource, Pending, Span};
    use crate::error::StoreError;

    /// Has one line in each chunk, which begins a call. The chunk at `broken` fails behind its line.
    struct Chunks {
        broken: u64,
    }

    impl LineSource for Chunks {
        fn read(&mut self, span: &Span, each: &mut dyn FnMut(u64, usize, &[u8])) -> Result<u64, StoreError> {
            let line = format!(
                r#"{{"seq":{seq},"at":"2026-01-01T00:00:0{seq}Z","iteration":1,"attempt":1,"event":{{"agent_kind":"claude_code","type":"tool_started","data":{{"item":"t{seq}","name":"Bash","kind":"execute","input":{{"command":"word"}},"state":"running"}}}}}}"#,
                seq = span.from + 1
            );
            each(span.from, line.len(), line.as_bytes());
            if span.from == self.broken {
                return Err(StoreError::Database("the disk".to_owned()));
            }
            Ok(span.from + 1)
        }
    }

    fn run(number: i64) -> Pending {
        Pending {
            run: number,
            name: format!("run-{number}"),
            place: 0,
            up_to: 3,
            seq: 0,
            at: 0,
            calls: Calls::default(),
            filters: String::new(),
        }
    }

    #[test]
    fn a_chunk_that_fails_half_way_leaves_nothing_in_the_batch() {
        let mut gatherer = Gatherer::new(Chunks { broken: 1 }, vec![run(1)]);
        let batch = gatherer.next_batch().unwrap();
        let places: Vec<u64> = batch.rows.iter().map(|row| row.place).collect();
        assert_eq!(places, [0]);
        assert_eq!(batch.words.len(), batch.rows[0].words.end);
        let [mark] = &batch.marks[..] else {
            panic!("{:?}", batch.marks)
        };
        assert_eq!((mark.place, mark.seq, mark.calls.0.len()), (1, 1, 1));
        assert_eq!(mark.at, 1_767_225_601_000);
        assert!(gatherer.next_batch().is_none());
    }
}
