//! `JournalReader`: the lines of one journal, by place: forward, backward, or from a record on. The server and the index
//! read journals with it.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::check::{MAX_LINE_BYTES, leading_seq};
use super::epoch::epoch_of;
use super::record_head::RecordHead;
use super::text_once::restore_text;
use crate::home::open_linked_file;

/// How much is read at once. A buffer grows for a longer line and shrinks again after it.
const CHUNK_BYTES: usize = 64 << 10;
/// How much is read at once while looking for a record.
const PROBE_BYTES: usize = 4 << 10;

/// An open journal and a place in it. It only reads, by position, and keeps nothing between reads: an incomplete last
/// line is not returned and read again later, because its writer may take it back.
#[derive(Debug)]
pub struct JournalReader {
    path: PathBuf,
    file: File,
    offset: u64,
    /// How much of an overlong line was skipped so far.
    skipped: Option<u64>,
}

/// The next item of a journal.
#[derive(Debug)]
pub enum JournalItem<'a> {
    /// A complete line.
    Line(JournalLine<'a>),
    /// A line over the limit, which was skipped: its length with the newline.
    Overlong(u64),
}

/// A complete line of a journal.
#[derive(Debug, Clone, Copy)]
pub struct JournalLine<'a> {
    /// As written, without the newline.
    pub bytes: &'a [u8],
    /// Where it begins.
    pub start: u64,
    file: &'a File,
}

impl<'a> JournalLine<'a> {
    /// Where the next line begins.
    pub fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64 + 1
    }

    /// The line with the text that it leaves out because an earlier record has it. Text that is lost stays out.
    pub fn restored(&self) -> Cow<'a, [u8]> {
        let mut file = PositionedFile {
            file: self.file,
            offset: 0,
        };
        restore_text(self.bytes, self.start, &mut file).unwrap_or_else(|error| {
            tracing::warn!(%error, offset = self.start, "the text of a record is lost");
            Cow::Borrowed(self.bytes)
        })
    }
}

/// How a journal compares with what a reader knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalMatch {
    /// It has what is known of it, and perhaps more.
    Same,
    /// It is another journal.
    Replaced,
    /// It begins as it did and continues differently: it was cut.
    Cut,
}

