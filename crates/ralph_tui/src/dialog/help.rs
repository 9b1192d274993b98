//! `HelpDialog`: all keys, made from the table of keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use run_view::wrap;
use terminal_input::Key;

use super::scroll_box::{ScrollBox, ScrollText};
use crate::bindings::{Context, Keymap};
use crate::theme::{Role, Theme};
use crate::widgets::pad;

const LABEL_COLUMNS: usize = 18;
const MAX_COLUMNS: usize = 90;

#[derive(Debug)]
pub(crate) struct HelpDialog {
    /// Its keys come first.
    context: Context,
    view: ScrollBox,
}

impl HelpDialog {
    pub(crate) fn new(context: Context) -> Self {
        Self {
            context,
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
        let columns = usize::from(area.width).saturating_sub(4).min(MAX_COLUMNS);
        let rows = help_rows(keymap, self.context, columns, theme);
        let text = ScrollText {
            title: "Keys",
            rows: &rows,
            columns,
        };
        self.view.render(&text, keymap, area, buffer, theme);
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
