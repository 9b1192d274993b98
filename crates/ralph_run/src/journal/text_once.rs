//! Text is journaled once: the record keeper leaves out text that the journal already has (`WrittenTexts`), and every
//! reader puts it back (`restore_text`). See ADR 5.

use std::borrow::Cow;
use std::io::{self, Read, Seek, SeekFrom};

use agent_api::{
    Body, DeltaMode, Event, ItemId, Part, Piece, TextBlock, ThinkingBlock, TurnFinished, bounds,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::record::RunEvent;

/// Shorter text is repeated: a reference to it would save little.
const MIN_TEXT_BYTES: usize = 256;
/// A record is at most this far behind the start of its text, so that restoring it reads a bounded part of the file.
const MAX_DISTANCE_BYTES: u64 = 1 << 20;
/// At most this many texts are remembered. One that was forgotten is repeated in its block.
const MAX_TEXTS: usize = 8;

/// How a field that refers to earlier text starts in a line.
const REFERENCE: &[u8] = b"\"text_from\":";

/// The kinds of events whose text is incomplete, and what they are with all of it.
const SHORT_KINDS: [(&str, &str); 2] = [
    ("text_block_rest", "text_block"),
    ("thinking_block_rest", "thinking_block"),
];

/// The kind of an event once its text is restored.
#[must_use]
pub fn restored_kind(kind: &str) -> &str {
    let restored = SHORT_KINDS.iter().find(|(short, _)| *short == kind);
    restored.map_or(kind, |(_, restored)| restored)
}

/// The text that comes before the `text` of a record: what earlier records say about an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TextFrom {
    /// The item; `None` if it is the record's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    item: Option<ItemId>,
    /// Where the first of these records starts in the journal.
    offset: u64,
    /// The length of the text.
    bytes: usize,
    /// FNV-1a of the text.
    checksum: u32,
}

impl TextFrom {
    fn of(written: &WrittenText) -> Self {
        Self {
            item: None,
            offset: written.offset,
            bytes: written.text.len(),
            checksum: checksum(&written.text),
        }
    }
}

/// An event without the text that the journal already has.
#[derive(Debug, Serialize)]
pub(crate) struct ShortBody {
    #[serde(rename = "type")]
    kind: &'static str,
    data: ShortData,
}

#[derive(Debug, Serialize)]
struct ShortData {
    #[serde(flatten)]
    rest: Rest,
    text_from: TextFrom,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Rest {
    Text(TextBlock),
    Thinking(ThinkingBlock),
    Turn(Box<TurnFinished>),
}

/// The texts that are in the journal and may come again: of items that are being written, and the last blocks.
#[derive(Debug, Default)]
pub(crate) struct WrittenTexts(Vec<WrittenText>);

#[derive(Debug)]
struct WrittenText {
    item: ItemId,
    /// Where its first record starts in the journal.
    offset: u64,
    text: String,
}

impl WrittenTexts {
    /// The event of a record at `offset` without the text that is in the journal already; `None` if it has none.
    pub(crate) fn shorten(&self, event: &RunEvent, offset: u64) -> Option<ShortBody> {
        let RunEvent::Agent(event) = event else {
            return None;
        };
        let short = |kind, rest, text_from| {
            let data = ShortData { rest, text_from };
            Some(ShortBody { kind, data })
        };
        match &event.body {
            Body::TextBlock(block) if block.piece == Piece::WHOLE => {
                let written = self.start_of(&block.item, &block.text, offset)?;
                let rest = TextBlock {
                    item: block.item.clone(),
                    text: rest_of(&block.text, written),
                    ..*block
                };
                short("text_block_rest", Rest::Text(rest), TextFrom::of(written))
            }
            Body::ThinkingBlock(block) if block.piece == Piece::WHOLE => {
                let written = self.start_of(&block.item, &block.text, offset)?;
                let rest = ThinkingBlock {
                    item: block.item.clone(),
                    text: rest_of(&block.text, written),
                    ..*block
                };
                short("thinking_block_rest", Rest::Thinking(rest), TextFrom::of(written))
            }
            Body::TurnFinished(turn) => {
                let text = turn.text.as_deref()?;
                let written = self.0.iter().rfind(|written| written.text == text)?;
                if !written.is_worth_it(offset) {
                    return None;
                }
                let item = Some(written.item.clone());
                let text_from = TextFrom {
                    item,
                    ..TextFrom::of(written)
                };
                // Readers that do not know `text_from` still learn that the turn ended.
                let mut rest = turn.clone();
                rest.text = None;
                short("turn_finished", Rest::Turn(rest), text_from)
            }
            _ => None,
        }
    }

    /// Takes note of a record that was written at `offset`, shortened or not.
    pub(crate) fn note(&mut self, event: &RunEvent, offset: u64) {
        let RunEvent::Agent(Event { body, .. }) = event else {
            return;
        };
        match body {
            Body::Delta(delta) if matches!(delta.part, Part::Text | Part::Thinking) => {
                let is_snapshot = delta.mode == DeltaMode::Snapshot;
                match self.0.iter_mut().find(|written| written.item == delta.item) {
                    Some(written) if !is_snapshot => written.text.push_str(&delta.text),
                    _ => self.start(&delta.item, &delta.text, offset),
                }
                self.0.retain(|written| written.text.len() <= bounds::TEXT_BYTES);
            }
            Body::TextBlock(block) => {
                let start = self.start_of(&block.item, &block.text, offset);
                let offset = start.map_or(offset, |written| written.offset);
                self.forget(&block.item);
                if block.piece == Piece::WHOLE && block.text.len() >= MIN_TEXT_BYTES {
                    self.start(&block.item, &block.text, offset);
                }
            }
            Body::ThinkingBlock(block) => self.forget(&block.item),
            Body::ItemDiscarded(discarded) => self.forget(&discarded.item),
            _ => {}
        }
    }

