//! What is played.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::Timestamp;
use ralph_run::{FindError, Home, JournalReader, Record, RunDirectory};

use super::raw::RawRecords;
use crate::commands::reach;

/// How a line of a journal begins.
const JOURNAL_START: &[u8] = b"{\"seq\":";

/// What is played.
pub(super) struct Recording {
    /// The records, or what is wrong with one, for people.
    pub(super) records: Box<dyn Iterator<Item = Result<Record, String>>>,
    /// Whether the records say when they happened.
    pub(super) has_times: bool,
    /// The run, where it is one.
    pub(super) run: Option<RunDirectory>,
}

/// A file or a run's directory if there is one of that name, else the run that is meant.
pub(super) fn open(asked: &str, home: &Home, cwd: &Path) -> anyhow::Result<Recording> {
    let path = cwd.join(asked);
    let journal = path.join("journal.ndjson");
    if path.is_dir() && journal.exists() {
        return open_file(&journal);
    }
    if path.exists() && !path.is_dir() {
        return open_file(&path);
    }
    let run = reach::find(home, asked).map_err(|error| match error.downcast_ref() {
        Some(FindError::Unknown(_)) => anyhow::anyhow!("there is neither a file nor a run `{asked}`"),
        _ => error,
    })?;
    let mut recording = open_file(&run.journal())?;
    recording.run = Some(run);
    Ok(recording)
}

fn open_file(path: &Path) -> anyhow::Result<Recording> {
    let unreadable = || format!("cannot read `{}`", path.display());
    let file = File::open(path).with_context(unreadable)?;
    let modified = file.metadata().and_then(|metadata| metadata.modified()).ok();
    let mut reader = BufReader::new(file);
    let is_journal = reader
        .fill_buf()
        .with_context(unreadable)?
        .starts_with(JOURNAL_START);
    Ok(if is_journal {
        let place = path.display().to_string();
        let records = JournalReader::new(reader)
            .map(move |record| record.map_err(|damage| format!("{place}: {damage}")));
        Recording {
            records: Box::new(records),
            has_times: true,
            run: None,
        }
    } else {
        let at = modified.and_then(|modified| Timestamp::try_from(modified).ok());
        Recording {
            records: Box::new(RawRecords::new(
                reader,
                PathBuf::from(path),
                at.unwrap_or_default(),
            )),
            has_times: false,
            run: None,
        }
    })
}
