//! `BoxFrame`: the frame around dialogs and requests. `render_rows()` scrolls what is taller than the frame.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Clear, Widget as _};
use run_view::{cut_line, width};

use crate::theme::{Role, Theme};
use crate::widgets::{ListScroll, put};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Center,
    Bottom,
}

/// A frame with a title above and keys below. Both are safe for a terminal.
#[derive(Debug, Clone)]
pub(crate) struct BoxFrame<'a> {
    pub(crate) title: &'a str,
    pub(crate) keys: &'a str,
    pub(crate) anchor: Anchor,
    /// How much room the content would like, without the frame.
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

impl BoxFrame<'_> {
    /// Draws the frame and clears what is below it. Says where the content goes.
    pub(crate) fn render(&self, area: Rect, buffer: &mut Buffer, theme: Theme) -> Rect {
        let columns = u16::try_from(self.columns.saturating_add(4)).unwrap_or(u16::MAX);
        let rows = u16::try_from(self.rows.saturating_add(2)).unwrap_or(u16::MAX);
        let (columns, rows) = (columns.min(area.width), rows.min(area.height));
        let y = match self.anchor {
            Anchor::Center => area.y + (area.height - rows) / 2,
            Anchor::Bottom => area.y + area.height - rows,
        };
        let frame = Rect::new(area.x + (area.width - columns) / 2, y, columns, rows);
        if columns < 6 || rows < 3 {
            return Rect::new(frame.x, frame.y, 0, 0);
        }
        Clear.render(frame, buffer);
        let style = theme.style(Role::Frame);
        put(buffer, frame, 0, &edge(self.title, columns, ('┌', '┐')), style);
        put(
            buffer,
            frame,
            rows - 1,
            &edge(self.keys, columns, ('└', '┘')),
            style,
        );
        for row in 1..rows - 1 {
            put(buffer, frame, row, "│", style);
            let right = Rect::new(frame.right() - 1, frame.y, 1, rows);
            put(buffer, right, row, "│", style);
        }
        let room = columns.saturating_sub(6);
        let title = cut_line(self.title, usize::from(room));
        let title_area = Rect::new(frame.x + 3, frame.y, room, 1);
        put(buffer, title_area, 0, &title, theme.style(Role::Strong));
        let keys = cut_line(self.keys, usize::from(room));
        let keys_area = Rect::new(frame.x + 3, frame.bottom() - 1, room, 1);
        put(buffer, keys_area, 0, &keys, theme.style(Role::Tool));
        Rect::new(frame.x + 2, frame.y + 1, columns - 4, rows - 2)
    }
}

/// `┌─ title ────┐`.
fn edge(text: &str, columns: u16, (left, right): (char, char)) -> String {
    let inner = usize::from(columns) - 2;
    let text = cut_line(text, inner.saturating_sub(4));
    let shown = match text.as_str() {
        "" => String::new(),
        text => format!("─ {text} "),
    };
    let line = "─".repeat(inner.saturating_sub(width(&shown)));
    format!("{left}{shown}{line}{right}")
}

/// Draws the rows in view, and says at the right how many are not.
pub(crate) fn render_rows(
    rows: &[Line<'_>],
    scroll: &mut ListScroll,
    selected: Option<usize>,
    area: Rect,
    buffer: &mut Buffer,
    theme: Theme,
) {
    let view = scroll.view(rows.len(), selected, usize::from(area.height));
    for (index, line) in rows.get(view.clone()).unwrap_or_default().iter().enumerate() {
        let y = area.y + u16::try_from(index).unwrap_or(0);
        buffer.set_line(area.x, y, line, area.width);
    }
    let below = rows.len() - view.end;
    for (count, arrow, row) in [(view.start, '↑', 0), (below, '↓', area.height.saturating_sub(1))] {
        if count > 0 && area.height > 0 {
            let text = format!(" {count} more {arrow}");
            let columns = u16::try_from(width(&text)).unwrap_or(0).min(area.width);
            let place = Rect::new(area.right() - columns, area.y, columns, area.height);
            put(buffer, place, row, &text, theme.style(Role::Warning));
        }
    }
}
