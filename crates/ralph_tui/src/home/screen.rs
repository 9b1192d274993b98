//! `HomeScreen`: the list of runs, its cursor and its filter.

use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use terminal_input::Key;

use crate::app::Now;
use crate::effect::Effect;
use crate::input::RunSummary;
use crate::theme::Theme;

#[derive(Debug, Default)]
pub(crate) struct HomeScreen {
    runs: Vec<RunSummary>,
}

impl HomeScreen {
    pub(crate) fn set_runs(&mut self, runs: Vec<RunSummary>) {
        self.runs = runs;
    }

    pub(crate) fn key(&mut self, _key: &Key, _now: Now) -> Vec<Effect> {
        Vec::new()
    }

    /// Whether a text is being typed, or a dialog is open: then keys have no other meaning.
    pub(crate) fn takes_all_keys(&self) -> bool {
        false
    }

    /// Ctrl-C: closes a dialog or a text field. Whether there was one.
    pub(crate) fn cancel(&mut self, _now: Now) -> bool {
        false
    }

    pub(crate) fn next_tick(&self, _now: Now) -> Option<Instant> {
        None
    }

    pub(crate) fn render(
        &mut self,
        area: Rect,
        buffer: &mut Buffer,
        _theme: Theme,
        _now: Now,
    ) -> Option<Position> {
        buffer.set_string(
            area.x,
            area.y,
            format!("{} runs", self.runs.len()),
            ratatui::style::Style::new(),
        );
        None
    }
}
