//! `push_labeled()` and `push_more()`: rows that most cells have.

use super::super::line::{Line, Look};
use super::super::sheet::Sheet;
use crate::theme::Role;

/// What stands before rows below the first one of a cell.
pub(super) const INDENT: &str = "  ";

/// Lines with a label before the first: `Error: …`.
pub(super) fn push_labeled(sheet: &mut Sheet, label: &str, role: Role, text: &str) {
    let text = run_view::sanitise(text.trim());
    for (number, content) in text.lines().enumerate() {
        let mut line = Line {
            rest_lead: INDENT.to_owned(),
            ..Line::default()
        };
        if number == 0 && !label.is_empty() {
            line.push(label, Look::of(role));
            line.push(": ", Look::of(role));
        } else if number > 0 {
            line.first_lead = INDENT.to_owned();
        }
        let look = if role == Role::Faint {
            Look::of(role)
        } else {
            Look::PLAIN
        };
        line.push(content.trim_end(), look);
        sheet.push(line);
    }
}

/// `… 12 more lines`.
pub(super) fn push_more(sheet: &mut Sheet, count: usize, what: &str) {
    let lines = if count == 1 { "line" } else { "lines" };
    let line = Line::of(&format!("… {count} {what} {lines}"), Look::of(Role::Faint));
    sheet.push(line.led_by(INDENT, Look::PLAIN));
}
