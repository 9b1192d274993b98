//! Draws the run screen: header, transcript, side list, request, fields, footer, and a dialog over them.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use run_view::{one_line, width, wrap};

use super::footer::render_footer;
use super::header::{Presence, header_rows, render_header};
use super::screen::{RunScreen, is_quiet};
use super::side_list;
use crate::app::Now;
use crate::bindings::{Action, BoundRow, Context};
use crate::request::{panel_rows, render_request, request_title};
use crate::theme::{Role, Theme};
use crate::transcript::Filter;
use crate::widgets::put;

/// Why the journal cannot be read, which is longest in a narrow window.
const MAX_PROBLEM_COLUMNS: usize = 400;
const MAX_PROBLEM_ROWS: usize = 4;

impl RunScreen {
    pub(crate) fn render(
        &mut self,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
        now: Now,
    ) -> Option<Position> {
        self.areas.columns = area.width;
        let (header, rest) = split_top(area, header_rows(area.height));
        render_header(
            &self.model,
            self.name(),
            self.presence,
            header,
            buffer,
            theme,
            now,
        );
        let (mut rest, footer) = split_bottom(rest, 1);
        render_footer(
            &self.keymap,
            self.footer_context(),
            |row| self.does(row),
            &self.reading_status(),
            footer,
            buffer,
            theme,
        );
        let mut cursor = None;
        if let Some(field) = &self.search {
            let (above, row) = split_bottom(rest, 1);
            rest = above;
            put(buffer, row, 0, "/", theme.style(Role::Strong));
            let place = Rect::new(row.x + 1, row.y, row.width.saturating_sub(1), 1);
            cursor = field.render(place, buffer, theme);
        }
        if self.composer.is_open {
            let (above, place) = split_bottom(rest, self.composer.rows());
            rest = above;
            cursor = self.composer.render(place, buffer, theme).or(cursor);
        }
        if let Some(problem) = &self.problem {
            let text = wrap(
                &one_line(problem, MAX_PROBLEM_COLUMNS),
                0,
                usize::from(rest.width),
            );
            let lines: Vec<&str> = text.lines().take(MAX_PROBLEM_ROWS).collect();
            let (above, place) = split_bottom(rest, u16::try_from(lines.len()).unwrap_or(1));
            rest = above;
            for (row, line) in (0..).zip(lines) {
                put(buffer, place, row, line, theme.style(Role::Bad));
            }
        }
        let (rest, panel_cursor) = self.render_prompt(rest, buffer, theme, now);
        let rest = self.render_side(area.width, rest, buffer, theme);
        self.areas.transcript = rest;
        // A tool that was running when the runner was killed has stopped: its time does not grow.
        let at = match self.presence {
            Presence::Lost => self.model.last_at().unwrap_or(now.at),
            Presence::Loading | Presence::Live => now.at,
        };
        self.view.render(&self.transcript, rest, buffer, theme, at);
        if let Some(dialog) = &mut self.dialog {
            let is_armed = is_quiet(self.last_key_at, now);
            return dialog.render(&self.model, is_armed, &self.keymap, area, buffer, theme);
        }
        cursor.or(panel_cursor)
    }

    /// The request above the footer: in full, or in one row while something else takes the keys.
    fn render_prompt(
        &mut self,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
        now: Now,
    ) -> (Rect, Option<Position>) {
        self.areas.panel = Rect::default();
        let waiting = self.model.requests().len().saturating_sub(1);
        let is_writing = self.composer.is_open || self.search.is_some();
        let Some(prompt) = self.prompt.as_mut().filter(|prompt| !prompt.is_answered()) else {
            return (area, None);
        };
        if prompt.is_hidden() || is_writing {
            let hint = match is_writing {
                true => "  esc to answer (your text is kept)",
                false => "  tab to answer",
            };
            let (above, row) = split_bottom(area, 1);
            let room = usize::from(area.width).saturating_sub(width(hint));
            let title = request_title(prompt, room);
            put(buffer, row, 0, &title, theme.style(Role::NeedsPerson));
            let used = u16::try_from(width(&title)).unwrap_or(0).min(row.width);
            let place = Rect::new(row.x + used, row.y, row.width - used, 1);
            put(buffer, place, 0, hint, theme.style(Role::Faint));
            return (above, None);
        }
        let wanted = u16::try_from(panel_rows(prompt, area.width)).unwrap_or(u16::MAX);
        // A row or two of the transcript stay in view.
        let (above, place) = split_bottom(area, wanted.min(area.height.saturating_sub(2)));
        self.areas.panel = place;
        let cursor = render_request(prompt, waiting, place, buffer, theme, now);
        (above, cursor)
    }

