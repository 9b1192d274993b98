//! `find`: records of a run, those included that the index does not have yet.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use ralph_run::RunDirectory;
use ralph_store::{RecordHead, RecordQuery, RecordRow, RunSummary, StoreError};

use crate::app::App;
use crate::problem::{Problem, ProblemCode};

/// An index that lacks more than this is not waited for by reading.
const MAX_BYTES: u64 = 256 << 20;

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Where the records stand, by seq, as a store gives them.
    pub(super) rows: Vec<RecordRow>,
    /// The last record that is known, a piece of text included.
    pub(super) head_seq: u64,
}

/// Where records of a run stand: those of the index, and those that the journal has behind them.
pub(super) async fn find(
    app: &App,
    run: &RunSummary,
    directory: &RunDirectory,
    query: RecordQuery,
) -> Result<Found, Problem> {
    // The offset comes first: what is taken in between is found twice and not missed.
    let progress = app.store.progress(&run.id).await?;
    // An index of another journal knows nothing of this one.
    let known = progress.filter(|progress| progress.summary.epoch == run.epoch);
    let (offset, indexed) = known.map_or((0, 0), |known| (known.offset, known.summary.head_seq));
    let rows = match offset {
        0 => Vec::new(),
        _ => app.store.records(&run.id, &query).await?,
    };
    let is_backward = query.before.is_some() && query.after.is_none();
    let is_full = !is_backward && rows.len() >= query.limit;
    let is_behind = query
        .before
        .is_none_or(|before| before > indexed.saturating_add(1));
    if is_full || !is_behind {
        let head_seq = run.head_seq.max(indexed);
        return Ok(Found { rows, head_seq });
    }
    let path = directory.journal();
    let scan = Scan {
        path: path.clone(),
        offset,
        indexed,
        query,
        is_backward,
    };
    let found = tokio::task::spawn_blocking(move || scan.find(rows)).await;
    match found {
        Ok(Ok(mut found)) => {
            found.head_seq = found.head_seq.max(run.head_seq);
            Ok(found)
        }
        Ok(Err(error)) if error.kind() == io::ErrorKind::FileTooLarge => {
            let detail = "the index is far behind this run; ask again later";
            Err(Problem::new(ProblemCode::StoreUnavailable, detail).retry_after(5))
        }
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => Err(Problem::no_run(&run.id)),
        Ok(Err(source)) => Err(StoreError::Journal { path, source }.into()),
        Err(error) => Err(Problem::internal("reading a journal failed", &error)),
    }
}

/// Looks through what a journal has behind the index.
struct Scan {
    path: PathBuf,
    offset: u64,
    indexed: u64,
    query: RecordQuery,
    is_backward: bool,
}

impl Scan {
    fn find(self, rows: Vec<RecordRow>) -> io::Result<Found> {
        let mut found: BTreeMap<u64, RecordRow> = rows.into_iter().map(|row| (row.seq, row)).collect();
        let (mut reader, behind) = open(&self.path, self.offset)?;
        let (mut offset, mut head_seq) = (self.offset, self.indexed);
        let mut line = Vec::new();
        loop {
            line.clear();
            reader.read_until(b'\n', &mut line)?;
            if line.pop() != Some(b'\n') {
                // A piece of a line at the end is no record yet.
                return if behind > MAX_BYTES {
                    Err(io::Error::from(io::ErrorKind::FileTooLarge))
                } else {
                    Ok(self.found(found, head_seq))
                };
            }
            let start = offset;
            offset += line.len() as u64 + 1;
            let (Some(head), Ok(length)) = (RecordHead::parse(&line), u32::try_from(line.len())) else {
                continue;
            };
            // The index leaves out numbers that were there before, too.
            if head.seq <= head_seq {
                continue;
            }
            head_seq = head.seq;
            if !self.is_asked_for(&head) {
                continue;
            }
            found.insert(
                head.seq,
                RecordRow {
                    seq: head.seq,
                    at: head.at(),
                    kind: head.event.kind.clone().into_owned(),
                    offset: start,
                    length,
                },
            );
            if found.len() > self.query.limit && self.is_backward {
                found.pop_first();
            } else if found.len() >= self.query.limit && !self.is_backward {
                return Ok(self.found(found, head_seq));
            }
        }
    }

    fn is_asked_for(&self, head: &RecordHead<'_>) -> bool {
        let query = &self.query;
        !head.is_delta()
            && query.after.is_none_or(|after| head.seq > after)
            && query.before.is_none_or(|before| head.seq < before)
            && (query.kinds.is_empty() || query.kinds.iter().any(|kind| *kind == head.event.kind))
    }

    fn found(&self, mut rows: BTreeMap<u64, RecordRow>, head_seq: u64) -> Found {
        while rows.len() > self.query.limit {
            if self.is_backward {
                rows.pop_first();
            } else {
                rows.pop_last();
            }
        }
        Found {
            rows: rows.into_values().collect(),
            head_seq,
        }
    }
}

/// What is there now, behind an offset, and how much that is. A writer that goes on does not keep the reader.
fn open(path: &Path, offset: u64) -> io::Result<(BufReader<io::Take<File>>, u64)> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len().saturating_sub(offset);
    file.seek(SeekFrom::Start(offset))?;
    Ok((BufReader::new(file.take(length.min(MAX_BYTES))), length))
}
