//! The picture of `NewRunForm`. Its rows scroll in a small window; its title and its message are always in view.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use run_view::{one_line, wrap};

use super::new_run_form::{ASK, CONVERSATION, LABELS, NewRunForm, PROMPT, START};
use crate::theme::{Role, Theme};
use crate::widgets::{pad, put};

const LABEL_COLUMNS: u16 = 18;
const MIN_PROMPT_ROWS: usize = 3;
const MAX_PROMPT_ROWS: usize = 8;
/// A long message leaves so many rows for the fields.
const MIN_FORM_ROWS: usize = 4;

impl NewRunForm {
    /// Says where the cursor stands.
    pub(super) fn render(&mut self, area: Rect, buffer: &mut Buffer, theme: Theme) -> Option<Position> {
        let message = self.message_rows(area);
        let message_rows = u16::try_from(message.len()).unwrap_or(0);
        let form = Rect::new(
            area.x,
            area.y + area.height.min(1),
            area.width,
            area.height.saturating_sub(1 + message_rows),
        );
        let places = stop_rows(usize::from(form.height));
        let count = places.last().map_or(0, |last| last.end);
        let rows = usize::from(form.height);
        if let Some(focused) = places.get(self.focus) {
            // Its first row counts most, and then its last one.
            self.scroll.view(count, Some(focused.end.saturating_sub(1)), rows);
            self.scroll.view(count, Some(focused.start), rows);
        }
        let view = self.scroll.view(count, None, rows);
        let title = title(view.start, count - view.end);
        put(buffer, area, 0, &title, theme.style(Role::Strong));
        let mut cursor = None;
        for (stop, place) in places.iter().enumerate() {
            let seen = place.start.max(view.start)..place.end.min(view.end);
            let above = u16::try_from(seen.start.saturating_sub(view.start)).unwrap_or(0);
            let height = u16::try_from(seen.len()).unwrap_or(0);
            if height > 0 {
                let row = Rect::new(form.x, form.y + above, form.width, height);
                let position = self.render_stop(stop, row, buffer, theme);
                cursor = cursor.or(position.filter(|_| stop == self.focus));
            }
        }
        let role = self.message.as_ref().map_or(Role::Faint, |(_, role)| *role);
        for (row, line) in (area.bottom() - message_rows..).zip(&message) {
            put(
                buffer,
                Rect::new(area.x, row, area.width, 1),
                0,
                line,
                theme.style(role),
            );
        }
        cursor
    }

    /// A field, a choice or the button. Says where the cursor would stand.
    fn render_stop(&self, stop: usize, area: Rect, buffer: &mut Buffer, theme: Theme) -> Option<Position> {
        let style = self.label_style(stop, theme);
        let label_columns = LABEL_COLUMNS.min(area.width);
        if let Some((label, field)) = LABELS.get(stop).zip(self.fields.get(stop)) {
            put(buffer, area, 0, &self.marked(stop, label), style);
            let columns = area.width - label_columns;
            let place = Rect::new(area.x + label_columns, area.y, columns, area.height);
            return field.render(place, buffer, theme);
        }
        let choice = match stop {
            ASK => Some(("Ask", self.asks, "approve each action")),
            CONVERSATION => Some((
                "Conversation",
                self.is_conversation,
                "wait for messages instead of looping",
            )),
            _ => None,
        };
        let Some((label, is_on, meaning)) = choice else {
            put(buffer, area, 0, &self.marked(stop, "[ Start ]"), style);
            return Some(Position::new(area.x + 2, area.y));
        };
        let mark = if is_on { "[x]" } else { "[ ]" };
        let label = pad(&self.marked(stop, label), usize::from(LABEL_COLUMNS));
        put(buffer, area, 0, &format!("{label}{mark} {meaning}"), style);
        Some(Position::new(area.x + label_columns + 1, area.y))
    }

    /// Why the run was not started, in full as far as there is room.
    fn message_rows(&self, area: Rect) -> Vec<String> {
        let Some((message, _)) = &self.message else {
            return Vec::new();
        };
        let text = wrap(&one_line(message, usize::MAX), 0, usize::from(area.width));
        let rows = usize::from(area.height).saturating_sub(1 + MIN_FORM_ROWS);
        text.lines().take(rows).map(str::to_owned).collect()
    }

    /// `> Prompt`: what has the focus is also seen without colors.
    fn marked(&self, stop: usize, label: &str) -> String {
        let mark = if stop == self.focus { '>' } else { ' ' };
        format!("{mark} {label}")
    }

    fn label_style(&self, stop: usize, theme: Theme) -> Style {
        theme.style(match stop == self.focus {
            true => Role::Strong,
            false => Role::Faint,
        })
    }
}

/// The rows of each field, choice and button. The prompt has what the others leave.
fn stop_rows(rows: usize) -> Vec<Range<usize>> {
    let prompt_rows = rows.saturating_sub(START).clamp(MIN_PROMPT_ROWS, MAX_PROMPT_ROWS);
    let heights = (0..=START).map(|stop| if stop == PROMPT { prompt_rows } else { 1 });
    let mut start = 0;
    heights
        .map(|height| {
            let place = start..start + height;
            start = place.end;
            place
        })
        .collect()
}

/// `New run · 2 more ↑ · 3 more ↓`.
fn title(above: usize, below: usize) -> String {
    let mut title = "New run".to_owned();
    for (hidden, arrow) in [(above, '↑'), (below, '↓')] {
        if hidden > 0 {
            title.push_str(&format!(" · {hidden} more {arrow}"));
        }
    }
    title
}
