//! The picture of the home screen. Only rows in view are formatted.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::columns::Columns;
use super::row::render_row;
use super::run_filter::{StateGroup, WorkspaceScope};
use super::screen::{HomeDialog, HomeScreen, PREVIEW_MIN_COLUMNS};
use crate::app::Now;
use crate::bindings::Context;
use crate::theme::{Role, Theme};
use crate::widgets::{pad, put, put_spans, render_footer};

const MIN_PREVIEW_COLUMNS: u16 = 48;
const MAX_PREVIEW_COLUMNS: u16 = 90;

const FILTER_LABEL: &str = "Filter: ";
/// How much of the filter's text is seen before its hint.
const MIN_FILTER_COLUMNS: u16 = 16;

impl HomeScreen {
    pub(crate) fn render(
        &mut self,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
        now: Now,
    ) -> Option<Position> {
        self.columns = area.width;
        self.drawn.clear();
        let body = Rect::new(area.x, area.y, area.width, area.height.saturating_sub(1));
        let footer = Rect::new(
            area.x,
            area.y + body.height,
            area.width,
            area.height - body.height,
        );
        match &mut self.dialog {
            Some(HomeDialog::NewRun) => {
                let keys = self.keymap.hints(Context::NewRun);
                put(buffer, footer, 0, &keys, theme.style(Role::Faint));
                return self.form.as_mut()?.render(body, buffer, theme);
            }
            Some(HomeDialog::Answer(_) | HomeDialog::Filter | HomeDialog::Stop { .. }) | None => {}
        }
        self.draw_footer(footer, buffer, theme);
        let (body, answer_cursor) = self.draw_answer(body, buffer, theme, now);
        put_spans(buffer, body, 0, &self.heading(theme));
        let mut top = 1;
        let mut cursor = None;
        let is_typing = matches!(self.dialog, Some(HomeDialog::Filter));
        if is_typing || self.list.filter.is_active() {
            cursor = self.draw_filter(below(body, top), buffer, theme);
            top += 1;
        }
        let (list, side) = split(below(body, top), self.list.selected().is_some());
        if let (Some(side), Some(run)) = (side, self.list.selected()) {
            draw_frame(side, buffer, theme);
            self.preview.render(run, inside(side), buffer, theme, now);
        }
        let row = self.draw_list(list, buffer, theme, now);
        if let Some(HomeDialog::Stop { dialog, .. }) = &self.dialog {
            dialog.render(self.is_quiet(now), &self.keymap, area, buffer, theme);
            return None;
        }
        match self.dialog {
            Some(HomeDialog::Answer(_)) => answer_cursor,
            _ => cursor.filter(|_| is_typing).or(row),
        }
    }

    /// The request that is being answered, below the list. Says where the list goes.
    fn draw_answer(
        &mut self,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
        now: Now,
    ) -> (Rect, Option<Position>) {
        let Some(HomeDialog::Answer(dialog)) = &mut self.dialog else {
            return (area, None);
        };
        // The heading stays in view.
        let rows = dialog.rows(area.width).min(area.height.saturating_sub(1));
        let place = below(area, area.height - rows);
        let cursor = dialog.render(place, buffer, theme, now);
        (Rect::new(area.x, area.y, area.width, area.height - rows), cursor)
    }

