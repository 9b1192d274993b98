//! `render_footer()`: the keys that work here, made from the table of keys, and at the right where the reader is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use run_view::width;

use crate::bindings::{Context, footer_hints};
use crate::theme::{Role, Theme};
use crate::widgets::{put, put_spans};

/// Draws the footer in one row. Hints that do not fit are left out, the least important ones first.
pub(super) fn render_footer(context: Context, status: &str, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let status_columns = u16::try_from(width(status)).unwrap_or(u16::MAX).min(area.width);
    let mut room = usize::from(area.width - status_columns).saturating_sub(usize::from(status_columns > 0));
    let mut shown = Vec::new();
    for row in footer_hints(context) {
        let columns = width(row.label) + 1 + width(row.hint) + 2;
        if columns > room {
            break;
        }
        room -= columns;
        shown.push(row);
    }
    // Help and quit matter most and stand last.
    shown.reverse();
    let mut spans = Vec::new();
    for row in shown {
        spans.push(Span::styled(row.label, theme.style(Role::Tool)));
        spans.push(Span::styled(format!(" {}  ", row.hint), theme.style(Role::Faint)));
    }
    put_spans(buffer, area, 0, &Line::from(spans));
    let place = Rect::new(area.right() - status_columns, area.y, status_columns, 1);
    put(buffer, place, 0, status, theme.style(Role::Strong));
}
