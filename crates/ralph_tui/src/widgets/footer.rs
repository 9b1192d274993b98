//! `render_footer()`: the keys that work here, as many as fit.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use run_view::width;

use super::text::put_spans;
use crate::bindings::{Action, BoundRow, Context, Keymap};
use crate::theme::{Role, Theme};

const GAP: &str = "  ";

/// The last row of a screen: the keys that do something now. Hints with a higher number are dropped first.
pub(crate) fn render_footer(
    keymap: &Keymap,
    context: Context,
    does_something: impl Fn(&BoundRow) -> bool,
    area: Rect,
    buffer: &mut Buffer,
    theme: Theme,
) {
    let mut spans = Vec::new();
    for row in fitting_rows(keymap, context, does_something, usize::from(area.width)) {
        if !spans.is_empty() {
            spans.push(Span::raw(GAP));
        }
        spans.push(Span::styled(row.label(), theme.style(Role::Strong)));
        let hint = format!(" {}", row.binding.hint);
        spans.push(Span::styled(hint, theme.style(Role::Faint)));
    }
    put_spans(buffer, area, 0, &Line::from(spans));
}

/// Those that fit, with help and quit, the most important ones, at the end.
fn fitting_rows(
    keymap: &Keymap,
    context: Context,
    does_something: impl Fn(&BoundRow) -> bool,
    columns: usize,
) -> Vec<&BoundRow> {
    let mut free = columns + GAP.len();
    let mut fitting: Vec<&BoundRow> = Vec::new();
    for row in keymap.footer_rows(context) {
        if !does_something(row) {
            continue;
        }
        let needed = width(&row.label()) + 1 + width(row.binding.hint) + GAP.len();
        if needed > free {
            break;
        }
        free -= needed;
        fitting.push(row);
    }
    let is_common = |row: &&BoundRow| matches!(row.binding.action, Action::Quit | Action::Help);
    fitting.sort_by_key(is_common);
    fitting
}

#[cfg(test)]
mod tests {
    use super::fitting_rows;
    use crate::bindings::{Action, Context, Keymap};

    #[test]
    fn help_and_quit_are_dropped_last() {
        let keymap = Keymap::default();
        let actions = |columns, hidden: Option<Action>| -> Vec<Action> {
            let is_shown = |row: &crate::bindings::BoundRow| Some(row.binding.action) != hidden;
            let rows = fitting_rows(&keymap, Context::Home, is_shown, columns);
            rows.iter().map(|row| row.binding.action).collect()
        };
        for columns in [14, 60, 80, 200] {
            let shown = actions(columns, None);
            assert!(shown.contains(&Action::Quit), "{columns}");
            assert_eq!(shown.last(), Some(&Action::Help));
        }
        assert!(actions(80, None).len() < actions(200, None).len());
        assert!(!actions(200, Some(Action::Open)).contains(&Action::Open));
    }
}
