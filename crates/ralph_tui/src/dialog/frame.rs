//! `BoxFrame`: the frame around dialogs and requests. `render_rows()` scrolls what is taller than the frame.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget as _};
use run_view::{cut_line, width};

use crate::theme::{Role, Theme};
use crate::widgets::{ListScroll, put, put_spans};

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
        let frame = self.place(area);
        let (columns, rows) = (frame.width, frame.height);
        if columns < 6 || rows < 3 {
            return self.content(area);
        }
        Clear.render(frame, buffer);
        let style = theme.style(Role::Frame);
        let title = Span::styled(self.title, theme.style(Role::Strong));
        put_spans(buffer, frame, 0, &edge(title, columns, ("┌", "┐"), style));
        let keys = Span::styled(self.keys, theme.style(Role::Tool));
        put_spans(buffer, frame, rows - 1, &edge(keys, columns, ("└", "┘"), style));
        for row in 1..rows - 1 {
            put(buffer, frame, row, "│", style);
            let right = Rect::new(frame.right() - 1, frame.y, 1, rows);
            put(buffer, right, row, "│", style);
        }
        self.content(area)
    }

    /// Where the content goes. Empty if there is no room for a frame.
    pub(crate) fn content(&self, area: Rect) -> Rect {
        let frame = self.place(area);
        match frame.width < 6 || frame.height < 3 {
            true => Rect::new(frame.x, frame.y, 0, 0),
            false => Rect::new(frame.x + 2, frame.y + 1, frame.width - 4, frame.height - 2),
        }
    }

    fn place(&self, area: Rect) -> Rect {
        let columns = u16::try_from(self.columns.saturating_add(4)).unwrap_or(u16::MAX);
        let rows = u16::try_from(self.rows.saturating_add(2)).unwrap_or(u16::MAX);
        let (columns, rows) = (columns.min(area.width), rows.min(area.height));
        let y = match self.anchor {
            Anchor::Center => area.y + (area.height - rows) / 2,
            Anchor::Bottom => area.y + area.height - rows,
        };
        Rect::new(area.x + (area.width - columns) / 2, y, columns, rows)
    }
}

/// `┌─ title ────┐`.
fn edge(
    text: Span<'_>,
    columns: u16,
    (left, right): (&'static str, &'static str),
    style: Style,
) -> Line<'static> {
    let inner = usize::from(columns) - 2;
    let shown = cut_line(&text.content, inner.saturating_sub(4));
    let used = if shown.is_empty() { 0 } else { width(&shown) + 3 };
    let line = "─".repeat(inner.saturating_sub(used));
    let mut spans = vec![Span::styled(left, style)];
    if used > 0 {
        spans.push(Span::styled("─ ", style));
        spans.push(Span::styled(shown, text.style));
        spans.push(Span::raw(" "));
    }
    spans.push(Span::styled(format!("{line}{right}"), style));
    Line::from(spans)
}

/// Draws those of `count` rows that are in view, and says at the right how many are not. Says which are in view.
pub(crate) fn render_rows(
    count: usize,
    scroll: &mut ListScroll,
    selected: Option<usize>,
    area: Rect,
    buffer: &mut Buffer,
    theme: Theme,
    row: impl Fn(usize) -> Line<'static>,
) -> Range<usize> {
    let view = scroll.view(count, selected, usize::from(area.height));
    for (y, index) in (area.y..).zip(view.clone()) {
        buffer.set_line(area.x, y, &row(index), area.width);
    }
    let below = count - view.end;
    for (hidden, arrow, row) in [(view.start, '↑', 0), (below, '↓', area.height.saturating_sub(1))] {
        if hidden > 0 && area.height > 0 {
            let text = format!(" {hidden} more {arrow}");
            let columns = u16::try_from(width(&text)).unwrap_or(0).min(area.width);
            let place = Rect::new(area.right() - columns, area.y, columns, area.height);
            put(buffer, place, row, &text, theme.style(Role::Warning));
        }
    }
    view
}
