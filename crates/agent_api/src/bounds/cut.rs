//! Cuts and splits texts between characters.

use super::{MESSAGE_BYTES, TEXT_BYTES};

const TRUNCATED: &str = "…(truncated)";
const BEGINNING_CUT: &str = "(truncated)…";

/// A message of at most [`MESSAGE_BYTES`] bytes. A longer one ends with `…(truncated)`.
#[must_use]
pub fn cut_message(text: impl Into<String>) -> String {
    cut(text.into(), MESSAGE_BYTES)
}

/// A text of at most [`TEXT_BYTES`] bytes, cut in the same way. For texts that are not split into several events.
#[must_use]
pub fn cut_text(text: impl Into<String>) -> String {
    cut(text.into(), TEXT_BYTES)
}

pub(crate) fn cut(mut text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    text.truncate(text.floor_char_boundary(limit - TRUNCATED.len()));
    text.push_str(TRUNCATED);
    text
}

/// Replaces the content of `kept` by `text`. If it is too long its end is kept, since a promise can be in the last line.
pub(crate) fn keep_end(kept: &mut String, text: &str, limit: usize) {
    kept.clear();
    if text.len() > limit {
        kept.push_str(BEGINNING_CUT);
    }
    let room = limit - kept.len();
    let start = text.ceil_char_boundary(text.len().saturating_sub(room));
    kept.push_str(&text[start..]);
}

/// The pieces of a text, each at most [`TEXT_BYTES`] bytes and cut between characters. An empty text is one piece.
pub fn split_text(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let (piece, more) = text.split_at(text.floor_char_boundary(TEXT_BYTES));
        rest = (!more.is_empty()).then_some(more);
        Some(piece)
    })
}

/// An output of at most [`TEXT_BYTES`] bytes, and its length if it had to be cut. Three quarters are kept from the start
/// and one from the end, because commands print errors last.
#[must_use]
pub fn cut_output(text: String) -> (String, Option<u64>) {
    if text.len() <= TEXT_BYTES {
        return (text, None);
    }
    // Room for the line in between, whose number has at most 20 digits.
    let room = TEXT_BYTES - 64;
    let head = text.floor_char_boundary(room / 4 * 3);
    let tail = text.ceil_char_boundary(text.len() - room / 4);
    let output = format!(
        "{}\n…({} bytes omitted)…\n{}",
        &text[..head],
        tail - head,
        &text[tail..]
    );
    (output, Some(text.len() as u64))
}

#[cfg(test)]
mod tests {
    use super::{cut_message, cut_output, keep_end, split_text};
    use crate::bounds::{MESSAGE_BYTES, TEXT_BYTES};

    #[test]
    fn a_message_at_the_bound_stays_whole() {
        let text = "x".repeat(MESSAGE_BYTES);
        assert_eq!(cut_message(text.clone()), text);
    }

    #[test]
    fn a_longer_message_says_that_it_was_cut() {
        for text in [
            "x".repeat(MESSAGE_BYTES + 1),
            "é".repeat(MESSAGE_BYTES),
            "🎉".repeat(MESSAGE_BYTES),
        ] {
            let message = cut_message(text.clone());
            assert!(message.len() <= MESSAGE_BYTES && message.len() > MESSAGE_BYTES - 8);
            assert!(text.starts_with(message.strip_suffix("…(truncated)").unwrap()));
        }
    }

    #[test]
    fn of_a_text_that_is_too_long_the_end_stays() {
        let mut kept = "before".to_owned();
        keep_end(&mut kept, &"x".repeat(32), 32);
        assert_eq!(kept, "x".repeat(32));
        for limit in 32..40 {
            keep_end(&mut kept, &format!("{}done\n", "🎉".repeat(32)), limit);
            assert!(kept.len() <= limit && kept.len() > limit - 4);
            assert!(kept.starts_with("(truncated)…🎉") && kept.ends_with("🎉done\n"));
        }
    }

    #[test]
    fn pieces_join_to_the_whole() {
        for text in [
            String::new(),
            "x".repeat(TEXT_BYTES),
            "x".repeat(TEXT_BYTES + 1),
            format!("a{}", "🎉".repeat(TEXT_BYTES)),
        ] {
            let pieces: Vec<&str> = split_text(&text).collect();
            assert_eq!(pieces.concat(), text);
            assert!(pieces.iter().all(|piece| piece.len() <= TEXT_BYTES));
            let most = text.len().div_ceil(TEXT_BYTES - 3).max(1);
            assert!((1..=most).contains(&pieces.len()));
        }
    }

    #[test]
    fn an_output_keeps_both_ends_and_says_what_is_missing() {
        let text = format!("start{}end", "é".repeat(TEXT_BYTES));
        let (output, bytes) = cut_output(text.clone());
        assert_eq!(bytes, Some(text.len() as u64));
        assert!(output.len() <= TEXT_BYTES && output.len() > TEXT_BYTES - 80);
        assert!(output.starts_with("start") && output.ends_with("end"));
        let omitted: usize = output
            .split("…(")
            .nth(1)
            .and_then(|rest| rest.split(' ').next())
            .unwrap()
            .parse()
            .unwrap();
        let kept = output.len() - format!("\n…({omitted} bytes omitted)…\n").len();
        assert_eq!(kept + omitted, text.len());
        assert_eq!(cut_output("short".into()), ("short".into(), None));
    }
}
