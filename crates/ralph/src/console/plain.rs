//! Writes text that is not part of a run: messages, lists, errors.

use std::io::Write;

use run_view::one_line;
use run_view::sanitise;

/// Writes all of it. A closed stream is not an error.
pub fn write_text(out: &mut dyn Write, text: &str) {
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

pub fn write_stdout(text: &str) {
    write_text(&mut std::io::stdout().lock(), text);
}

/// Writes a message of ralph's own. It is sanitised: it may quote a repository's file or an agent.
pub fn write_stderr(text: &str) {
    write_text(&mut std::io::stderr().lock(), &sanitise(text));
}

/// An error as `ralph: …`: sanitised, and on several lines only where it has a list.
pub fn render_error(message: &str) -> String {
    /// Longer than any message of ours; some quote an agent's output.
    const MAX_COLUMNS: usize = 2_000;
    const MAX_LINES: usize = 50;
    let message = sanitise(message);
    let mut text = "ralph: ".to_owned();
    let lines = message.lines().filter(|line| !line.trim().is_empty());
    for (number, line) in lines.take(MAX_LINES).enumerate() {
        if number > 0 {
            text.push_str("  ");
        }
        text.push_str(&one_line(line, MAX_COLUMNS));
        text.push('\n');
    }
    text
}

/// How many columns the terminal has, if there is one and it says.
pub fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

/// How many rows the terminal has, if there is one and it says.
pub(super) fn terminal_height() -> Option<usize> {
    terminal_size::terminal_size().map(|(_, height)| usize::from(height.0))
}

#[cfg(test)]
mod tests {
    use super::render_error;

    #[test]
    fn a_list_in_an_error_keeps_its_lines() {
        assert_eq!(
            render_error(
                "several open requests; choose one with --request:\na\u{1b}[2J permission\n\n  b question\n"
            ),
            "ralph: several open requests; choose one with --request:\n  a permission\n  b question\n"
        );
        assert_eq!(render_error("no run `x`"), "ralph: no run `x`\n");
    }
}
