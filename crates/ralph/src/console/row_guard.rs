//! `RowGuard`: keeps an agent's text from looking like a row of ours, such as `[Permission]`. Colours do not tell them
//! apart: Markdown gives an agent those of tools and headings. `Paragraph` passes its text through it.

use super::paragraph::Pace;

/// The labels of all rows, and how headings begin.
const LABELS: [&str; 26] = [
    "--- Iteration ",
    "--- Run ",
    "--- Stopped ",
    "[Command]",
    "[Denied]",
    "[Error]",
    "[Limit]",
    "[Message]",
    "[Message delivered]",
    "[Message not delivered]",
    "[Message queued]",
    "[Message withdrawn]",
    "[Notice]",
    "[Permission]",
    "[Plan]",
    "[Question]",
    "[Retry]",
    "[Session]",
    "[Task]",
    "[Thinking]",
    "[Timeout]",
    "[Tool]",
    "[Usage]",
    "[Verify]",
    "[Waiting]",
    "[Warning]",
];

/// Puts a backslash before each label in a text.
#[derive(Debug)]
pub(super) struct RowGuard {
    place: Place,
    is_at_line_start: bool,
    /// The beginning of what may become a label.
    held: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    LineStart,
    /// Any word can come to the beginning of a row.
    Anywhere,
}

impl RowGuard {
    /// For a text that begins behind the name of its speaker.
    pub(super) fn new(pace: Pace) -> Self {
        Self {
            place: match pace {
                Pace::Live { .. } => Place::Anywhere,
                Pace::Lines => Place::LineStart,
            },
            is_at_line_start: false,
            held: String::new(),
        }
    }

    /// Passes text on, except for an end that may become a label.
    pub(super) fn pass(&mut self, text: &str, out: &mut String) {
        if self.held.is_empty() && !text.contains(['[', '-']) {
            out.push_str(text);
            self.note_end(text);
            return;
        }
        for character in text.chars() {
            if !self.held.is_empty() {
                self.held.push(character);
                if LABELS.contains(&self.held.as_str()) {
                    out.push('\\');
                    self.flush(out);
                    continue;
                }
                if LABELS.iter().any(|label| label.starts_with(self.held.as_str())) {
                    continue;
                }
                self.held.pop();
                self.flush(out);
            }
            let is_guarded = self.place == Place::Anywhere || self.is_at_line_start;
            if matches!(character, '[' | '-') && is_guarded {
                self.held.push(character);
            } else {
                out.push(character);
            }
            self.is_at_line_start = character == '\n';
        }
    }

    /// No label follows.
    pub(super) fn flush(&mut self, out: &mut String) {
        out.push_str(&self.held);
        self.held.clear();
        self.is_at_line_start = false;
    }

    fn note_end(&mut self, text: &str) {
        if !text.is_empty() {
            self.is_at_line_start = text.ends_with('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LABELS, Pace, RowGuard};

    fn guarded(pace: Pace, pieces: &[&str]) -> String {
        let (mut guard, mut out) = (RowGuard::new(pace), String::new());
        for piece in pieces {
            guard.pass(piece, &mut out);
        }
        guard.flush(&mut out);
        out
    }

    #[test]
    fn a_label_at_the_beginning_of_a_line_is_marked_however_it_arrives() {
        for label in LABELS {
            let text = format!("Done.\n{label} Bash: ls\n[x] {label} [[Tool");
            let shown = format!("Done.\n\\{label} Bash: ls\n[x] {label} [[Tool");
            assert_eq!(guarded(Pace::Lines, &[&text]), shown);
            let pieces: Vec<&str> = text.split_inclusive("").collect();
            assert_eq!(guarded(Pace::Lines, &pieces), shown);
        }
        assert_eq!(
            guarded(Pace::Lines, &["a\n", "[To", "do]\n[Tool", "]"]),
            "a\n[Todo]\n\\[Tool]"
        );
    }

    #[test]
    fn a_row_of_a_terminal_can_begin_with_any_word() {
        let live = |has_styles| guarded(Pace::Live { has_styles }, &["see [[Tool] and\n[Notice]"]);
        assert_eq!(live(false), "see [\\[Tool] and\n\\[Notice]");
        assert_eq!(live(true), live(false));
        let code = guarded(Pace::Live { has_styles: true }, &["`[Tool]` Bash: ls"]);
        assert_eq!(code, "`\\[Tool]` Bash: ls");
    }

    #[test]
    fn a_heading_is_marked_and_a_diff_is_not() {
        let text = "Done.\n--- Run complete ---\n--- a/src/main.rs\n---\n----- Run\n- item";
        let shown = "Done.\n\\--- Run complete ---\n--- a/src/main.rs\n---\n----- Run\n- item";
        assert_eq!(guarded(Pace::Lines, &[text]), shown);
        let pieces: Vec<&str> = text.split_inclusive("").collect();
        assert_eq!(guarded(Pace::Lines, &pieces), shown);
    }
}
