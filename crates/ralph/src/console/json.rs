//! `render_json()`: JSON that is safe to show in a terminal.

use serde::Serialize;

use run_view::is_forbidden;

/// A value as one line of JSON that is safe to show: characters that a terminal would obey or hide are escaped, which does
/// not change the meaning. Every JSON output of the program goes through this or [`render_json_pretty`].
pub fn render_json(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(value).map(|text| escape(&text, &[]))
}

/// The same in several lines.
pub fn render_json_pretty(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(value).map(|text| escape(&text, &['\n']))
}

/// Control characters below the space are only between tokens, where a space means the same. The other forbidden
/// characters are only in strings, where they can be escaped.
fn escape(text: &str, kept: &[char]) -> String {
    let mut safe = String::with_capacity(text.len() + 1);
    for character in text.chars() {
        if kept.contains(&character) {
            safe.push(character);
        } else if character < ' ' {
            safe.push(' ');
        } else if is_forbidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            safe.push(character);
        }
    }
    safe.push('\n');
    safe
}

#[cfg(test)]
mod tests {
    use super::{render_json, render_json_pretty};
    use serde_json::json;

    #[test]
    fn json_is_safe_in_a_terminal_and_means_the_same() {
        let value = json!({"a\u{202e}": ["\u{9b}31m\u{1b}[2J\u{2066}", 1, {}], "b": {"c": null}});
        let (line, pretty) = (render_json(&value).unwrap(), render_json_pretty(&value).unwrap());
        assert!(line.is_ascii() && pretty.is_ascii(), "{line}{pretty}");
        assert_eq!((line.lines().count(), pretty.lines().count()), (1, 10));
        for text in [line, pretty] {
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        }
    }
}
