//! `JournalLines`: reads the lines of records from the journals, for searches in the text index in a file.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use ralph_run::{JournalItem, JournalReader};

use super::candidates::Candidate;

/// Files that are open at the same time during a search.
const MAX_FILES: usize = 64;
/// Lines of a run that are this near to each other are read at once, with what is between them.
const MAX_GAP_BYTES: u64 = 16 << 10;

/// Where a run's journal is.
pub(super) fn journal_of(runs_directory: &Path, run: &str) -> PathBuf {
    runs_directory.join(run).join("journal.ndjson")
}

/// The journals that a search has opened.
#[derive(Debug)]
pub(super) struct JournalLines<'a> {
    directory: &'a Path,
    files: HashMap<i64, JournalFile>,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct JournalFile {
    run: String,
    reader: JournalReader,
}

impl<'a> JournalLines<'a> {
    pub(super) fn new(directory: &'a Path) -> Self {
        Self {
            directory,
            files: HashMap::new(),
            buffer: Vec::new(),
        }
    }

    /// Passes on the lines of these records by their index, in any order, with the run and with all of their text. What
    /// cannot be read is left out.
    pub(super) fn read<E>(
        &mut self,
        records: &[Candidate],
        name_of: impl Fn(i64) -> Result<Option<String>, E>,
        each: &mut dyn FnMut(usize, &str, &[u8]),
    ) -> Result<(), E> {
        let mut sorted: Vec<(usize, &Candidate)> = records.iter().enumerate().collect();
        sorted.sort_unstable_by_key(|(_, record)| (record.run, record.place));
        let is_near = |(_, one): &(usize, &Candidate), (_, next): &(usize, &Candidate)| {
            one.run == next.run && next.place <= end_of(one) + MAX_GAP_BYTES
        };
        for group in sorted.chunk_by(is_near) {
            let Some((_, first)) = group.first() else { continue };
            if !self.files.contains_key(&first.run) {
                let Some(run) = name_of(first.run)? else { continue };
                let Ok(reader) = JournalReader::open(&journal_of(self.directory, &run)) else {
                    continue;
                };
                if self.files.len() >= MAX_FILES {
                    self.files.clear();
                }
                self.files.insert(first.run, JournalFile { run, reader });
            }
            if let Some(file) = self.files.get_mut(&first.run)
                && let Err(error) = file.read(group, &mut self.buffer, each)
            {
                tracing::debug!(run = file.run, %error, "a journal cannot be searched now");
            }
        }
        Ok(())
    }
}

impl JournalFile {
    fn read(
        &mut self,
        group: &[(usize, &Candidate)],
        buffer: &mut Vec<u8>,
        each: &mut dyn FnMut(usize, &str, &[u8]),
    ) -> io::Result<()> {
        let Self { run, reader } = self;
        let mut wanted = group.iter().copied().peekable();
        let (Some((_, first)), Some((_, last))) = (group.first(), group.last()) else {
            return Ok(());
        };
        reader.move_to(first.place);
        while reader.read_until(end_of(last), buffer, |item| {
            let JournalItem::Line(line) = item else { return };
            while wanted.next_if(|(_, record)| record.place < line.start).is_some() {}
            if let Some((index, _)) = wanted.next_if(|(_, record)| record.place == line.start) {
                each(index, run, &line.restored());
            }
        })? {}
        Ok(())
    }
}

/// Behind the newline of a record.
fn end_of(record: &Candidate) -> u64 {
    record.place + u64::from(record.length) + 1
}
