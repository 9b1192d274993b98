//! `tail`: the end of a verify command's output, for prompts and records.

use std::borrow::Cow;

/// Including the note about the rest.
pub const TAIL_LINES: usize = 100;

/// Including the note about the rest.
pub const TAIL_BYTES: usize = 8 * 1024;

/// Room for the note, whatever its figure.
const NOTE_BYTES: usize = 64;

/// The end of a text within [`TAIL_LINES`] and [`TAIL_BYTES`]; a first line says how much is missing. Whole lines,
/// unless the last one alone is too long.
pub fn tail(text: &str) -> Cow<'_, str> {
    tail_within(text, TAIL_LINES, TAIL_BYTES)
}

/// The same within other bounds. `max_bytes` must leave room for the line that says how much is missing.
pub fn tail_within(text: &str, max_lines: usize, max_bytes: usize) -> Cow<'_, str> {
    let text = text.trim_end();
    if text.len() <= max_bytes && text.lines().nth(max_lines).is_none() {
        return Cow::Borrowed(text);
    }
    let room = max_bytes.saturating_sub(NOTE_BYTES);
    let line_starts = text.rmatch_indices('\n').map(|(at, _)| at + 1);
    let start = line_starts
        .take(max_lines.saturating_sub(1))
        .take_while(|&start| text.len() - start <= room)
        .last();
    if let Some(start) = start {
        let missing = text[..start].lines().count();
        let unit = if missing == 1 { "line" } else { "lines" };
        return Cow::Owned(format!(
            "[… {missing} earlier {unit} left out]\n{}",
            &text[start..]
        ));
    }
    let cut = text.ceil_char_boundary(text.len().saturating_sub(room));
    Cow::Owned(format!("[… {cut} earlier bytes left out]\n{}", &text[cut..]))
}
