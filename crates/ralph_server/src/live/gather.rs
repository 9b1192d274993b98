//! Records of a moment, joined into one frame.

use std::time::Duration;

use agent_api::{Delta, DeltaMode, ItemId};
use ralph_store::RecordHead;
use serde::Serialize;
use tokio::time::Instant;

use super::frame::Frame;

/// Frames of a run are at least this far apart.
const TICK: Duration = Duration::from_millis(33);
/// Frames of a few characters are further apart, so that they have more of them. The first after a pause does not wait.
const PATIENCE: Duration = Duration::from_millis(50);
/// What is no more than a few characters.
const FEW_BYTES: usize = 256;
/// A frame is not much longer than this, so that one that is shared by many is not a burden.
const MOST_BYTES: usize = 256 << 10;

/// Collects the records of a run until they are sent together.
#[derive(Debug, Default)]
pub(super) struct Gatherer {
    waiting: Vec<Waiting>,
    bytes: usize,
    has_whole: bool,
    range: Option<(u64, u64)>,
    end: u64,
    since: Option<Instant>,
    sent: Option<Instant>,
}

#[derive(Debug)]
enum Waiting {
    Whole(String),
    Piece(Box<Piece>),
}

/// Pieces of one text, joined.
#[derive(Debug)]
struct Piece {
    seq: u64,
    at: String,
    position: (u32, u32),
    parent: Option<ItemId>,
    delta: Delta,
}

#[derive(Serialize)]
struct Joined<'a> {
    seq: u64,
    at: &'a str,
    iteration: u32,
    attempt: u32,
    event: JoinedEvent<'a>,
}

#[derive(Serialize)]
struct JoinedEvent<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a ItemId>,
    r#type: &'static str,
    data: &'a Delta,
}

impl Gatherer {
    /// Takes a line of a journal, which ends at `end`. Says whether it is a record.
    pub(super) fn push(&mut self, line: &[u8], end: u64, now: Instant) -> bool {
        self.end = end;
        let (Ok(text), Some(head)) = (std::str::from_utf8(line), RecordHead::parse(line)) else {
            return false;
        };
        let from = self.range.map_or(head.seq, |(from, _)| from);
        self.range = Some((from, head.seq));
        self.since.get_or_insert(now);
        match piece(&head) {
            Some(piece) => self.push_piece(piece),
            None => self.push_whole(&head, text),
        }
        true
    }

    fn push_piece(&mut self, piece: Piece) {
        self.bytes += piece.delta.text.len();
        if let Some(Waiting::Piece(last)) = self.waiting.last_mut()
            && last.delta.item == piece.delta.item
            && last.delta.part == piece.delta.part
            && piece.delta.mode == DeltaMode::Append
        {
            last.seq = piece.seq;
            last.delta.text.push_str(&piece.delta.text);
            return;
        }
        self.waiting.push(Waiting::Piece(Box::new(piece)));
    }

    fn push_whole(&mut self, head: &RecordHead<'_>, text: &str) {
        if let Some(item) = ended_item(head) {
            // The block has all of it.
            self.waiting
                .retain(|waiting| !matches!(waiting, Waiting::Piece(piece) if piece.delta.item == item));
        }
        self.bytes += text.len();
        self.has_whole = true;
        self.waiting.push(Waiting::Whole(text.to_owned()));
    }

    /// When what waits is to be sent; none if nothing waits.
    pub(super) fn due(&self) -> Option<Instant> {
        let since = self.since?;
        let after = |pause| self.sent.map_or(since, |sent| since.max(sent + pause));
        Some(if self.is_full() {
            since
        } else if self.has_whole || self.bytes >= FEW_BYTES {
            after(TICK)
        } else {
            after(PATIENCE)
        })
    }

    /// Whether no more should be added.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= MOST_BYTES
    }

    /// All that waits, as one frame.
    pub(super) fn take(&mut self, run: &str, epoch: &str, now: Instant) -> Option<Frame> {
        let range = self.range.take()?;
        let records: Vec<String> = self.waiting.drain(..).filter_map(Waiting::encode).collect();
        self.bytes = 0;
        self.has_whole = false;
        self.since = None;
        self.sent = Some(now);
        Some(Frame::new(run, epoch, range, self.end, &records))
    }
}

impl Waiting {
    fn encode(self) -> Option<String> {
        match self {
            Self::Whole(text) => Some(text),
            Self::Piece(piece) => serde_json::to_string(&Joined {
                seq: piece.seq,
                at: &piece.at,
                iteration: piece.position.0,
                attempt: piece.position.1,
                event: JoinedEvent {
                    parent: piece.parent.as_ref(),
                    r#type: "delta",
                    data: &piece.delta,
                },
            })
            .ok(),
        }
    }
}

