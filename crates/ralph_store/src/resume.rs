//! Where to go on in a journal.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use crate::error::StoreError;
use crate::journal_lines::{first_line, stands_at};
use crate::query::RecordQuery;
use crate::rows::{Progress, RecordRow};
use crate::store::Store;
use ralph_run::RecordHead;
use ralph_run::epoch_of;

/// Where to go on with a run whose journal is here; none if it has to be read from its start.
///
/// An index can know more than the journal has: a loss of power cut the journal, and it went on from there. Then what
/// is known of the run is forgotten. Another journal under the same name takes the place of the old one by itself, once
/// it is [taken in](Store::ingest) from its start.
///
/// # Errors
/// When the index fails, or the journal cannot be read.
pub async fn resume_point(
    store: &dyn Store,
    run: &str,
    journal: &Path,
) -> Result<Option<Progress>, StoreError> {
    let Some(progress) = store.progress(run).await? else {
        return Ok(None);
    };
    if !progress.state.is_current() {
        // Another version of the fold made its rows: they stay until what is read from the start replaces them.
        return Ok(None);
    }
    let last = RecordQuery {
        before: Some(u64::MAX),
        limit: 1,
        ..RecordQuery::default()
    };
    let last = store.records(run, &last).await?.pop();
    let path = journal.to_owned();
    let compared = tokio::task::spawn_blocking(move || {
        let found = compare(&path, &progress, last.as_ref());
        (progress, found)
    });
    let (progress, found) = compared
        .await
        .map_err(|error| StoreError::Database(error.to_string()))?;
    let found = found.map_err(|source| StoreError::Journal {
        path: journal.to_owned(),
        source,
    })?;
    match found {
        Found::Same => Ok(Some(progress)),
        Found::Other => Ok(None),
        Found::Cut => {
            tracing::warn!(
                run,
                "the journal is not what it was when it was indexed: it is read again"
            );
            store.remove(&[run.to_owned()]).await?;
            Ok(None)
        }
    }
}

enum Found {
    /// It has what is known of it.
    Same,
    /// It is another one.
    Other,
    /// It begins as it did, and goes on otherwise.
    Cut,
}

fn compare(journal: &Path, known: &Progress, last: Option<&RecordRow>) -> io::Result<Found> {
    if epoch_of(&first_line(journal)?) != known.summary.epoch {
        return Ok(Found::Other);
    }
    let is_same = stands_at(journal, known.offset, known.summary.head_seq)?
        && last.map_or(Ok(true), |last| has_record(journal, last))?;
    Ok(if is_same { Found::Same } else { Found::Cut })
}

/// Whether a record is where its row says.
fn has_record(journal: &Path, row: &RecordRow) -> io::Result<bool> {
    let mut file = File::open(journal)?;
    file.seek(SeekFrom::Start(row.offset))?;
    let mut line = Vec::new();
    file.take(u64::from(row.length) + 1).read_to_end(&mut line)?;
    let is_whole = line.pop() == Some(b'\n') && line.len() as u64 == u64::from(row.length);
    Ok(is_whole && RecordHead::parse(&line).is_some_and(|head| head.seq == row.seq))
}
