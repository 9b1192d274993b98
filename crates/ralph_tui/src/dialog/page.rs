//! `PageDialog`: a text to be read, such as the agent's own line of a record. Nothing in it is hidden.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use run_view::{escape_hidden, one_line};
use terminal_input::Key;

use super::scroll_box::{ScrollBox, ScrollText};
use crate::bindings::Keymap;
use crate::theme::Theme;
use crate::widgets::rows_of;

/// More is not shown. The raw log has it.
const MAX_BYTES: usize = 256 * 1_024;

#[derive(Debug)]
pub(crate) struct PageDialog {
    title: String,
    text: String,
    /// The rows at a width.
    rows: Option<(usize, Vec<Line<'static>>)>,
    view: ScrollBox,
}

impl PageDialog {
    pub(crate) fn new(title: &str, text: &str) -> Self {
        let end = text.floor_char_boundary(MAX_BYTES);
        let mut shown = escape_hidden(text.get(..end).unwrap_or_default());
        if end < text.len() {
            shown.push_str(&format!("\n… {} more bytes", text.len() - end));
        }
        Self {
            title: one_line(title, 200),
            text: shown,
            rows: None,
            view: ScrollBox::default(),
        }
    }

    /// Whether it stays open.
    pub(crate) fn key(&mut self, key: &Key, keymap: &Keymap) -> bool {
        self.view.key(key, keymap)
    }

    pub(crate) fn wheel(&mut self, rows: isize) {
        self.view.wheel(rows);
    }

    pub(crate) fn render(&mut self, keymap: &Keymap, area: Rect, buffer: &mut Buffer, theme: Theme) {
        let columns = usize::from(area.width).saturating_sub(4);
        if self.rows.as_ref().is_none_or(|(at, _)| *at != columns) {
            let rows = rows_of(&self.text, columns.max(1)).into_iter().map(Line::from);
            self.rows = Some((columns, rows.collect()));
        }
        let rows = self.rows.as_ref().map_or(&[][..], |(_, rows)| rows);
        let text = ScrollText {
            title: &self.title,
            rows,
            columns,
        };
        self.view.render(&text, keymap, area, buffer, theme);
    }
}
