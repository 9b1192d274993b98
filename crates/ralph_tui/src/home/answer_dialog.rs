//! `AnswerDialog`: the request of a run in the list, answered in place.

use std::time::Instant;

use agent_api::RequestId;
use ralph_run::control::{AnswerChoice, ControlCommand, PendingRequest};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use run_view::{PromptStep, describe_permission};
use terminal_input::Key;

use crate::app::Now;
use crate::bindings::Keymap;
use crate::request::{RequestPanel, panel_rows, render_request};
use crate::theme::{Role, Theme};
use crate::widgets::put;

#[derive(Debug, PartialEq)]
pub(super) enum AnswerStep {
    Open,
    Closed,
    /// The user wants the whole run.
    OpenRun,
    /// The arguments, to be opened in an editor.
    Edit(String),
    Answered {
        command: ControlCommand,
        notice: String,
    },
}

#[derive(Debug)]
pub(super) struct AnswerDialog {
    pub(super) run: String,
    name: String,
    panel: RequestPanel,
    /// How many requests wait behind it.
    waiting: usize,
}

impl AnswerDialog {
    pub(super) fn new(
        run: String,
        name: String,
        request: PendingRequest,
        waiting: usize,
        now: Instant,
    ) -> Self {
        Self {
            run,
            name,
            // The key that opened it is not an answer.
            panel: RequestPanel::new(request, Some(now)),
            waiting,
        }
    }

    pub(super) fn request(&self) -> &RequestId {
        self.panel.id()
    }

    /// When keys may answer, if it is drawn at once.
    pub(super) fn armed_at(&self, now: Instant) -> Instant {
        self.panel.armed_at(now)
    }

    /// Arms it again once it was drawn again: something else had the terminal meanwhile.
    pub(super) fn rearm(&mut self, now: Instant) {
        self.panel.rearm(now);
    }

    pub(super) fn key(&mut self, key: &Key, keymap: &Keymap, now: Instant) -> AnswerStep {
        let is_armed = self.panel.is_armed(now);
        if let Some(step) = self.panel.key(key, keymap, now) {
            return match self.panel.is_hidden() {
                true => AnswerStep::Closed,
                false => self.follow(step),
            };
        }
        // A report of the terminal is not a key.
        if !matches!(key, Key::Mouse(_) | Key::Focused | Key::Unfocused) {
            self.panel.note_key(now);
        }
        match key {
            Key::Enter if is_armed => AnswerStep::OpenRun,
            _ => AnswerStep::Open,
        }
    }

    /// Ctrl-C: leaves the text that is being typed. `false` if there is none.
    pub(super) fn cancel(&mut self, keymap: &Keymap, now: Instant) -> bool {
        let is_typing = self.panel.is_typing();
        if is_typing {
            self.panel.key(&Key::Escape, keymap, now);
        }
        is_typing && !self.panel.is_hidden()
    }

    pub(super) fn scroll_by(&mut self, rows: isize) {
        self.panel.scroll(rows);
    }

    /// The user closed the editor.
    pub(super) fn edited(&mut self, text: Option<String>, now: Instant) -> AnswerStep {
        let step = self.panel.edited(text, now);
        self.follow(step)
    }

    fn follow(&self, step: PromptStep) -> AnswerStep {
        match step {
            PromptStep::Stay => AnswerStep::Open,
            PromptStep::Edit(text) => AnswerStep::Edit(text),
            PromptStep::Answer(answer) => {
                let notice = self.describe(&answer);
                let request = self.panel.id().clone();
                AnswerStep::Answered {
                    command: ControlCommand::Answer { request, answer },
                    notice,
                }
            }
        }
    }

    fn describe(&self, answer: &AnswerChoice) -> String {
        let is_denied = matches!(answer, AnswerChoice::Deny { .. });
        match self.panel.request() {
            PendingRequest::Permission(asked) => {
                let word = if is_denied { "denied" } else { "allowed" };
                format!("{word}: {}", describe_permission(asked))
            }
            PendingRequest::Plan(_) if is_denied => "the plan is rejected".to_owned(),
            PendingRequest::Plan(_) => "the plan is approved".to_owned(),
            PendingRequest::Question(_) if is_denied => "the question is declined".to_owned(),
            PendingRequest::Question(_) => "the question is answered".to_owned(),
        }
    }

    /// How many rows it would like to have.
    pub(super) fn rows(&mut self, columns: u16) -> u16 {
        let rows = panel_rows(&mut self.panel, columns).saturating_add(1);
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    /// The keys that do not answer.
    pub(super) fn keys(&self) -> &'static str {
        match self.panel.is_typing() {
            true => "",
            false => "enter opens the run · esc closes",
        }
    }

    pub(super) fn render(
        &mut self,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
        now: Now,
    ) -> Option<Position> {
        let title = format!("Run {}", self.name);
        put(buffer, area, 0, &title, theme.style(Role::NeedsPerson));
        let title_rows = 1.min(area.height);
        let place = Rect::new(area.x, area.y + title_rows, area.width, area.height - title_rows);
        render_request(&mut self.panel, self.waiting, place, buffer, theme, now)
    }
}