fn piece(head: &RecordHead<'_>) -> Option<Piece> {
    if !head.is_delta() {
        return None;
    }
    Some(Piece {
        seq: head.seq,
        at: head.at().to_string(),
        position: (head.iteration, head.attempt),
        parent: head.event.parent.clone(),
        delta: head.data()?,
    })
}

/// The item whose pieces this record makes superfluous.
pub(super) fn ended_item(head: &RecordHead<'_>) -> Option<ItemId> {
    #[derive(serde::Deserialize)]
    struct Named {
        item: ItemId,
    }
    let ends = ["text_block", "thinking_block", "item_discarded"].contains(&&*head.event.kind);
    ends.then(|| head.data::<Named>())
        .flatten()
        .map(|named| named.item)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::Value;
    use tokio::time::Instant;

    use super::{FEW_BYTES, Gatherer, PATIENCE, TICK};

    fn delta(seq: u64, item: &str, text: &str) -> String {
        format!(
            r#"{{"seq":{seq},"at":"2026-01-01T00:00:00Z","iteration":1,"attempt":1,"event":{{"agent_kind":"demo","raw":{{"line":1,"offset":0,"length":1}},"type":"delta","data":{{"item":"{item}","part":"text","mode":"append","text":"{text}"}}}}}}"#
        )
    }

    fn block(seq: u64, item: &str) -> String {
        format!(
            r#"{{"seq":{seq},"at":"2026-01-01T00:00:00Z","iteration":1,"attempt":1,"event":{{"agent_kind":"demo","type":"text_block","data":{{"item":"{item}","text":"all"}}}}}}"#
        )
    }

    fn gather(lines: &[String]) -> Value {
        let (mut gatherer, now) = (Gatherer::default(), Instant::now());
        for line in lines {
            assert!(gatherer.push(line.as_bytes(), 0, now));
        }
        let frame = gatherer.take("r", "e", now).unwrap();
        serde_json::from_str(&frame.text).unwrap()
    }

    #[test]
    fn pieces_of_a_text_become_one() {
        let frame = gather(&[delta(5, "a", "x"), delta(6, "a", "y"), delta(7, "b", "z")]);
        assert_eq!((&frame["from"], &frame["to"]), (&5.into(), &7.into()));
        assert_eq!(frame["records"][0]["seq"], 6);
        assert_eq!(frame["records"][0]["event"]["data"]["text"], "xy");
        assert_eq!(frame["records"][1]["event"]["data"]["text"], "z");
    }

    #[test]
    fn a_block_makes_its_pieces_superfluous_and_no_others() {
        let frame = gather(&[delta(5, "a", "x"), delta(6, "b", "y"), block(7, "a")]);
        let kinds: Vec<&Value> = frame["records"]
            .as_array()
            .unwrap()
            .iter()
            .map(|record| &record["seq"])
            .collect();
        assert_eq!(kinds, [6, 7]);
        assert_eq!(frame["from"], 5);
    }

    #[test]
    fn a_record_is_sent_at_once_and_the_next_one_a_tick_later() {
        let (mut gatherer, now) = (Gatherer::default(), Instant::now());
        assert_eq!(gatherer.due(), None);
        gatherer.push(block(1, "a").as_bytes(), 0, now);
        assert_eq!(gatherer.due(), Some(now));
        gatherer.take("r", "e", now);
        gatherer.push(block(2, "a").as_bytes(), 0, now + Duration::from_millis(1));
        assert_eq!(gatherer.due(), Some(now + TICK));
    }

    #[test]
    fn a_few_characters_wait_for_more_but_not_for_long() {
        let (mut gatherer, now) = (Gatherer::default(), Instant::now());
        gatherer.push(delta(1, "a", "x").as_bytes(), 0, now);
        assert_eq!(gatherer.due(), Some(now), "the first ones after a pause do not");
        gatherer.take("r", "e", now);
        let soon = now + Duration::from_millis(1);
        gatherer.push(delta(2, "a", "x").as_bytes(), 0, soon);
        assert_eq!(gatherer.due(), Some(now + PATIENCE));
        gatherer.push(delta(3, "a", &"x".repeat(FEW_BYTES)).as_bytes(), 0, soon);
        assert_eq!(gatherer.due(), Some(now + TICK));
    }

    #[test]
    fn what_is_no_record_is_not_sent() {
        let (mut gatherer, now) = (Gatherer::default(), Instant::now());
        assert!(!gatherer.push(b"{}", 3, now));
        assert!(!gatherer.push(b"\xff", 5, now));
        assert!(gatherer.take("r", "e", now).is_none());
    }
}
