//! The words of records, from where they stand.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use bytes::Bytes;
use ralph_run::restore_text;

use crate::error::StoreError;
use crate::rows::RecordRow;

/// What lies between two records is read, too, if it is not more: that is cheaper than another read.
const MAX_GAP_BYTES: u64 = 32 << 10;
/// How much is read at once.
const MAX_READ_BYTES: u64 = 1 << 20;

/// A record's line, with all of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalLine {
    /// Its number.
    pub seq: u64,
    /// The line, without its end.
    pub line: Bytes,
}

/// Reads the lines of records, which must be in order, until they are more than `max_bytes` together; at least one.
/// The rest is another page: the caller sees by the last seq where it begins. Blocks.
///
/// # Errors
/// When the journal is gone ([`StoreError::is_gone`]), cannot be read, or has something else where the records were.
pub fn read_journal_page(
    journal: &Path,
    rows: &[RecordRow],
    max_bytes: usize,
) -> Result<Vec<JournalLine>, StoreError> {
    let fail = |source| StoreError::Journal {
        path: journal.to_owned(),
        source,
    };
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let mut file = File::open(journal).map_err(fail)?;
    let mut lines = Vec::new();
    let mut rest = within(rows, max_bytes as u64);
    while let Some((group, others)) = next_group(rest) {
        read_group(&mut file, group, &mut lines).map_err(fail)?;
        rest = others;
    }
    Ok(lines)
}

/// The first rows that are not more than some bytes together; at least one.
fn within(rows: &[RecordRow], max_bytes: u64) -> &[RecordRow] {
    let mut bytes = 0;
    let count = rows.iter().take_while(|row| {
        bytes += u64::from(row.length) + 1;
        bytes <= max_bytes
    });
    let count = count.count().max(1).min(rows.len());
    rows.get(..count).unwrap_or_default()
}

/// Rows that are read at once, and the others.
fn next_group(rows: &[RecordRow]) -> Option<(&[RecordRow], &[RecordRow])> {
    let first = rows.first()?;
    let mut end = end_of(first);
    let mut count = 1;
    for row in rows.iter().skip(1) {
        let is_near = row.offset >= end && row.offset - end <= MAX_GAP_BYTES;
        if !is_near || end_of(row) - first.offset > MAX_READ_BYTES {
            break;
        }
        end = end_of(row);
        count += 1;
    }
    Some(rows.split_at(count))
}

/// Behind the end of its line.
fn end_of(row: &RecordRow) -> u64 {
    row.offset.saturating_add(u64::from(row.length)).saturating_add(1)
}

fn read_group(file: &mut File, group: &[RecordRow], lines: &mut Vec<JournalLine>) -> io::Result<()> {
    let (Some(first), Some(last)) = (group.first(), group.last()) else {
        return Ok(());
    };
    file.seek(SeekFrom::Start(first.offset))?;
    let length = end_of(last) - first.offset;
    let mut bytes = Vec::with_capacity(usize::try_from(length).map_err(io::Error::other)?);
    // What is not there is no reason to wait for it, nor to hold memory for it.
    file.by_ref().take(length).read_to_end(&mut bytes)?;
    let bytes = Bytes::from(bytes);
    for row in group {
        let from = usize::try_from(row.offset - first.offset).map_err(io::Error::other)?;
        let to = from + row.length as usize;
        let is_line = bytes.get(from) == Some(&b'{') && bytes.get(to) == Some(&b'\n');
        if !is_line {
            let message = format!("record {} is not where it was: the journal has changed", row.seq);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let line = bytes.slice(from..to);
        let line = match restore_text(&line, row.offset, file) {
            Ok(Cow::Owned(restored)) => Bytes::from(restored),
            // Text that is lost is not made up.
            Ok(Cow::Borrowed(_)) | Err(_) => line,
        };
        lines.push(JournalLine { seq: row.seq, line });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{MAX_READ_BYTES, read_journal_page};
    use crate::rows::RecordRow;

    /// A journal of lines of these lengths, and a row for each.
    fn journal(lengths: &[usize]) -> (tempfile::NamedTempFile, Vec<RecordRow>) {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (mut text, mut rows) = (String::new(), Vec::new());
        for (index, length) in lengths.iter().enumerate() {
            rows.push(RecordRow {
                seq: index as u64 + 1,
                at: Timestamp::UNIX_EPOCH,
                kind: "notice".to_owned(),
                offset: text.len() as u64,
                length: u32::try_from(*length).unwrap(),
            });
            let line = format!("{{{index}");
            text.push_str(&line);
            text.push_str(&"x".repeat(length - line.len()));
            text.push('\n');
        }
        std::fs::write(file.path(), text).unwrap();
        (file, rows)
    }

    #[test]
    fn lines_are_read_from_wherever_they_stand() {
        let large = usize::try_from(MAX_READ_BYTES).unwrap();
        let (file, mut rows) = journal(&[10, 20, 40_000, 30, 2 * large, 10, large, large, 5]);
        let whole = std::fs::read(file.path()).unwrap();
        for left_out in [vec![], vec![2], vec![1, 4], vec![0, 8]] {
            let mut index = 0;
            let mut some = rows.clone();
            some.retain(|_| {
                index += 1;
                !left_out.contains(&(index - 1))
            });
            let lines = read_journal_page(file.path(), &some, usize::MAX).unwrap();
            assert_eq!(lines.len(), some.len());
            for (line, row) in lines.iter().zip(&some) {
                let from = usize::try_from(row.offset).unwrap();
                assert_eq!(line.seq, row.seq);
                assert_eq!(line.line, whole[from..from + row.length as usize]);
            }
        }
        rows.clear();
        assert!(read_journal_page(file.path(), &rows, 1).unwrap().is_empty());
    }

    #[test]
    fn a_page_ends_where_it_would_be_too_large_but_has_one_line() {
        let (file, rows) = journal(&[10, 10, 10]);
        assert_eq!(read_journal_page(file.path(), &rows, 25).unwrap().len(), 2);
        assert_eq!(read_journal_page(file.path(), &rows, 1).unwrap().len(), 1);
    }

    #[test]
    fn a_journal_that_is_gone_or_another_one_is_told_apart() {
        let (file, rows) = journal(&[10, 10]);
        std::fs::write(file.path(), "{something else\n").unwrap();
        let error = read_journal_page(file.path(), &rows, 100).unwrap_err();
        assert!(!error.is_gone(), "{error}");
        let path = file.path().to_owned();
        drop(file);
        assert!(read_journal_page(&path, &rows, 100).unwrap_err().is_gone());
    }
}
