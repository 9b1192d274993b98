//! `CallContent` and `StreamedOutput`: what a call has shown so far, within bounds.

use json_lines::Value;

use crate::bounds::{LIST_ENTRIES, TEXT_BYTES, cut_output};

/// Diffs of longer texts are not computed: the result would be too long for an event anyway.
const MAX_DIFF_BYTES: usize = 512 << 10;
/// What an output that was cut keeps of its beginning and of its end; the rest is for the line between.
const HEAD_BYTES: usize = (TEXT_BYTES - 64) / 4 * 3;
const TAIL_BYTES: usize = (TEXT_BYTES - 64) / 4;

/// The content blocks of a call.
#[derive(Debug, Default, Clone)]
pub(super) struct CallContent {
    /// All texts, cut like an output.
    pub(super) text: Option<String>,
    /// How long the text was before it was cut, if it was.
    pub(super) whole_bytes: Option<u64>,
    /// Everything that is neither text nor a diff, in words.
    pub(super) attachments: Vec<String>,
    pub(super) diffs: Vec<Diff>,
}

/// A file before and after a change.
#[derive(Debug, Clone)]
pub(super) struct Diff {
    pub(super) path: String,
    /// The agent's word for what happened to the file.
    pub(super) word: Option<String>,
    pub(super) is_new: bool,
    /// The old and the new text, if they are short enough to be compared.
    pub(super) texts: Option<(String, String)>,
}

impl CallContent {
    pub(super) fn of(blocks: &[Value]) -> Self {
        let texts: Vec<&str> = blocks.iter().filter_map(content_text).collect();
        let (text, whole_bytes) = if texts.is_empty() {
            (None, None)
        } else {
            let (text, whole_bytes) = cut_output(texts.join("\n"));
            (Some(text), whole_bytes)
        };
        let mut room = MAX_DIFF_BYTES;
        let diffs = blocks.iter().filter_map(|block| Diff::of(block, &mut room));
        Self {
            text,
            whole_bytes,
            attachments: blocks.iter().filter_map(attachment).take(LIST_ENTRIES).collect(),
            diffs: diffs.take(LIST_ENTRIES).collect(),
        }
    }
}

impl Diff {
    fn of(block: &Value, room: &mut usize) -> Option<Self> {
        if block.text("type") != Some("diff") {
            return None;
        }
        let old = block.text("oldText").unwrap_or_default();
        let new = block.text("newText").unwrap_or_default();
        let length = old.len() + new.len();
        let fits = length <= *room;
        if fits {
            *room -= length;
        }
        Some(Self {
            path: block.text("path")?.to_owned(),
            word: block
                .at(&["_meta", "kind"])
                .and_then(Value::as_str)
                .map(str::to_owned),
            is_new: old.is_empty(),
            texts: fits.then(|| (old.to_owned(), new.to_owned())),
        })
    }
}

fn content_text<'v>(block: &'v Value) -> Option<&'v str> {
    let content = content_of(block)?;
    content
        .text("text")
        .or_else(|| content.get("resource")?.text("text"))
}

fn attachment(block: &Value) -> Option<String> {
    let content = content_of(block)?;
    let kind = content.text("type").filter(|kind| *kind != "text")?;
    let mime = content.text("mimeType").unwrap_or(kind);
    Some(match (content.text("data"), content.text("uri")) {
        // Base64: four letters for three bytes.
        (Some(data), _) => format!("{mime}, {} bytes", data.len() / 4 * 3),
        (None, Some(uri)) => format!("{mime}, {uri}"),
        (None, None) => mime.to_owned(),
    })
}

fn content_of<'v>(block: &'v Value<'v>) -> Option<&'v Value<'v>> {
    block
        .get("content")
        .filter(|_| block.text("type") == Some("content"))
}

/// Output that comes in pieces. Of a long one the beginning and the end are kept.
#[derive(Debug, Default, Clone)]
pub(super) struct StreamedOutput {
    head: String,
    tail: String,
    /// What was between them.
    omitted: u64,
}

impl StreamedOutput {
    pub(super) fn push(&mut self, piece: &str) {
        let room = if self.tail.is_empty() {
            HEAD_BYTES.saturating_sub(self.head.len())
        } else {
            0
        };
        let (first, rest) = piece.split_at(piece.floor_char_boundary(room));
        self.head.push_str(first);
        self.tail.push_str(rest);
        if self.tail.len() > 2 * TAIL_BYTES {
            self.shorten_tail();
        }
    }

    fn shorten_tail(&mut self) {
        let start = self.tail.len().saturating_sub(TAIL_BYTES);
        let start = self.tail.ceil_char_boundary(start);
        self.tail.drain(..start);
        self.omitted += start as u64;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// What is known of it, and how long it was if some is missing.
    pub(super) fn text(&self) -> (String, Option<u64>) {
        if self.omitted == 0 {
            return cut_output(format!("{}{}", self.head, self.tail));
        }
        let mut kept = self.clone();
        kept.shorten_tail();
        let Self { head, tail, omitted } = kept;
        let whole = head.len() as u64 + omitted + tail.len() as u64;
        (
            format!("{head}\n…({omitted} bytes omitted)…\n{tail}"),
            Some(whole),
        )
    }
}
