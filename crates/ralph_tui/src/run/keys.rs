//! Keys and the mouse on the run screen: dialogs first, then text fields, then a request, then the run.

use ralph_run::control::ControlCommand;
use ratatui::layout::Position;
use run_view::{PromptStep, one_line};
use terminal_input::{Edit, Key, OVERSIZED_PASTE};

use super::screen::RunScreen;
use crate::app::Now;
use crate::bindings::{Action, Context};
use crate::dialog::DialogStep;
use crate::effect::Effect;
use crate::transcript::Jump;

impl RunScreen {
    pub(crate) fn key(&mut self, key: &Key, now: Now) -> Vec<Effect> {
        if *key == Key::OversizedPaste {
            self.notice = Some(OVERSIZED_PASTE.to_owned());
            return Vec::new();
        }
        let is_dropped = self.drops_keys(now);
        let is_armed = self.is_dialog_armed(now);
        self.last_key_at = Some(now.instant);
        if let Some(dialog) = &mut self.dialog {
            let step = dialog.key(key, is_armed, &self.keymap, &self.model);
            self.rearm(now);
            return self.dialog_step(step);
        }
        if self.search.is_some() {
            self.rearm(now);
            self.search_key(key, now);
            return Vec::new();
        }
        if self.composer.is_open {
            self.rearm(now);
            let command = self.composer.key(key, &self.keymap);
            return command.map(|command| self.command(command)).into_iter().collect();
        }
        if is_dropped {
            return Vec::new();
        }
        self.closed_at = None;
        if self.open_prompt().is_some()
            && let Some(effects) = self.request_key(key, now)
        {
            return effects;
        }
        self.note_key(now);
        if let Key::Paste(_) = key {
            self.notice = Some("nothing takes a paste here; press m to write a message".to_owned());
            return Vec::new();
        }
        match self.keymap.action(Context::Run, key) {
            Some(action) => self.act(action, now),
            None => Vec::new(),
        }
    }

    /// Keys went somewhere else: a request takes none of them before the user has seen it again.
    pub(crate) fn rearm(&mut self, now: Now) {
        if let Some(prompt) = &mut self.prompt {
            prompt.rearm(now.instant);
        }
    }

    fn note_key(&mut self, now: Now) {
        if let Some(prompt) = &mut self.prompt {
            prompt.note_key(now.instant);
        }
    }

    /// A key while a request is shown. `None` if it means nothing to the request.
    fn request_key(&mut self, key: &Key, now: Now) -> Option<Vec<Effect>> {
        let step = self.prompt.as_mut()?.key(key, &self.keymap, now.instant)?;
        Some(self.prompt_step(step))
    }

    pub(super) fn prompt_step(&mut self, step: PromptStep) -> Vec<Effect> {
        let Some(prompt) = &self.prompt else {
            return Vec::new();
        };
        let request = prompt.id().clone();
        match step {
            PromptStep::Stay => Vec::new(),
            PromptStep::Answer(answer) => {
                vec![self.command(ControlCommand::Answer { request, answer })]
            }
            PromptStep::Edit(text) => {
                self.edited_request = Some(request);
                vec![Effect::EditText { text }]
            }
        }
    }

    /// The user closed the editor.
    pub(crate) fn edited(&mut self, text: Option<String>, now: Now) -> Vec<Effect> {
        let Some(request) = self.edited_request.take() else {
            return Vec::new();
        };
        match self
            .prompt
            .as_mut()
            .filter(|prompt| *prompt.id() == request && !prompt.is_answered())
        {
            Some(prompt) => {
                let step = prompt.edited(text, now.instant);
                self.prompt_step(step)
            }
            None => {
                let closed = self.describe_close(&request);
                self.notice = Some(format!("your arguments were not sent: {closed}"));
                Vec::new()
            }
        }
    }

    fn dialog_step(&mut self, step: DialogStep) -> Vec<Effect> {
        match step {
            DialogStep::Stay => Vec::new(),
            DialogStep::Close => {
                self.dialog = None;
                Vec::new()
            }
            DialogStep::Command(command) => {
                self.dialog = None;
                vec![self.command(command)]
            }
            DialogStep::CommandAndStay(command) => vec![self.command(command)],
        }
    }

    fn search_key(&mut self, key: &Key, now: Now) {
        let Some(field) = &mut self.search else { return };
        if self.keymap.action(Context::Search, key) == Some(Action::Close) {
            self.search = None;
            self.view.cancel_typing();
            return;
        }
        match field.key(key) {
            Edit::Complete => {
                let query = field.text();
                self.search = None;
                if query.is_empty() {
                    self.view.clear_search();
                } else {
                    self.search_for(&query, now);
                    let is_done = !self.view.is_searching(&self.transcript);
                    if is_done && self.view.hits().is_some_and(|(_, count)| count == 0) {
                        self.notice = Some(format!("no match for {}", one_line(&query, 40)));
                    }
                }
                self.view.end_typing();
            }
            Edit::Done => {
                let query = field.text();
                if query.is_empty() {
                    self.view.cancel_typing();
                    self.view.begin_typing();
                } else {
                    self.search_for(&query, now);
                }
            }
            Edit::Ignored => {}
        }
    }

    /// The wheel was turned at this place, by so many rows.
    pub(crate) fn wheel(&mut self, rows: isize, place: Position) {
        let is_in_panel = self.areas.panel.contains(place);
        match self.prompt.as_mut().filter(|_| is_in_panel) {
            Some(prompt) => prompt.scroll(rows),
            None => self.view.scroll(&self.transcript, rows),
        }
    }

    pub(crate) fn click(&mut self, place: Position) {
        let is_in_panel = self.areas.panel.contains(place);
        if is_in_panel || self.dialog.is_some() {
            return;
        }
        if self.areas.side.contains(place) {
            let row = usize::from(place.y - self.areas.side.y);
            if let Some(Some(iteration)) = self.areas.side_targets.get(row) {
                self.view.jump(&self.transcript, Jump::Iteration(*iteration));
            }
        } else if self.areas.transcript.contains(place) {
            let row = place.y - self.areas.transcript.y;
            self.view.click(&self.transcript, row);
        }
    }
}
