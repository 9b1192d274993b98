//! `FrameBuilder`: joins the records of a moment into one frame, for the follower and for [`backfill`](super::backfill).

use std::time::{Duration, Instant};

use agent_api::{Delta, DeltaMode, ItemId};
use ralph_run::RecordHead;
use ralph_run::ports::Place;
use serde::Serialize;

use super::frame::Frame;

/// Frames of a run are at least this far apart.
/// The runner has joined pieces of text already; the first frame after a pause does not wait.
const TICK: Duration = Duration::from_millis(16);
/// A frame is not much longer than this, so that one that is shared by many is not a burden.
const MAX_BYTES: usize = 256 << 10;

/// Collects the records of a run until they are sent together.
#[derive(Debug, Default)]
pub(super) struct FrameBuilder {
    waiting: Vec<Waiting>,
    bytes: usize,
    range: Option<(u64, u64)>,
    start: Place,
    end: Place,
    since: Option<Instant>,
    sent: Option<Instant>,
}

#[derive(Debug)]
enum Waiting {
    Record(String),
    Delta(Box<JoinedDelta>),
}

/// Pieces of one text, joined.
#[derive(Debug)]
struct JoinedDelta {
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

impl FrameBuilder {
    /// Takes a line of a journal, which begins at `start` and ends at `end`. Says whether it is a record.
    pub(super) fn push(&mut self, line: &[u8], (start, end): (Place, Place), now: Instant) -> bool {
        self.end = end;
        let (Ok(text), Some(head)) = (std::str::from_utf8(line), RecordHead::parse(line)) else {
            return false;
        };
        let from = match self.range {
            Some((from, _)) => from,
            None => {
                self.start = start;
                head.seq
            }
        };
        self.range = Some((from, head.seq));
        self.since.get_or_insert(now);
        match delta_of(&head) {
            Some(delta) => self.push_delta(delta),
            None => self.push_record(&head, text),
        }
        true
    }

    fn push_delta(&mut self, new: JoinedDelta) {
        self.bytes += new.delta.text.len();
        if let Some(Waiting::Delta(last)) = self.waiting.last_mut()
            && last.delta.item == new.delta.item
            && last.delta.part == new.delta.part
            && new.delta.mode == DeltaMode::Append
        {
            last.seq = new.seq;
            last.delta.text.push_str(&new.delta.text);
            return;
        }
        self.waiting.push(Waiting::Delta(Box::new(new)));
    }

    fn push_record(&mut self, head: &RecordHead<'_>, text: &str) {
        if let Some(item) = ended_item(head) {
            // The block has all of it.
            self.waiting
                .retain(|waiting| !matches!(waiting, Waiting::Delta(delta) if delta.delta.item == item));
        }
        self.bytes += text.len();
        self.waiting.push(Waiting::Record(text.to_owned()));
    }

    /// When what waits is to be sent; none if nothing waits.
    pub(super) fn due(&self) -> Option<Instant> {
        let since = self.since?;
        match self.sent {
            Some(sent) if !self.is_full() => Some(since.max(sent + TICK)),
            _ => Some(since),
        }
    }

    /// Whether no more should be added.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= MAX_BYTES
    }

    /// All that waits, as one frame.
    pub(super) fn take(&mut self, run: &str, epoch: &str, now: Instant) -> Option<Frame> {
        let range = self.range.take()?;
        let records: Vec<String> = self.waiting.drain(..).filter_map(Waiting::encode).collect();
        self.bytes = 0;
        self.since = None;
        self.sent = Some(now);
        Some(Frame::new(run, epoch, range, (self.start, self.end), &records))
    }
}

impl Waiting {
    fn encode(self) -> Option<String> {
        match self {
            Self::Record(text) => Some(text),
            Self::Delta(joined) => serde_json::to_string(&Joined {
                seq: joined.seq,
                at: &joined.at,
                iteration: joined.position.0,
                attempt: joined.position.1,
                event: JoinedEvent {
                    parent: joined.parent.as_ref(),
                    r#type: "delta",
                    data: &joined.delta,
                },
            })
            .ok(),
        }
    }
}

fn delta_of(head: &RecordHead<'_>) -> Option<JoinedDelta> {
    if !head.is_delta() {
        return None;
    }
    Some(JoinedDelta {
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
    use std::time::{Duration, Instant};

    use ralph_run::ports::Place;
    use serde_json::Value;

    use super::{FrameBuilder, TICK};

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
        let (mut builder, now) = (FrameBuilder::default(), Instant::now());
        for line in lines {
            assert!(builder.push(line.as_bytes(), (Place::START, Place::START), now));
        }
        let frame = builder.take("r", "e", now).unwrap();
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
        let (mut builder, now) = (FrameBuilder::default(), Instant::now());
        assert_eq!(builder.due(), None);
        builder.push(block(1, "a").as_bytes(), (Place::START, Place::START), now);
        assert_eq!(builder.due(), Some(now));
        builder.take("r", "e", now);
        builder.push(
            block(2, "a").as_bytes(),
            (Place::START, Place::START),
            now + Duration::from_millis(1),
        );
        assert_eq!(builder.due(), Some(now + TICK));
    }

    #[test]
    fn what_is_no_record_is_not_sent() {
        let (mut builder, now) = (FrameBuilder::default(), Instant::now());
        assert!(!builder.push(b"{}", (Place::START, 3.into()), now));
        assert!(!builder.push(b"\xff", (3.into(), 5.into()), now));
        assert!(builder.take("r", "e", now).is_none());
    }
}
