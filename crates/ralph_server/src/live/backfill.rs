//! `backfill`: reads from the journal what a client missed, for [`RunReader`](crate::stream).

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use ralph_run::restore_text;
use tokio::time::Instant;

use super::feed::Position;
use super::frame::Frame;
use super::frame_builder::FrameBuilder;

/// What is read in one go. Who needs more asks again.
const CHUNK_BYTES: u64 = 512 << 10;
const MAX_LINE_BYTES: u64 = 64 << 20;

/// Records after `position` and up to `end`, at least one if there is one, as few frames. Gives where it stopped.
pub(crate) fn backfill(
    path: &Path,
    (run, epoch): (&str, &str),
    position: Position,
    end: Position,
) -> io::Result<(Vec<Frame>, Position)> {
    let file = File::open(path)?;
    let now = Instant::now();
    let mut reached = position;
    let mut frames = Vec::new();
    let mut builder = FrameBuilder::default();
    let mut chunk_bytes = CHUNK_BYTES;
    while reached.offset < end.offset && frames.is_empty() {
        let length = (end.offset - reached.offset).min(chunk_bytes);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut bytes, reached.offset)?;
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', &bytes) {
            let line = bytes.get(start..newline).unwrap_or_default();
            let line_start = reached.offset + start as u64;
            start = newline + 1;
            let line_end = reached.offset + start as u64;
            let Some(head) = ralph_run::RecordHead::parse(line) else {
                continue;
            };
            if head.seq <= position.seq {
                continue;
            }
            builder.push(&with_text(line, line_start, &file), (line_start, line_end), now);
            if builder.is_full() {
                frames.extend(builder.take(run, epoch, now));
            }
        }
        if start == 0 {
            if chunk_bytes >= MAX_LINE_BYTES || length < chunk_bytes {
                return Err(io::Error::from(io::ErrorKind::InvalidData));
            }
            chunk_bytes *= 2;
            continue;
        }
        chunk_bytes = CHUNK_BYTES;
        reached.offset += start as u64;
        frames.extend(builder.take(run, epoch, now));
        if let Some(last) = frames.last() {
            reached.seq = last.to;
        }
    }
    if reached.offset >= end.offset {
        // What is no record is behind it as well.
        reached = end;
    }
    Ok((frames, reached))
}

/// The line that starts at `offset`, with all of its text.
pub(super) fn with_text<'a>(line: &'a [u8], offset: u64, mut journal: &File) -> Cow<'a, [u8]> {
    restore_text(line, offset, &mut journal).unwrap_or_else(|error| {
        tracing::warn!(%error, offset, "the text of a record is lost");
        Cow::Borrowed(line)
    })
}

#[cfg(test)]
mod tests {
    use super::{Position, backfill};

    fn line(seq: u64, padding: usize) -> String {
        let text = "x".repeat(padding);
        format!(
            "{{\"seq\":{seq},\"at\":\"2026-01-01T00:00:00Z\",\"iteration\":1,\"attempt\":1,\"event\":{{\"type\":\"warned\",\"data\":{{\"kind\":\"degraded\",\"message\":\"{text}\"}}}}}}\n"
        )
    }

    #[test]
    fn everything_behind_a_position_comes_once_and_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let lines: Vec<String> = (1..=40).map(|seq| line(seq, 60_000)).collect();
        std::fs::write(&path, lines.concat()).unwrap();
        let end = Position {
            seq: 40,
            offset: lines.concat().len() as u64,
        };
        for first in 0..40 {
            // The exact place, and any earlier one.
            let exact = lines[..first].concat().len() as u64;
            for offset in [exact, 0] {
                let mut position = Position {
                    seq: first as u64,
                    offset,
                };
                let mut next = first as u64 + 1;
                while position.seq < end.seq {
                    let (frames, reached) = backfill(&path, ("r", "e"), position, end).unwrap();
                    for frame in frames {
                        assert_eq!(frame.from, next);
                        next = frame.to + 1;
                    }
                    assert!(reached.seq > position.seq);
                    position = reached;
                }
                assert_eq!((next, position), (41, end));
            }
        }
    }

    #[test]
    fn a_journal_that_is_shorter_than_it_was_is_an_error_and_no_loop() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        std::fs::write(&path, "{}").unwrap();
        let start = Position { seq: 0, offset: 0 };
        let end = Position { seq: 9, offset: 900 };
        assert!(backfill(&path, ("r", "e"), start, end).is_err());
        let end = Position { seq: 9, offset: 2 };
        assert!(backfill(&path, ("r", "e"), start, end).is_err());
    }
}
