//! `backfill`: reads from the journal what a client missed, for [`RunReader`](crate::stream).

use std::io;
use std::time::Instant;

use ralph_run::RecordHead;
use ralph_run::ports::{JournalText, Journals, ReadItem};

use super::feed::Position;
use super::frame::Frame;
use super::frame_builder::FrameBuilder;

/// What is read in one go. Who needs more asks again.
const CHUNK_BYTES: u64 = 512 << 10;

/// Records after `position` and up to `end`, at least one if there is one, as few frames. Gives where it stopped.
pub(crate) async fn backfill(
    journals: &dyn Journals,
    (run, epoch): (&str, &str),
    position: Position,
    end: Position,
) -> io::Result<(Vec<Frame>, Position)> {
    let now = Instant::now();
    let mut reached = position;
    let mut frames = Vec::new();
    let mut builder = FrameBuilder::default();
    while reached.place < end.place && frames.is_empty() {
        let (from, to) = (reached.place, Some(end.place));
        let chunk = journals
            .read(run, from, to, CHUNK_BYTES, JournalText::Restored)
            .await?;
        if chunk.end <= from {
            // The journal is shorter than it was.
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        for item in &chunk.items {
            let ReadItem::Line { start, end, line } = item else {
                continue;
            };
            if RecordHead::parse(line).is_some_and(|head| head.seq > position.seq) {
                builder.push(line, (*start, *end), now);
                if builder.is_full() {
                    frames.extend(builder.take(run, epoch, now));
                }
            }
        }
        reached.place = chunk.end;
        frames.extend(builder.take(run, epoch, now));
        if let Some(last) = frames.last() {
            reached.seq = last.to;
        }
    }
    if reached.place >= end.place {
        // What is no record is behind it as well.
        reached = end;
    }
    Ok((frames, reached))
}

#[cfg(test)]
mod tests {
    use ralph_run::Home;
    use ralph_run::ports::LocalJournals;

    use super::{Position, backfill};

    fn line(seq: u64, padding: usize) -> String {
        let text = "x".repeat(padding);
        format!(
            "{{\"seq\":{seq},\"at\":\"2026-01-01T00:00:00Z\",\"iteration\":1,\"attempt\":1,\"event\":{{\"type\":\"warned\",\"data\":{{\"kind\":\"degraded\",\"message\":\"{text}\"}}}}}}\n"
        )
    }

    fn journals(text: &str) -> (tempfile::TempDir, LocalJournals, String) {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path().join("state"), None);
        let run = home.create_run(jiff::Timestamp::now()).unwrap();
        std::fs::write(run.journal(), text).unwrap();
        (directory, LocalJournals::new(home), run.id().to_owned())
    }

    #[tokio::test]
    async fn everything_behind_a_position_comes_once_and_in_order() {
        let lines: Vec<String> = (1..=40).map(|seq| line(seq, 60_000)).collect();
        let (_directory, journals, run) = journals(&lines.concat());
        let end = Position {
            seq: 40,
            place: (lines.concat().len() as u64).into(),
        };
        for first in 0..40 {
            // The exact place, and any earlier one.
            let exact = lines[..first].concat().len() as u64;
            for offset in [exact, 0] {
                let mut position = Position {
                    seq: first as u64,
                    place: offset.into(),
                };
                let mut next = first as u64 + 1;
                while position.seq < end.seq {
                    let (frames, reached) = backfill(&journals, (&run, "e"), position, end).await.unwrap();
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

    #[tokio::test]
    async fn a_journal_that_is_shorter_than_it_was_is_an_error_and_no_loop() {
        let (_directory, journals, run) = journals("{}");
        for offset in [900, 2] {
            let end = Position {
                seq: 9,
                place: offset.into(),
            };
            let read = backfill(&journals, (&run, "e"), Position::default(), end);
            assert!(read.await.is_err());
        }
    }
}
