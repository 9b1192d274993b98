//! Opens what `ralph replay` plays: a run, its journal, or the recorded output of an agent.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::Timestamp;
use ralph_run::{FindError, Home, JournalRecords, Record, RunDirectory};

use super::ReplayArgs;
use super::author::Author;
use super::raw::RawRecords;
use crate::commands::run_client;
use crate::settings::BackendName;

/// How much of a recording is looked at to recognise its agent.
const FIRST_BYTES: usize = 256 << 10;

/// How a line of a journal begins.
const JOURNAL_START: &[u8] = b"{\"seq\":";

/// A recording to play.
pub(super) struct Recording {
    /// The records, or why one cannot be read.
    pub(super) records: Box<dyn Iterator<Item = Result<Record, String>>>,
    /// Whether the records say when they happened.
    pub(super) has_times: bool,
    /// The run, where it is one.
    pub(super) run: Option<RunDirectory>,
}

/// A file or a run's directory if there is one of that name, else the run that is meant.
pub(super) fn open(args: &ReplayArgs, home: &Home, cwd: &Path) -> anyhow::Result<Recording> {
    let asked = args.source.as_str();
    let backend = args.backend.as_ref();
    let path = cwd.join(asked);
    let journal = path.join("journal.ndjson");
    if path.is_dir() && journal.exists() {
        return open_file(&journal, backend);
    }
    if path.exists() && !path.is_dir() {
        return open_file(&path, backend);
    }
    let run = run_client::find(home, asked).map_err(|error| match error.downcast_ref() {
        Some(FindError::Unknown(_)) => anyhow::anyhow!("there is neither a file nor a run `{asked}`"),
        _ => error,
    })?;
    let mut recording = open_file(&run.journal(), backend)?;
    recording.run = Some(run);
    Ok(recording)
}

fn open_file(path: &Path, backend: Option<&BackendName>) -> anyhow::Result<Recording> {
    let unreadable = || format!("cannot read `{}`", path.display());
    let file = File::open(path).with_context(unreadable)?;
    let modified = file.metadata().and_then(|metadata| metadata.modified()).ok();
    let mut reader = BufReader::with_capacity(FIRST_BYTES, file);
    let is_journal = reader
        .fill_buf()
        .with_context(unreadable)?
        .starts_with(JOURNAL_START);
    if is_journal && backend.is_none() {
        let place = path.display().to_string();
        let records = JournalRecords::new(reader)
            .map(move |record| record.map_err(|damage| format!("{place}: {damage}")));
        return Ok(Recording {
            records: Box::new(records),
            has_times: true,
            run: None,
        });
    }
    let author = Author::find(path, backend, &mut reader)?;
    let at = modified.and_then(|modified| Timestamp::try_from(modified).ok());
    Ok(Recording {
        records: Box::new(RawRecords::new(
            reader,
            PathBuf::from(path),
            author,
            at.unwrap_or_default(),
        )),
        has_times: false,
        run: None,
    })
}
