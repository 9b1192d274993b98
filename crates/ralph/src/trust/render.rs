//! Renders settings of a file that is not trusted so that a person sees exactly what would run.

use std::fmt::Write as _;

use ralph_run::{Redactor, secrets_among};

use super::filter::LeftOut;
use super::rule::Risk;
use run_view::visible;

/// A file with more settings is cut.
const MAX_LINES: usize = 200;

/// A value on one line, as safe text in which nothing is hidden.
pub fn show(value: &str) -> String {
    visible(value).replace('\n', "\\n").replace('\t', "\\t")
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

/// One line for each setting, indented: key, value, and what it does. Programs come first and are all shown.
pub fn render_left_out(left_out: &[LeftOut]) -> String {
    let (programs, others): (Vec<_>, Vec<_>) = left_out.iter().partition(|item| item.why == Risk::Executes);
    let shown_others = MAX_LINES.saturating_sub(programs.len());
    let mut text = String::new();
    for LeftOut { key, value, why } in programs.iter().chain(others.iter().take(shown_others)) {
        let _ = writeln!(text, "  {}: {value}  ({})", show(key), why.explain());
    }
    if others.len() > shown_others {
        let _ = writeln!(
            text,
            "  and {} more that run no program: see the file",
            others.len() - shown_others
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{render_left_out, show, show_variable};
    use crate::trust::{LeftOut, Risk};

    #[test]
    fn a_value_is_one_line_with_nothing_hidden() {
        assert_eq!(show("true \u{1b}[8m\r\nrm\t-rf"), "true \\u{1b}[8m\\r\\nrm\\t-rf");
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
    fn a_very_long_list_shows_every_program_first() {
        let item = |key: &str, why| LeftOut {
            key: key.to_owned(),
            value: "x".to_owned(),
            why,
        };
        let mut items = vec![item("cli.env.A", Risk::Redirects); 250];
        items.push(item("verify", Risk::Executes));
        let text = render_left_out(&items);
        assert!(text.starts_with("  verify: x"), "{text}");
        assert_eq!(text.lines().count(), 201);
        assert!(
            text.ends_with("  and 51 more that run no program: see the file\n"),
            "{text}"
        );
        let programs = vec![item("verify", Risk::Executes); 250];
        assert_eq!(render_left_out(&programs).lines().count(), 250);
    }
}
