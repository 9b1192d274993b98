//! Records, read from a journal where the index says that they are.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use ralph_store::RecordRow;
use serde_json::value::RawValue;

/// What lies between two records and is read along rather than jumped over: pieces of text, mostly.
const MOST_BETWEEN: u64 = 16 * 1024;

/// Reads these records, which are in order. One that is damaged meanwhile is left out.
pub(super) fn read_lines(journal: &Path, rows: &[RecordRow]) -> io::Result<Vec<Box<RawValue>>> {
    let mut file = File::open(journal)?;
    let mut records = Vec::with_capacity(rows.len());
    for group in rows.chunk_by(|one, two| two.offset.saturating_sub(end_of(one)) <= MOST_BETWEEN) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let length = end_of(last).saturating_sub(first.offset);
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        file.seek(SeekFrom::Start(first.offset))?;
        file.by_ref().take(length).read_to_end(&mut bytes)?;
        for row in group {
            let start = usize::try_from(row.offset - first.offset).unwrap_or(usize::MAX);
            let line = start
                .checked_add(row.length as usize)
                .and_then(|end| bytes.get(start..end));
            records.extend(line.and_then(|line| serde_json::from_slice(line).ok()));
        }
    }
    Ok(records)
}

fn end_of(row: &RecordRow) -> u64 {
    row.offset + u64::from(row.length)
}

#[cfg(test)]
mod tests {
    use super::read_lines;
    use jiff::Timestamp;
    use ralph_store::RecordRow;

    #[test]
    fn records_are_found_by_their_place_near_and_far() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal.ndjson");
        let lines = [r#"{"seq":1}"#.to_owned(), "x".repeat(40_000), r#"{"seq":3}"#.to_owned(), r#"{"seq":4}"#.to_owned()];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let row = |seq, offset: usize, length| RecordRow {
            seq,
            at: Timestamp::UNIX_EPOCH,
            kind: "warned".into(),
            offset: offset as u64,
            length,
        };
        let third = lines[0].len() + 1 + lines[1].len() + 1;
        let rows = [row(1, 0, 9), row(2, 10, 40_000), row(3, third, 9), row(4, third + 10, 9), row(5, 90_000, 9)];
        let read = |rows: &[RecordRow]| -> Vec<String> {
            let records = read_lines(&path, rows).unwrap();
            records.iter().map(|record| record.get().to_owned()).collect()
        };
        // The second is no JSON, the fifth is not there.
        assert_eq!(read(&rows), [r#"{"seq":1}"#, r#"{"seq":3}"#, r#"{"seq":4}"#]);
        assert_eq!(read(&[row(1, 0, 9), row(4, third + 10, 9)]), [r#"{"seq":1}"#, r#"{"seq":4}"#]);
    }
}
