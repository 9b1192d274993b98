//! `AgentJournal`: appends to an agent's `journal.ndjson`, and `read_records` reads it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use ralph_run::{Durability, open_regular_file, private_file};

use crate::record::AgentRecord;

/// A longer line is not one of ours.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// A journal that is open for appending. A line that an earlier writer could not finish is closed first, so that it
/// costs itself and no other.
#[derive(Debug)]
pub struct AgentJournal {
    file: File,
    /// Whether the last line may be incomplete.
    is_torn: bool,
}

impl AgentJournal {
    /// Opens the journal, or makes it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        private_file(&mut options);
        let mut file = options.open(path)?;
        let is_torn = match file.seek(SeekFrom::End(-1)) {
            Ok(_) => {
                let mut last = [0];
                file.read_exact(&mut last)?;
                last != *b"\n"
            }
            // It is empty.
            Err(_) => false,
        };
        Ok(Self { file, is_torn })
    }

    /// Writes a record. With [`Durability::Synced`] it survives a loss of power when this returns.
    pub fn append(&mut self, record: &AgentRecord, durability: Durability) -> io::Result<()> {
        let mut line = Vec::new();
        if self.is_torn {
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, record)?;
        line.push(b'\n');
        self.is_torn = true;
        self.file.write_all(&line)?;
        self.is_torn = false;
        match durability {
            Durability::Synced => self.file.sync_data(),
            Durability::Cached => Ok(()),
        }
    }
}

/// Gives the records of a journal, in order. Lines that cannot be read are counted and left out. A journal that does not
/// exist has none.
pub fn read_records(path: &Path, mut each: impl FnMut(AgentRecord)) -> io::Result<u32> {
    let file = match open_regular_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        opened => opened?,
    };
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    let mut unreadable = 0;
    loop {
        line.clear();
        if reader
            .by_ref()
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line)?
            == 0
        {
            return Ok(unreadable);
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(record) => each(record),
            Err(_) => unreadable += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use jiff::Timestamp;
    use ralph_run::Durability;

    use super::{AgentJournal, read_records};
    use crate::record::{AgentEvent, AgentRecord};

    fn started(run: &str) -> AgentRecord {
        AgentRecord {
            at: Timestamp::UNIX_EPOCH,
            event: AgentEvent::Started { run: run.to_owned() },
        }
    }

    #[test]
    fn a_torn_line_costs_itself_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.ndjson");
        let append = |run: &str| {
            let mut journal = AgentJournal::open(&path).unwrap();
            journal.append(&started(run), Durability::Synced).unwrap();
        };
        append("a");
        append("b");
        let whole = fs::read(&path).unwrap();
        for cut in whole.len() / 2 + 1..=whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            append("c");
            let mut records = Vec::new();
            let unreadable = read_records(&path, |record| records.push(record)).unwrap();
            assert_eq!(records.first(), Some(&started("a")), "{cut}");
            assert_eq!(records.last(), Some(&started("c")), "{cut}");
            assert_eq!(
                records.len() + unreadable as usize,
                if cut == whole.len() / 2 { 2 } else { 3 }
            );
        }
    }

    #[test]
    fn records_of_a_newer_version_are_kept_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.ndjson");
        let text = "{\"at\":\"1970-01-01T00:00:00Z\",\"type\":\"dreamed\",\"of\":[1]}\nnonsense\n\n";
        fs::write(&path, text).unwrap();
        let mut records = Vec::new();
        assert_eq!(read_records(&path, |record| records.push(record)).unwrap(), 1);
        assert_eq!(records[0].event, AgentEvent::Unknown);
        assert_eq!(read_records(&folder.path().join("none"), |_| ()).unwrap(), 0);
    }
}