    /// Forgets everything: what was written last may be missing, or its items are over.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// What the journal has of a text that a record at `offset` completes.
    fn start_of(&self, item: &ItemId, text: &str, offset: u64) -> Option<&WrittenText> {
        let written = self.0.iter().find(|written| written.item == *item)?;
        (text.starts_with(&written.text) && written.is_worth_it(offset)).then_some(written)
    }

    fn start(&mut self, item: &ItemId, text: &str, offset: u64) {
        self.forget(item);
        if self.0.len() == MAX_TEXTS {
            self.0.remove(0);
        }
        self.0.push(WrittenText {
            item: item.clone(),
            offset,
            text: text.to_owned(),
        });
    }

    fn forget(&mut self, item: &ItemId) {
        self.0.retain(|written| written.item != *item);
    }
}

impl WrittenText {
    fn is_worth_it(&self, offset: u64) -> bool {
        self.text.len() >= MIN_TEXT_BYTES && offset.saturating_sub(self.offset) <= MAX_DISTANCE_BYTES
    }
}

fn rest_of(text: &str, written: &WrittenText) -> String {
    text.get(written.text.len()..).unwrap_or_default().to_owned()
}

/// Whether [`restore_text`] may have something to restore in these lines. Cheap.
#[must_use]
pub fn may_lack_text(lines: &[u8]) -> bool {
    memchr::memmem::find(lines, REFERENCE).is_some()
}

/// The line of a record with all of its text. Nearly all lines have it; where earlier records of the journal have the
/// start of it, they are read again. `offset` is where the line starts. The position in `journal` stays as it was.
///
/// # Errors
/// If the earlier records cannot be read or do not have that text: then it is lost.
pub fn restore_text<'a>(
    line: &'a [u8],
    offset: u64,
    journal: &mut (impl Read + Seek),
) -> io::Result<Cow<'a, [u8]>> {
    if !may_lack_text(line) {
        return Ok(Cow::Borrowed(line));
    }
    let mut record: Value = serde_json::from_slice(line)?;
    let event = record.get_mut("event").and_then(Value::as_object_mut);
    let Some(event) = event else {
        return Ok(Cow::Borrowed(line));
    };
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    let restored = restored_kind(kind).to_owned();
    let is_short = restored != kind || kind == "turn_finished";
    let data = event.get_mut("data").and_then(Value::as_object_mut);
    let reference = data.filter(|_| is_short).and_then(|data| {
        let reference = data.remove("text_from")?;
        Some((data, reference))
    });
    // Something else in the line has that name.
    let Some((data, reference)) = reference else {
        return Ok(Cow::Borrowed(line));
    };
    let reference = TextFrom::deserialize(reference)?;
    let own_item = || data.get("item").and_then(Value::as_str).map(ItemId::new);
    let item = reference.item.clone().or_else(own_item).ok_or_else(lost)?;
    let mut text = read_text(&reference, &item, offset, journal)?;
    text.push_str(data.get("text").and_then(Value::as_str).unwrap_or_default());
    data.insert("text".to_owned(), Value::String(text));
    event.insert("type".to_owned(), Value::String(restored));
    Ok(Cow::Owned(serde_json::to_vec(&record)?))
}

/// The text of an item, as the records from `reference` up to `end` have it.
fn read_text(
    reference: &TextFrom,
    item: &ItemId,
    end: u64,
    journal: &mut (impl Read + Seek),
) -> io::Result<String> {
    let distance = end.checked_sub(reference.offset);
    let distance = distance.filter(|distance| *distance <= MAX_DISTANCE_BYTES);
    let distance = distance.ok_or_else(lost)?;
    let position = journal.stream_position()?;
    let mut bytes = Vec::new();
    journal.seek(SeekFrom::Start(reference.offset))?;
    let read = journal.by_ref().take(distance).read_to_end(&mut bytes);
    journal.seek(SeekFrom::Start(position))?;
    read?;
    let mut text = String::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(EarlierLine { event }) = serde_json::from_slice(line) else {
            continue;
        };
        let words = event
            .data
            .and_then(|data| serde_json::from_str::<Words<'_>>(data.get()).ok());
        let Some(words) = words.filter(|words| words.item == item.as_str()) else {
            continue;
        };
        let replaces = match &*event.kind {
            "delta" if matches!(words.part, Some(Part::Text | Part::Thinking)) => {
                words.mode == DeltaMode::Snapshot
            }
            "text_block" | "thinking_block" => words.piece.index == 0,
            kind if restored_kind(kind) != kind => false,
            _ => continue,
        };
        if replaces {
            text.clear();
        }
        text.push_str(&words.text);
    }
    let is_same = text.len() == reference.bytes && checksum(&text) == reference.checksum;
    is_same.then_some(text).ok_or_else(lost)
}

fn lost() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "earlier records do not have its text any more",
    )
}

#[derive(Deserialize)]
struct EarlierLine<'a> {
    #[serde(borrow)]
    event: EarlierEvent<'a>,
}

#[derive(Deserialize)]
struct EarlierEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

/// A delta, a block, or the rest of a block.
#[derive(Deserialize)]
struct Words<'a> {
    #[serde(borrow)]
    item: Cow<'a, str>,
    #[serde(default)]
    part: Option<Part>,
    #[serde(default)]
    mode: DeltaMode,
    #[serde(default)]
    piece: Piece,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

/// FNV-1a: enough to notice damage.
fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}