impl JournalReader {
    /// Opens a journal at its start.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            file: open_linked_file(path)?,
            offset: 0,
            skipped: None,
        })
    }

    /// Opens a journal at a place where a line begins.
    pub fn open_at(path: &Path, offset: u64) -> io::Result<Self> {
        let mut reader = Self::open(path)?;
        reader.offset = offset;
        Ok(reader)
    }

    /// Continues at another place where a line begins.
    pub fn move_to(&mut self, offset: u64) {
        self.offset = offset;
        self.skipped = None;
    }

    /// A reader of the same file at another place.
    pub(crate) fn reopened(&self, offset: u64) -> io::Result<Self> {
        Ok(Self {
            path: self.path.clone(),
            file: self.file.try_clone()?,
            offset,
            skipped: None,
        })
    }

    /// Where the next line begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The length of the file, with an incomplete last line.
    pub fn length_bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Passes on the complete lines of the next chunk. Returns whether there may be more without waiting. `buffer` can
    /// be shared by many readers.
    pub fn read(&mut self, buffer: &mut Vec<u8>, each: impl FnMut(JournalItem<'_>)) -> io::Result<bool> {
        self.read_until(u64::MAX, buffer, each)
    }

    /// As [`Self::read`], for lines before `end`.
    pub fn read_until(
        &mut self,
        end: u64,
        buffer: &mut Vec<u8>,
        mut each: impl FnMut(JournalItem<'_>),
    ) -> io::Result<bool> {
        let mut wanted = CHUNK_BYTES;
        loop {
            let left = usize::try_from(end.saturating_sub(self.offset)).unwrap_or(usize::MAX);
            if buffer.len() < wanted {
                buffer.resize(wanted, 0);
            }
            let space = buffer.get_mut(..wanted.min(left)).unwrap_or_default();
            let read = read_full_at(&self.file, space, self.offset)?;
            let is_full = read == wanted;
            let consumed = self.pass_on(buffer.get(..read).unwrap_or_default(), &mut each);
            if consumed == 0 && is_full {
                if wanted < MAX_LINE_BYTES {
                    wanted *= 2;
                    continue;
                }
                *self.skipped.get_or_insert(0) += read as u64;
                self.offset += read as u64;
            }
            if wanted > CHUNK_BYTES {
                buffer.truncate(CHUNK_BYTES);
                buffer.shrink_to(CHUNK_BYTES);
            }
            return Ok(is_full);
        }
    }

    /// Passes on the complete lines among `bytes` and moves behind them. Returns how many bytes these are.
    fn pass_on(&mut self, bytes: &[u8], each: &mut impl FnMut(JournalItem<'_>)) -> usize {
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', bytes) {
            let next = newline + 1;
            match self.skipped.take() {
                Some(skipped) => each(JournalItem::Overlong(skipped + next as u64)),
                None => each(JournalItem::Line(JournalLine {
                    bytes: bytes.get(start..newline).unwrap_or_default(),
                    start: self.offset + start as u64,
                    file: &self.file,
                })),
            }
            start = next;
        }
        if let Some(skipped) = &mut self.skipped {
            *skipped += (bytes.len() - start) as u64;
            start = bytes.len();
        }
        self.offset += start as u64;
        start
    }

    /// Passes on the complete lines that end at `end` or before, the last one first, until `each` breaks.
    pub fn read_backward(
        &self,
        end: u64,
        mut each: impl FnMut(JournalItem<'_>) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let mut buffer = Vec::new();
        let (mut end, mut wanted) = (end.min(self.length_bytes()?), PROBE_BYTES as u64);
        // What follows the last newline is an incomplete line, or a line that was skipped.
        let mut is_incomplete = true;
        while end > 0 {
            let from = end.saturating_sub(wanted);
            buffer.resize(usize::try_from(end - from).unwrap_or(usize::MAX), 0);
            let read = read_full_at(&self.file, &mut buffer, from)?;
            let bytes = buffer.get(..read).unwrap_or_default();
            let mut rest = bytes;
            if is_incomplete {
                let Some(newline) = memchr::memrchr(b'\n', rest) else {
                    end = from;
                    continue;
                };
                rest = rest.get(..=newline).unwrap_or_default();
                is_incomplete = false;
            }
            while let Some(body) = rest.strip_suffix(b"\n") {
                let start = match memchr::memrchr(b'\n', body) {
                    Some(newline) => newline + 1,
                    None if from == 0 => 0,
                    None => break,
                };
                let line = JournalLine {
                    bytes: body.get(start..).unwrap_or_default(),
                    start: from + start as u64,
                    file: &self.file,
                };
                if each(JournalItem::Line(line)).is_break() {
                    return Ok(());
                }
                rest = rest.get(..start).unwrap_or_default();
            }
            let has_moved = rest.len() < bytes.len();
            end = from + rest.len() as u64;
            if !has_moved && wanted > MAX_LINE_BYTES as u64 {
                if each(JournalItem::Overlong(rest.len() as u64)).is_break() {
                    return Ok(());
                }
                end = from;
                is_incomplete = true;
            }
            wanted = match has_moved {
                true => CHUNK_BYTES as u64,
                false => wanted * 2,
            };
        }
        Ok(())
    }

    /// Where the first record after `seq` begins; the end of the journal if there is none. A journal is sorted, so this
    /// reads some 4 KiB for each doubling of its length.
    pub fn find_after(&self, seq: u64) -> io::Result<u64> {
        let length = self.length_bytes()?;
        // No record at `low` or before is wanted unless it is at `low` itself; every one at `high` or after is.
        let (mut low, mut high) = (0, length);
        while high - low > CHUNK_BYTES as u64 {
            let middle = low + (high - low) / 2;
            match self.first_record_behind(middle, high)? {
                Some((start, found)) if found <= seq => low = start,
                _ => high = middle + 1,
            }
        }
        let mut reader = self.reopened(low)?;
        let (mut buffer, mut found) = (Vec::new(), None);
        loop {
            let has_more = reader.read(&mut buffer, |item| {
                if let JournalItem::Line(line) = item
                    && found.is_none()
                    && seq_of(line.bytes).is_some_and(|number| number > seq)
                {
                    found = Some(line.start);
                }
            })?;
            if found.is_some() || !has_more {
                return Ok(found.unwrap_or(reader.offset));
            }
        }
    }

    /// The first record that begins after `offset` and before `end`.
    fn first_record_behind(&self, offset: u64, end: u64) -> io::Result<Option<(u64, u64)>> {
        let mut buffer = vec![0; PROBE_BYTES];
        let (mut at, mut is_in_line) = (offset, true);
        while at < end {
            let read = read_full_at(&self.file, &mut buffer, at)?;
            let bytes = buffer.get(..read).unwrap_or_default();
            let mut start = 0;
            while let Some(rest) = bytes.get(start..).filter(|rest| !rest.is_empty()) {
                if !is_in_line {
                    let place = at + start as u64;
                    // The number of a record is in its first bytes, which may be in the next chunk.
                    if rest.len() < 32 && read == PROBE_BYTES {
                        break;
                    }
                    if place >= end {
                        return Ok(None);
                    }
                    if let Some(seq) = leading_seq(rest) {
                        return Ok(Some((place, seq)));
                    }
                }
                match memchr::memchr(b'\n', rest) {
                    Some(newline) => {
                        start += newline + 1;
                        is_in_line = false;
                    }
                    None => {
                        start = bytes.len();
                        is_in_line = true;
                    }
                }
            }
            if read < PROBE_BYTES {
                return Ok(None);
            }
            at += start as u64;
        }
        Ok(None)
    }

    /// The first line without its newline; empty if there is no complete line.
    pub(super) fn first_line(&self) -> io::Result<Vec<u8>> {
        let mut wanted = PROBE_BYTES;
        loop {
            let mut bytes = vec![0; wanted];
            let read = read_full_at(&self.file, &mut bytes, 0)?;
            bytes.truncate(read);
            if let Some(newline) = memchr::memchr(b'\n', &bytes) {
                bytes.truncate(newline);
                return Ok(bytes);
            }
            if read < wanted || wanted > MAX_LINE_BYTES {
                return Ok(Vec::new());
            }
            wanted *= 2;
        }
    }

    /// Which journal it is.
    pub fn epoch(&self) -> io::Result<String> {
        Ok(epoch_of(&self.first_line()?))
    }

    /// The number of the last record, and where the last complete line ends; none if there is no complete line.
    pub fn last(&self) -> io::Result<Option<(u64, u64)>> {
        let (mut seq, mut end) = (None, None);
        self.read_backward(u64::MAX, |item| {
            let JournalItem::Line(line) = item else {
                return ControlFlow::Continue(());
            };
            end.get_or_insert(line.end());
            seq = RecordHead::parse(line.bytes).map(|head| head.seq);
            match seq {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        })?;
        Ok(end.map(|end| (seq.unwrap_or(0), end)))
    }

    /// Compares the journal with what a reader knows that stopped at `offset`, after record `seq`.
    pub fn compare(&self, epoch: &str, seq: u64, offset: u64) -> io::Result<JournalMatch> {
        if self.epoch()? != epoch {
            return Ok(JournalMatch::Replaced);
        }
        Ok(match self.stands_at(offset, seq)? {
            true => JournalMatch::Same,
            false => JournalMatch::Cut,
        })
    }

    /// Whether a reader that stopped at `offset`, after record `seq`, can continue there: a line ends there, and it is
    /// this record. Of a line that is not a record only its end is checked.
    pub fn stands_at(&self, offset: u64, seq: u64) -> io::Result<bool> {
        if offset == 0 {
            return Ok(true);
        }
        let mut last = [0];
        if read_full_at(&self.file, &mut last, offset - 1)? == 0 || last != *b"\n" {
            return Ok(false);
        }
        let mut stands = true;
        self.read_backward(offset, |item| {
            if let JournalItem::Line(line) = item {
                stands = RecordHead::parse(line.bytes).is_none_or(|head| head.seq == seq);
            }
            ControlFlow::Break(())
        })?;
        Ok(stands)
    }

    /// Whether the path names another file now, or none, or the file is shorter than what was read. It costs two
    /// system calls: ask when nothing new was read.
    #[cfg(unix)]
    pub fn was_replaced(&self) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let Ok(ours) = self.file.metadata() else {
            return false;
        };
        match std::fs::metadata(&self.path) {
            // While we have it open, no other file gets its number.
            Ok(named) => (named.dev(), named.ino()) != (ours.dev(), ours.ino()) || ours.len() < self.offset,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }

    /// As on Unix, but another file under the same name is noticed by its length only.
    #[cfg(not(unix))]
    pub fn was_replaced(&self) -> bool {
        match std::fs::metadata(&self.path) {
            Ok(named) => named.len() < self.offset,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }
}

/// The number of a record; none if the line is not a record.
pub(super) fn seq_of(line: &[u8]) -> Option<u64> {
    leading_seq(line).or_else(|| RecordHead::parse(line).map(|head| head.seq))
}

/// Fills `bytes` from `offset` on, as far as the file goes.
fn read_full_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut read = 0;
    while let Some(space) = bytes.get_mut(read..).filter(|space| !space.is_empty()) {
        match read_at(file, space, offset + read as u64) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, bytes, offset);
    #[cfg(not(unix))]
    return std::os::windows::fs::FileExt::seek_read(file, bytes, offset);
}

/// Reads a file from anywhere without moving its shared position.
struct PositionedFile<'a> {
    file: &'a File,
    offset: u64,
}

impl Read for PositionedFile<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = read_at(self.file, bytes, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

impl Seek for PositionedFile<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, by) = match to {
            SeekFrom::Start(offset) => (offset, 0),
            SeekFrom::Current(by) => (self.offset, by),
            SeekFrom::End(by) => (self.file.metadata()?.len(), by),
        };
        self.offset = base.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.offset)
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
