//! `resume_point`: where to continue with a run that is in the index already.

use std::io;
use std::path::{Path, PathBuf};

use ralph_run::ports::Journals;
use ralph_run::{JournalMatch, JournalReader};

use crate::error::StoreError;
use crate::rows::Progress;
use crate::store::Store;

/// Where to continue with a run; none if it has to be read from its start.
///
/// An index can know more than the journal has: a power loss cut the journal, and it continued from there. Then what is
/// known of the run is removed. Another journal under the same name replaces the old one by itself, once it is
/// [taken in](Store::ingest) from its start.
///
/// # Errors
/// When the index fails, or the journal cannot be read.
pub async fn resume_point(
    store: &dyn Store,
    journals: &dyn Journals,
    run: &str,
) -> Result<Option<Progress>, StoreError> {
    let Some(progress) = current_progress(store, run).await? else {
        return Ok(None);
    };
    let known = &progress.summary;
    let compared = journals
        .compare(run, &known.epoch, known.head_seq, progress.offset.into())
        .await;
    settle(store, run, Path::new(run), progress, compared).await
}

/// As [`resume_point`], for a journal in a file.
pub(crate) async fn resume_point_in(
    store: &dyn Store,
    run: &str,
    journal: &Path,
) -> Result<Option<Progress>, StoreError> {
    let Some(progress) = current_progress(store, run).await? else {
        return Ok(None);
    };
    let path: PathBuf = journal.to_owned();
    let (epoch, seq) = (progress.summary.epoch.clone(), progress.summary.head_seq);
    let offset = progress.offset;
    let compared =
        tokio::task::spawn_blocking(move || JournalReader::open(&path)?.compare(&epoch, seq, offset))
            .await
            .map_err(|error| StoreError::Database(error.to_string()))?;
    settle(store, run, journal, progress, compared).await
}

/// How far a run is in the index. What another version of the fold made stays until rows read from the start replace it.
async fn current_progress(store: &dyn Store, run: &str) -> Result<Option<Progress>, StoreError> {
    let Some(progress) = store.progress(run).await? else {
        return Ok(None);
    };
    Ok(progress.state.is_current().then_some(progress))
}

async fn settle(
    store: &dyn Store,
    run: &str,
    journal: &Path,
    progress: Progress,
    compared: io::Result<JournalMatch>,
) -> Result<Option<Progress>, StoreError> {
    let compared = compared.map_err(|source| StoreError::Journal {
        path: journal.to_owned(),
        source,
    })?;
    match compared {
        JournalMatch::Same => Ok(Some(progress)),
        JournalMatch::Replaced => Ok(None),
        JournalMatch::Cut => {
            tracing::warn!(
                run,
                "the journal was cut after it was indexed: it is read again from its start"
            );
            store.remove(&[run.to_owned()]).await?;
            Ok(None)
        }
    }
}
