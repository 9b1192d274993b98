//! `ScrollBox`: a frame over the whole screen with rows that scroll. Help and pages are shown in one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use terminal_input::Key;

use super::{Anchor, BoxFrame};
use crate::bindings::{Action, Context, Keymap};
use crate::theme::Theme;
use crate::widgets::{ListScroll, put_spans};

#[derive(Debug, Default)]
pub(super) struct ScrollBox {
    scroll: ListScroll,
    /// How many rows were in view.
    page: usize,
}

/// What a `ScrollBox` shows.
pub(super) struct ScrollText<'a> {
    pub(super) title: &'a str,
    pub(super) rows: &'a [Line<'a>],
    /// How wide they are.
    pub(super) columns: usize,
}

impl ScrollBox {
    /// Whether it stays open.
    pub(super) fn key(&mut self, key: &Key, keymap: &Keymap) -> bool {
        let page = isize::try_from(self.page.saturating_sub(1).max(1)).unwrap_or(1);
        match keymap.action(Context::Reader, key) {
            Some(Action::Close) => return false,
            Some(Action::Down) => self.scroll.scroll(1),
            Some(Action::Up) => self.scroll.scroll(-1),
            Some(Action::PageDown) => self.scroll.scroll(page),
            Some(Action::PageUp) => self.scroll.scroll(-page),
            Some(Action::Top) => self.scroll = ListScroll::default(),
            Some(Action::Bottom) => self.scroll.scroll(isize::MAX),
            _ => {}
        }
        true
    }

    pub(super) fn wheel(&mut self, rows: isize) {
        self.scroll.scroll(rows);
    }

    /// Draws those of the rows that are in view. How many are not is said in the frame, so that none is covered.
    pub(super) fn render(
        &mut self,
        text: &ScrollText<'_>,
        keymap: &Keymap,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
    ) {
        let ScrollText { title, rows, columns } = *text;
        let mut frame = BoxFrame {
            title: "",
            keys: "",
            anchor: Anchor::Center,
            columns,
            rows: rows.len(),
        };
        let inner = frame.content(area);
        self.page = usize::from(inner.height);
        let view = self.scroll.view(rows.len(), None, self.page);
        let title = match view.start {
            0 => title.to_owned(),
            above => format!("{title} · {above} more ↑"),
        };
        let below = rows.len() - view.end;
        let keys = keymap.hints(Context::Reader);
        let keys = match (below, view.start) {
            (0, 0) => keys,
            (0, _) => format!("↑↓ scroll · {keys}"),
            (below, _) => format!("{below} more ↓ · ↑↓ scroll · {keys}"),
        };
        (frame.title, frame.keys) = (&title, &keys);
        frame.render(area, buffer, theme);
        for (y, row) in (0..inner.height).zip(rows.get(view).unwrap_or_default()) {
            put_spans(buffer, inner, y, row);
        }
    }
}
