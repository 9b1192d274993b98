//! `HelpDialog`: all keys, made from the table of keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use run_view::wrap;
use terminal_input::{Key, Mouse, MouseAction};

use super::{Anchor, BoxFrame, render_rows};
use crate::bindings::{BINDINGS, Context};
use crate::theme::{Role, Theme};
use crate::widgets::ListScroll;

const LABEL_COLUMNS: usize = 12;
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
    pub(crate) fn key(&mut self, key: &Key) -> bool {
        scroll_key(key, &mut self.scroll, self.page)
    }

    pub(crate) fn render(&mut self, area: Rect, buffer: &mut Buffer, theme: Theme) {
        let columns = usize::from(area.width).saturating_sub(4).min(MAX_COLUMNS);
        let rows = help_rows(self.context, columns, theme);
        let frame = BoxFrame {
            title: "Keys",
            keys: "↑↓ scroll · esc close",
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

fn help_rows(first: Context, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    let mut contexts = Context::ALL;
    contexts.sort_by_key(|context| *context != first);
    for context in contexts {
        let bindings: Vec<_> = BINDINGS.iter().filter(|row| row.context == context).collect();
        if bindings.is_empty() {
            continue;
        }
        if !rows.is_empty() {
            rows.push(Line::default());
        }
        rows.push(Line::from(Span::styled(
            context.title(),
            theme.style(Role::Strong),
        )));
        for binding in bindings {
            let help = wrap(binding.help, 0, columns.saturating_sub(LABEL_COLUMNS));
            for (index, text) in help.lines().enumerate() {
                let label = if index == 0 { binding.label } else { "" };
                rows.push(Line::from(vec![
                    Span::styled(format!("{label:<LABEL_COLUMNS$}"), theme.style(Role::Tool)),
                    Span::raw(text.to_owned()),
                ]));
            }
        }
    }
    rows
}

/// Scrolls a text of which `page` rows are in view. Whether it stays open.
pub(super) fn scroll_key(key: &Key, scroll: &mut ListScroll, page: usize) -> bool {
    let page = isize::try_from(page.saturating_sub(1).max(1)).unwrap_or(1);
    match key {
        Key::Escape | Key::Character('q' | '?') => return false,
        Key::Down | Key::Character('j') => scroll.scroll(1),
        Key::Up | Key::Character('k') => scroll.scroll(-1),
        Key::PageDown | Key::Character(' ') | Key::EndOfInput => scroll.scroll(page),
        Key::PageUp | Key::Character('b') | Key::DeleteToStart => scroll.scroll(-page),
        Key::Home | Key::Character('g') => *scroll = ListScroll::default(),
        Key::End | Key::Character('G') => scroll.scroll(isize::MAX / 2),
        Key::Mouse(Mouse { action, .. }) => match action {
            MouseAction::WheelUp => scroll.scroll(-3),
            MouseAction::WheelDown => scroll.scroll(3),
            MouseAction::Press | MouseAction::Release | MouseAction::Drag => {}
        },
        _ => {}
    }
    true
}
