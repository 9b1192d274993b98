//! `Gatherer`: reads new records from the journals of all runs, merged roughly by time, for the index writer.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;

use ralph_run::restore_text;
use serde::{Deserialize, Serialize};

use super::extract::{ToolUse, extract};
use super::filters::{self, Filter};
use super::kinds;
use super::lines::journal_of;
use super::words::each_word;
use ralph_run::RecordHead;

/// How much of a journal is read before it is another one's turn.
const CHUNK_BYTES: u64 = 256 * 1024;
/// A line that is longer is no record.
const LINE_BYTES: u64 = 16 * 1024 * 1024;
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
    /// Where to go on, and where to stop.
    pub(crate) offset: u64,
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
    pub(crate) offset: u64,
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
    pub(crate) offset: u64,
    pub(crate) seq: u64,
    pub(crate) at: i64,
    pub(crate) calls: Calls,
}

/// Reads several journals.
#[derive(Debug)]
pub(crate) struct Gatherer {
    directory: PathBuf,
    runs: Vec<Pending>,
    turns: BinaryHeap<Reverse<(i64, usize)>>,
    buffer: Vec<u8>,
    text: String,
}

impl Gatherer {
    pub(crate) fn new(directory: PathBuf, runs: Vec<Pending>) -> Self {
        let turns = runs
            .iter()
            .enumerate()
            .map(|(index, run)| Reverse((run.at, index)))
            .collect();
        Self {
            directory,
            runs,
            turns,
            buffer: Vec::new(),
            text: String::new(),
        }
    }

    /// The next records; none when everything has been read.
    pub(crate) fn next_batch(&mut self) -> Option<Batch> {
        let mut batch = Batch::default();
        let mut touched = BTreeSet::new();
        let starts: Vec<u64> = self.runs.iter().map(|run| run.offset).collect();
        while batch.words.len() < BATCH_BYTES && batch.rows.len() < BATCH_ROWS {
            let Some(Reverse((_, index))) = self.turns.pop() else {
                break;
            };
            match self.read_chunk(index, &mut batch) {
                Ok(0) => {}
                Ok(_) => {
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

    /// Reads on in one journal. Says how many bytes; 0 if there is no whole line more.
    fn read_chunk(&mut self, index: usize, batch: &mut Batch) -> io::Result<u64> {
        let run = &mut self.runs[index];
        let left = run.up_to.saturating_sub(run.offset);
        if left == 0 {
            return Ok(0);
        }
        let mut file = File::open(journal_of(&self.directory, &run.name))?;
        let mut asked = CHUNK_BYTES;
        let whole = loop {
            file.seek(SeekFrom::Start(run.offset))?;
            self.buffer.clear();
            let length = file
                .by_ref()
                .take(left.min(asked))
                .read_to_end(&mut self.buffer)? as u64;
            match memchr::memrchr(b'\n', &self.buffer) {
                Some(end) => break end + 1,
                // There is nothing more, or the file is shorter than it was.
                None if length < asked => return Ok(0),
                None if asked < LINE_BYTES => asked *= 8,
                None => break self.buffer.len(),
            }
        };
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &self.buffer[..whole]) {
            run.take_line(&self.buffer[start..end], &mut file, &mut self.text, batch);
            start = end + 1;
        }
        run.offset += (whole - start) as u64;
        Ok(whole as u64)
    }
}

impl Pending {
    fn take_line(&mut self, line: &[u8], journal: &mut File, text: &mut String, batch: &mut Batch) {
        let offset = self.offset;
        self.offset += line.len() as u64 + 1;
        let restored = restore_text(line, offset, journal).unwrap_or(Cow::Borrowed(line));
        let Some(head) = RecordHead::parse(&restored) else {
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
            offset,
            length: u32::try_from(line.len()).unwrap_or(u32::MAX),
            kind,
            words: start..out.len(),
        });
    }

    fn mark(&self, from: u64) -> Mark {
        Mark {
            run: self.run,
            name: self.name.clone(),
            from,
            offset: self.offset,
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