    fn heading(&self, theme: Theme) -> Line<'static> {
        let mut spans = vec![Span::styled("Runs", theme.style(Role::Strong))];
        for group in StateGroup::ALL {
            let count = self.list.count(group);
            let role = match group {
                StateGroup::NeedsPerson if count > 0 => Role::NeedsPerson,
                StateGroup::NeedsPerson | StateGroup::Active | StateGroup::Ended => Role::Faint,
            };
            if count > 0 {
                let text = format!(" · {count} {}", group.name());
                spans.push(Span::styled(text, theme.style(role)));
            }
        }
        if self.unreadable > 0 {
            let text = format!(" · {} unreadable", self.unreadable);
            spans.push(Span::styled(text, theme.style(Role::Bad)));
        }
        Line::from(spans)
    }

    fn draw_filter(&self, area: Rect, buffer: &mut Buffer, theme: Theme) -> Option<Position> {
        let filter = &self.list.filter;
        let mut label = String::new();
        if let Some(group) = filter.group {
            label.push_str(&format!("[{}] ", group.name()));
        }
        if filter.scope == WorkspaceScope::Here {
            label.push_str("[this workspace] ");
        }
        let left = format!("{FILTER_LABEL}{label}");
        put(buffer, area, 0, &left, theme.style(Role::Strong));
        let columns = |text: &str| u16::try_from(run_view::width(text)).unwrap_or(u16::MAX);
        let counts = format!("{} of {}", self.list.len(), self.list.total());
        let hint = match self.dialog {
            Some(HomeDialog::Filter) => " · esc clears",
            _ => " · esc clears the filter",
        };
        let needed = columns(&left).saturating_add(columns(&counts)) + columns(hint) + MIN_FILTER_COLUMNS;
        let counts = match needed <= area.width {
            true => counts + hint,
            false => counts,
        };
        let right = columns(&counts).min(area.width);
        let counts_area = Rect::new(area.right() - right, area.y, right, 1);
        put(buffer, counts_area, 0, &counts, theme.style(Role::Faint));
        let start = columns(&left).min(area.width);
        let width = area.width.saturating_sub(start + right + 1);
        filter
            .text
            .render(Rect::new(area.x + start, area.y, width, 1), buffer, theme)
    }

    fn draw_list(&mut self, area: Rect, buffer: &mut Buffer, theme: Theme, now: Now) -> Option<Position> {
        self.list_area = Rect::default();
        // A long request leaves no room for runs.
        if area.height < 2 {
            return None;
        }
        if self.list.len() == 0 {
            self.draw_empty(area, buffer, theme);
            return None;
        }
        let columns = Columns::fit(usize::from(area.width));
        let heads: Vec<String> = columns
            .iter()
            .map(|(column, width)| match column.is_right_aligned() {
                true => format!("{:>width$}", column.head()),
                false => pad(column.head(), width),
            })
            .collect();
        put(buffer, area, 0, &heads.join(" "), theme.style(Role::Faint));
        let rows = below(area, 1);
        self.list_area = rows;
        let selected = self.list.selected_row();
        let count = self.list.len();
        let view = self.list.scroll.view(count, selected, usize::from(rows.height));
        draw_scroll_signs(view.start, count - view.end, area, buffer, theme);
        let mut cursor = None;
        for (row, place) in (0..rows.height).zip(view) {
            let Some(run) = self.list.row(place) else { continue };
            let line = render_row(run, self.list.is_snoozed(run), &columns, theme, now.at);
            put_spans(buffer, rows, row, &line);
            if selected == Some(place) {
                let y = rows.y + row;
                // One style for the whole row: dim and colored text is hard to read when reversed.
                let style = Style::reset().patch(theme.style(Role::Selected));
                buffer.set_style(Rect::new(rows.x, y, rows.width, 1), style);
                cursor = Some(Position::new(rows.x, y));
            }
            self.drawn.push(run.file.run_id.clone());
            #[cfg(test)]
            {
                self.formatted_rows += 1;
            }
        }
        cursor
    }

    fn draw_empty(&self, area: Rect, buffer: &mut Buffer, theme: Theme) {
        if !self.has_runs {
            return put(buffer, area, 1, "loading…", theme.style(Role::Faint));
        }
        if self.list.total() > 0 {
            put(buffer, area, 1, "No run matches the filter.", Style::new());
            return put(
                buffer,
                area,
                2,
                "Press esc to list all runs.",
                theme.style(Role::Faint),
            );
        }
        put(buffer, area, 1, "There are no runs yet.", Style::new());
        let hint = "Press c to start one here, or start it in a shell with `ralph run`.";
        for (row, line) in (2..).zip(run_view::wrap(hint, 0, usize::from(area.width)).lines()) {
            put(buffer, area, row, line, theme.style(Role::Faint));
        }
    }

    fn draw_footer(&self, area: Rect, buffer: &mut Buffer, theme: Theme) {
        let keys = match &self.dialog {
            Some(HomeDialog::Filter) => Some(self.keymap.hints(Context::Filter)),
            Some(HomeDialog::Answer(dialog)) => Some(dialog.keys().to_owned()),
            // Both name their own keys, and no other key works.
            Some(HomeDialog::NewRun | HomeDialog::Stop { .. }) => Some(String::new()),
            None => None,
        };
        if let Some(keys) = keys {
            return put(buffer, area, 0, &keys, theme.style(Role::Faint));
        }
        render_footer(
            &self.keymap,
            Context::Home,
            |row| self.does(row.binding.action),
            area,
            buffer,
            theme,
        );
    }
}

/// `25 more ↑ · 3 more ↓`, in the row of the column heads, so that no run is covered.
fn draw_scroll_signs(above: usize, under: usize, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let signs = [(above, '↑'), (under, '↓')]
        .into_iter()
        .filter(|(hidden, _)| *hidden > 0);
    let signs: Vec<String> = signs
        .map(|(hidden, arrow)| format!("{hidden} more {arrow}"))
        .collect();
    if signs.is_empty() {
        return;
    }
    let text = format!(" {}", signs.join(" · "));
    let columns = u16::try_from(run_view::width(&text)).unwrap_or(0).min(area.width);
    let place = Rect::new(area.right() - columns, area.y, columns, 1);
    put(buffer, place, 0, &text, theme.style(Role::Warning));
}

fn below(area: Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    Rect::new(area.x, area.y + rows, area.width, area.height - rows)
}

/// The list, and in a wide window the preview at its right.
fn split(area: Rect, has_preview: bool) -> (Rect, Option<Rect>) {
    if area.width < PREVIEW_MIN_COLUMNS || !has_preview {
        return (area, None);
    }
    let columns = (area.width / 10 * 3).clamp(MIN_PREVIEW_COLUMNS, MAX_PREVIEW_COLUMNS);
    let list = Rect::new(area.x, area.y, area.width - columns, area.height);
    let side = Rect::new(area.x + list.width, area.y, columns, area.height);
    (list, Some(side))
}

fn draw_frame(area: Rect, buffer: &mut Buffer, theme: Theme) {
    let column = Rect::new(area.x, area.y, area.width, area.height);
    for row in 0..area.height {
        put(buffer, column, row, " │", theme.style(Role::Frame));
    }
}

/// Right of the frame.
fn inside(area: Rect) -> Rect {
    let frame = 3.min(area.width);
    Rect::new(area.x + frame, area.y, area.width - frame, area.height)
}
