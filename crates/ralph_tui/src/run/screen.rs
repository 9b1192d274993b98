//! `RunScreen`: a run, its transcript, and what the user is doing with it.

use std::time::Instant;

use ralph_run::ViewUpdate;
use ralph_run::model::RunModel;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use terminal_input::Key;

use crate::app::Now;
use crate::effect::Effect;
use crate::input::LoadedRun;
use crate::theme::Theme;
use crate::transcript::{Transcript, TranscriptView};

#[derive(Debug)]
pub(crate) struct RunScreen {
    id: String,
    model: RunModel,
    transcript: Transcript,
    view: TranscriptView,
}

impl RunScreen {
    pub(crate) fn new(id: String) -> Self {
        Self {
            id,
            model: RunModel::new(),
            transcript: Transcript::default(),
            view: TranscriptView::default(),
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn set_loaded(&mut self, loaded: LoadedRun, _now: Now) {
        self.model = loaded.model;
        self.transcript = loaded.transcript;
    }

    pub(crate) fn apply(&mut self, updates: Vec<ViewUpdate>, _now: Now) {
        for update in updates {
            match update {
                ViewUpdate::Record(record) => {
                    self.model.apply(&record);
                    self.transcript.apply(&record);
                }
                ViewUpdate::Delta(event) => self.transcript.apply_delta(&event),
                ViewUpdate::Damage(damage) => self.transcript.push_damage(&damage.to_string()),
            }
        }
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
        theme: Theme,
        now: Now,
    ) -> Option<Position> {
        self.view.render(&self.transcript, area, buffer, theme, now.at);
        None
    }
}