    fn render_side(&mut self, columns: u16, area: Rect, buffer: &mut Buffer, theme: Theme) -> Rect {
        self.areas.side = Rect::default();
        if !self.has_side_list || columns < side_list::MIN_SCREEN_COLUMNS {
            return area;
        }
        let left = area.width - side_list::COLUMNS;
        let side = Rect::new(area.x + left, area.y, side_list::COLUMNS, area.height);
        self.areas.side = side;
        self.areas.side_targets = side_list::render_side_list(&self.model, side, buffer, theme);
        Rect::new(area.x, area.y, left, area.height)
    }

    /// Whose keys the footer names.
    fn footer_context(&self) -> Option<Context> {
        if self.search.is_some() {
            Some(Context::Search)
        } else if self.composer.is_open {
            Some(Context::Message)
        } else if self.has_field() {
            // The dialog names its own keys.
            None
        } else {
            Some(Context::Run)
        }
    }

    /// Whether a key does something now, for the footer.
    fn does(&self, row: &BoundRow) -> bool {
        let is_taken = self.open_prompt().is_some_and(|prompt| {
            let of_request = self.keymap.rows(Context::Request);
            let mut taken = of_request
                .filter(|other| prompt.takes(other.binding.action))
                .flat_map(|other| &other.keys);
            taken.any(|key| row.keys.contains(key))
        });
        if is_taken {
            return false;
        }
        match row.binding.action {
            Action::Message
            | Action::QueueMessage
            | Action::Interrupt
            | Action::Stop
            | Action::TopUp
            | Action::ChangeModel
            | Action::ChangePermissionMode => !self.has_ended(),
            Action::ShowQueue => self.model.messages().open().len() > 0,
            Action::Follow => !self.view.is_following() || !self.has_ended(),
            Action::NextHit => self.view.hits().is_some(),
            // It clears these first, as the status says.
            Action::Back => self.view.hits().is_none() && self.view.filter() == Filter::All,
            _ => true,
        }
    }

    /// `hit 3/12 · edits only · 5 new ↓`.
    fn reading_status(&self) -> String {
        let mut parts = Vec::new();
        match self.view.hits() {
            Some((_, count)) if self.view.is_searching(&self.transcript) => {
                parts.push(format!("searching… {count}"));
            }
            Some((_, 0)) => parts.push("no match".to_owned()),
            Some((current, all)) => parts.push(format!("hit {current}/{all}")),
            None => {}
        }
        match self.view.filter() {
            Filter::All => {}
            Filter::Conversation => parts.push("conversation only".to_owned()),
            Filter::Tools => parts.push("tools only".to_owned()),
            Filter::Edits => parts.push("edits only".to_owned()),
            Filter::Errors => parts.push("errors only".to_owned()),
        }
        if !parts.is_empty() && self.search.is_none() {
            parts.push("esc clears".to_owned());
        }
        if !self.view.is_following() {
            parts.push(match self.view.new_cells_below(&self.transcript) {
                0 => "paused".to_owned(),
                count => format!("{count} new ↓"),
            });
        }
        if self.composer.has_draft() && !self.composer.is_open {
            parts.push("draft kept".to_owned());
        }
        parts.join(" · ")
    }
}

fn split_top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (
        Rect::new(area.x, area.y, area.width, rows),
        Rect::new(area.x, area.y + rows, area.width, area.height - rows),
    )
}

fn split_bottom(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let above = area.height - rows;
    (
        Rect::new(area.x, area.y, area.width, above),
        Rect::new(area.x, area.y + above, area.width, rows),
    )
}
