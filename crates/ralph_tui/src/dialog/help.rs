//! `HelpDialog`: all keys, made from the table of keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use run_view::wrap;
use terminal_input::Key;

use super::{Anchor, BoxFrame, render_rows};
use crate::bindings::{Action, Context, Keymap};
use crate::theme::{Role, Theme};
use crate::widgets::{ListScroll, pad};

const LABEL_COLUMNS: usize = 18;
const MAX_COLUMNS: usize = 90;

#[derive(Debug)]
pub(crate) struct HelpDialog {
    /// Its keys come first.
    context: Context,
    scroll: ListScroll,
    page: usize,
}

impl HelpDialog {
    pub(crate) fn new(context: Context) -> Self {
        Self {
            context,
            scroll: ListScroll::default(),
            page: 0,
        }
    }

    /// Whether it stays open.
    pub(crate) fn key(&mut self, key: &Key, keymap: &Keymap) -> bool {
        scroll_key(key, keymap, &mut self.scroll, self.page)
    }

    pub(crate) fn wheel(&mut self, rows: isize) {
        self.scroll.scroll(rows);
    }

    pub(crate) fn render(&mut self, keymap: &Keymap, area: Rect, buffer: &mut Buffer, theme: Theme) {
        let columns = usize::from(area.width).saturating_sub(4).min(MAX_COLUMNS);
        let rows = help_rows(keymap, self.context, columns, theme);
        let frame = BoxFrame {
            title: "Keys",
            keys: &format!("↑↓ scroll · {}", keymap.hints(Context::Reader)),
            anchor: Anchor::Center,
            columns,
            rows: rows.len(),
        };
        let inner = frame.render(area, buffer, theme);
        self.page = usize::from(inner.height);
        let row = |index: usize| rows.get(index).cloned().unwrap_or_default();
        render_rows(rows.len(), &mut self.scroll, None, inner, buffer, theme, row);
    }
}

fn help_rows(keymap: &Keymap, first: Context, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    let mut contexts = Context::ALL;
    contexts.sort_by_key(|context| *context != first);
    for context in contexts {
        if !rows.is_empty() {
            rows.push(Line::default());
        }
        rows.push(Line::from(Span::styled(
            context.title(),
            theme.style(Role::Strong),
        )));
        for row in keymap.rows(context) {
            let help = wrap(row.binding.help, 0, columns.saturating_sub(LABEL_COLUMNS));
            let labels = row.labels().join(" ");
            for (index, text) in help.lines().enumerate() {
                let label = if index == 0 { &*labels } else { "" };
                rows.push(Line::from(vec![
                    Span::styled(pad(label, LABEL_COLUMNS), theme.style(Role::Tool)),
                    Span::raw(text.to_owned()),
                ]));
            }
        }
    }
    rows
}

/// Scrolls a text of which `page` rows are in view. Whether it stays open.
pub(super) fn scroll_key(key: &Key, keymap: &Keymap, scroll: &mut ListScroll, page: usize) -> bool {
    let page = isize::try_from(page.saturating_sub(1).max(1)).unwrap_or(1);
    match keymap.action(Context::Reader, key) {
        Some(Action::Close) => return false,
        Some(Action::Down) => scroll.scroll(1),
        Some(Action::Up) => scroll.scroll(-1),
        Some(Action::PageDown) => scroll.scroll(page),
        Some(Action::PageUp) => scroll.scroll(-page),
        Some(Action::Top) => *scroll = ListScroll::default(),
        Some(Action::Bottom) => scroll.scroll(isize::MAX / 2),
        _ => {}
    }
    true
}
