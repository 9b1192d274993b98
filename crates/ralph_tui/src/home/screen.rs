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
