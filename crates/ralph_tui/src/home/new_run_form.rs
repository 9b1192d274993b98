//! `NewRunForm`: the fields that describe a new run. `draw_new_run` draws it.

use terminal_input::{Edit, Key};

use crate::bindings::{Action, Context, Keymap};
use crate::effect::{Effect, StartRequest};
use crate::theme::Role;
use crate::widgets::{FieldKind, ListScroll, TextField};

/// Fields in the order of the form.
pub(super) const LABELS: [&str; FIELDS] = [
    "Workspace",
    "Prompt",
    "Backend",
    "Mode",
    "Model",
    "Max iterations",
    "Max cost",
    "Verify",
];
pub(super) const FIELDS: usize = 8;
const WORKSPACE: usize = 0;
pub(super) const PROMPT: usize = 1;

/// After the fields: two choices and the button.
pub(super) const ASK: usize = FIELDS;
pub(super) const CONVERSATION: usize = FIELDS + 1;
pub(super) const START: usize = FIELDS + 2;
const STOPS: usize = FIELDS + 3;

const NO_CHECKS: &str = "permission checks will be off; the agent can do anything you can";

/// What a key did to the form.
#[derive(Debug, PartialEq)]
pub(super) enum FormStep {
    Edited,
    Closed,
    Requested(Box<Effect>),
}

#[derive(Debug)]
pub(super) struct NewRunForm {
    pub(super) fields: [TextField; FIELDS],
    pub(super) asks: bool,
    pub(super) is_conversation: bool,
    pub(super) focus: usize,
    /// Why it was not started, or that it is being started.
    pub(super) message: Option<(String, Role)>,
    /// Which rows are in view where the window is too small for all of them.
    pub(super) scroll: ListScroll,
    /// Whether its run is being started. Until then nothing in it changes.
    is_starting: bool,
}

impl NewRunForm {
    pub(super) fn new(workspace: &str) -> Self {
        let mut fields: [TextField; FIELDS] = Default::default();
        fields[WORKSPACE] = TextField::new(FieldKind::OneLine, workspace);
        fields[PROMPT] = TextField::new(FieldKind::Lines, "");
        Self {
            fields,
            // The user who opens the form is there to answer.
            asks: true,
            is_conversation: false,
            focus: PROMPT,
            message: None,
            scroll: ListScroll::default(),
            is_starting: false,
        }
    }

    /// The form is opened again. Text that is typed now belongs to the prompt.
    pub(super) fn reopen(&mut self) {
        self.focus = PROMPT;
    }

    /// Every key is the form's: none of them acts on the list.
    pub(super) fn key(&mut self, key: &Key, keymap: &Keymap) -> FormStep {
        let action = keymap.action(Context::NewRun, key);
        if action == Some(Action::Close) {
            return FormStep::Closed;
        }
        if self.is_starting {
            return FormStep::Edited;
        }
        match action {
            Some(Action::StartRun) => return self.submit(),
            Some(Action::EditPrompt) => {
                self.focus = PROMPT;
                let text = self.fields[PROMPT].text();
                return FormStep::Requested(Box::new(Effect::EditText { text }));
            }
            Some(Action::NextField) => self.focus = (self.focus + 1) % STOPS,
            Some(Action::PreviousField) => self.focus = (self.focus + STOPS - 1) % STOPS,
            _ => return self.field_key(key),
        }
        FormStep::Edited
    }

    /// A key of the field or the choice that has the focus.
    fn field_key(&mut self, key: &Key) -> FormStep {
        self.message = None;
        // Text that is typed where there is no field belongs to the prompt: its spaces must not switch a choice.
        let is_text = match key {
            Key::Character(character) => *character != ' ',
            Key::Paste(_) => true,
            _ => false,
        };
        if is_text && self.focus >= FIELDS {
            self.focus = PROMPT;
        }
        match key {
            Key::OversizedPaste => self.fail("the pasted text is too long; press ctrl-o for your editor"),
            Key::Character(' ') | Key::Enter if self.focus == ASK => {
                self.asks = !self.asks;
                if !self.asks {
                    self.message = Some((NO_CHECKS.to_owned(), Role::Bad));
                }
            }
            Key::Character(' ') | Key::Enter if self.focus == CONVERSATION => {
                self.is_conversation = !self.is_conversation;
            }
            Key::Enter if self.focus == START => return self.submit(),
            _ => {
                let focus = self.focus;
                if let Some(field) = self.fields.get_mut(focus)
                    && field.key(key) == Edit::Complete
                {
                    self.focus += 1;
                }
            }
        }
        FormStep::Edited
    }

    #[cfg(test)]
    pub(super) fn prompt(&self) -> String {
        self.fields[PROMPT].text()
    }

    /// The user closed the editor.
    pub(super) fn set_prompt(&mut self, text: &str) {
        self.fields[PROMPT].set_text(text.trim_end());
    }

    pub(super) fn fail(&mut self, reason: &str) {
        self.message = Some((reason.to_owned(), Role::Bad));
        self.is_starting = false;
    }

    /// Its run is being started.
    pub(super) fn note_starting(&mut self) {
        self.message = Some(("starting…".to_owned(), Role::Faint));
        self.is_starting = true;
    }

    fn submit(&mut self) -> FormStep {
        let text = |place: usize| self.fields.get(place).map(TextField::text).unwrap_or_default();
        let optional = |place: usize| Some(text(place).trim().to_owned()).filter(|text| !text.is_empty());
        let Some(workspace) = optional(WORKSPACE) else {
            self.focus = WORKSPACE;
            self.fail("enter a workspace");
            return FormStep::Edited;
        };
        let prompt = text(PROMPT);
        if prompt.trim().is_empty() {
            self.focus = PROMPT;
            self.fail("enter a prompt");
            return FormStep::Edited;
        }
        let request = StartRequest {
            workspace,
            prompt,
            backend: optional(2),
            mode: optional(3),
            model: optional(4),
            max_iterations: optional(5),
            max_cost: optional(6),
            verify: optional(7),
            asks: self.asks,
            is_conversation: self.is_conversation,
        };
        FormStep::Requested(Box::new(Effect::Start(Box::new(request))))
    }
}
