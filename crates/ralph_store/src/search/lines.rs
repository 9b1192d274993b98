//! `Lines`: reads single journal lines by offset, with a small cache of open files.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use ralph_run::restore_text;

/// Files that are open at the same time during a search.
const MAX_FILES: usize = 64;

/// Where a run's journal is.
pub(super) fn journal_of(runs_directory: &Path, run: &str) -> PathBuf {
    runs_directory.join(run).join("journal.ndjson")
}

/// The journals during a search.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    directory: &'a Path,
    files: HashMap<i64, File>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(directory: &'a Path) -> Self {
        Self {
            directory,
            files: HashMap::new(),
        }
    }

    /// Reads a piece of a journal into `buffer`.
    pub(super) fn read(
        &mut self,
        (number, name): (i64, &str),
        offset: u64,
        length: usize,
        buffer: &mut Vec<u8>,
    ) -> io::Result<()> {
        if !self.files.contains_key(&number) {
            if self.files.len() >= MAX_FILES {
                self.files.clear();
            }
            self.files
                .insert(number, File::open(journal_of(self.directory, name))?);
        }
        let mut file = self.files.get(&number).ok_or(io::ErrorKind::NotFound)?;
        buffer.resize(length, 0);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buffer)
    }

    /// A line that was [read](Self::read) at `offset`, with all of its text.
    pub(super) fn restore<'l>(&self, number: i64, offset: u64, line: &'l [u8]) -> Cow<'l, [u8]> {
        let restored = self
            .files
            .get(&number)
            .map(|mut file| restore_text(line, offset, &mut file));
        match restored {
            Some(Ok(line)) => line,
            // Text that is lost is not made up.
            Some(Err(_)) | None => Cow::Borrowed(line),
        }
    }
}
