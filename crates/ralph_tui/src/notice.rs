//! `Notice`: what was done or why it failed, at the bottom of the screen for a few seconds.

use std::time::{Duration, Instant};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget as _};
use run_view::{one_line, wrap};

use crate::theme::{Role, Theme};
use crate::widgets::put;

const SHORT_TIME: Duration = Duration::from_secs(4);
/// For a notice that takes a while to read.
const LONG_TIME: Duration = Duration::from_secs(10);
const SHORT_COLUMNS: usize = 80;

const MAX_COLUMNS: usize = 400;
const MAX_ROWS: usize = 4;

#[derive(Debug)]
pub(crate) struct Notice {
    /// Safe for a terminal, in one line.
    text: String,
    pub(crate) until: Instant,
}

impl Notice {
    /// `None` if there is nothing to say.
    pub(crate) fn new(text: &str, now: Instant) -> Option<Self> {
        let text = one_line(text, MAX_COLUMNS);
        let time = match run_view::width(&text) <= SHORT_COLUMNS {
            true => SHORT_TIME,
            false => LONG_TIME,
        };
        Self::lasting(&text, now + time)
    }

    pub(crate) fn lasting(text: &str, until: Instant) -> Option<Self> {
        let text = one_line(text, MAX_COLUMNS);
        (!text.is_empty()).then_some(Self { text, until })
    }

    /// How many rows it needs beside that of the footer. The screen leaves them free: a notice covers nothing that a
    /// person decides about.
    pub(crate) fn extra_rows(&self, columns: u16) -> u16 {
        let rows = self.rows(columns).len().saturating_sub(1);
        u16::try_from(rows).unwrap_or(0)
    }

    /// Draws it in the last rows.
    pub(crate) fn render(&self, area: Rect, buffer: &mut Buffer, theme: Theme) {
        let rows = self.rows(area.width);
        let height = u16::try_from(rows.len()).unwrap_or(0).min(area.height);
        let place = Rect::new(area.x, area.bottom() - height, area.width, height);
        Clear.render(place, buffer);
        for (row, text) in (0..height).zip(&rows) {
            put(buffer, place, row, text, theme.style(Role::Strong));
        }
    }

    /// The last row has the rest, cut.
    fn rows(&self, columns: u16) -> Vec<String> {
        let columns = usize::from(columns);
        let text = wrap(&self.text, 0, columns);
        let mut lines = text.lines();
        let mut rows: Vec<String> = lines.by_ref().take(MAX_ROWS - 1).map(str::to_owned).collect();
        let rest: Vec<&str> = lines.collect();
        if !rest.is_empty() {
            rows.push(one_line(&rest.join(" "), columns));
        }
        rows
    }
}
