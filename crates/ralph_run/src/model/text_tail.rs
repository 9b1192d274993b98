//! `TextTail`: the end of a text of any length, and cutting text at a character. Used by `RunModel`.

use serde::{Deserialize, Serialize};

/// The first `count` characters.
pub(super) fn head_chars(text: &str, count: usize) -> &str {
    match text.char_indices().nth(count) {
        Some((end, _)) => text.get(..end).unwrap_or_default(),
        None => text,
    }
}

/// The last `MAX_TEXT_BYTES` of a text that is appended to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct TextTail(String);

pub(super) const MAX_TEXT_BYTES: usize = 16 << 10;

impl TextTail {
    pub(super) fn set(&mut self, text: &str) {
        self.0.clear();
        self.push(text);
    }

    pub(super) fn push(&mut self, text: &str) {
        let text = text.get(text.ceil_char_boundary(text.len().saturating_sub(MAX_TEXT_BYTES))..);
        let text = text.unwrap_or_default();
        let excess = (self.0.len() + text.len()).saturating_sub(MAX_TEXT_BYTES);
        if excess > 0 {
            self.0.drain(..self.0.ceil_char_boundary(excess));
        }
        self.0.push_str(text);
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_TEXT_BYTES, TextTail, head_chars};

    #[test]
    fn only_the_end_of_a_long_text_is_kept() {
        let mut tail = TextTail::default();
        for number in 0..3_000 {
            tail.push(&format!("é{number} "));
            assert!(tail.as_str().len() <= MAX_TEXT_BYTES);
        }
        assert!(tail.as_str().ends_with("é2998 é2999 "));
        tail.push(&"ü".repeat(MAX_TEXT_BYTES));
        assert_eq!(tail.as_str(), "ü".repeat(MAX_TEXT_BYTES / 2));
        tail.set("new");
        assert_eq!(tail.as_str(), "new");
    }

    #[test]
    fn the_head_of_a_text_is_counted_in_characters() {
        assert_eq!(head_chars("äöü", 2), "äö");
        assert_eq!(head_chars("äöü", 3), "äöü");
    }
}
