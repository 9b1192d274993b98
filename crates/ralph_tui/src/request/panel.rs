//! `RequestPanel`: a `RequestPrompt` on the screen: what its keys are, and how far it is scrolled. `draw` draws it.

use std::ops::Range;
use std::time::Instant;

use agent_api::RequestId;
use ralph_run::control::PendingRequest;
use run_view::{
    AnswerField, DetailRow, PromptAction, PromptStep, Reading, RequestDetail, RequestPrompt, Stage, armed_at,
};
use terminal_input::{Edit, Key};

use crate::bindings::{Action, Context, Keymap};
use crate::widgets::{FieldKind, ListScroll, TextField};

#[derive(Debug)]
pub(crate) struct RequestPanel {
    pub(super) prompt: RequestPrompt<TextField>,
    /// A part of it is too long to be shown at all.
    is_cut: bool,
    /// Whether only one row of it is shown.
    is_hidden: bool,
    /// How many rows were in view.
    page_rows: usize,
    /// Whether not all of its rows fit.
    is_long: bool,
    pub(super) scroll: ListScroll,
    pub(super) rows: Option<WrappedRows>,
}

/// The rows of the request. Wrapped once: a plan can be long.
#[derive(Debug)]
pub(super) struct WrappedRows {
    pub(super) columns: u16,
    /// What they show: the number of the question, and whether grants are chosen below them.
    pub(super) content: (usize, bool),
    pub(super) rows: Vec<DetailRow>,
}

impl AnswerField for TextField {
    fn empty() -> Self {
        Self::new(FieldKind::Lines, "")
    }

    fn text(&self) -> String {
        self.text()
    }

    fn insert(&mut self, character: char) {
        self.key(&Key::Character(character));
    }
}

impl RequestPanel {
    /// `last_key_at` is when the last key was pressed, for something else.
    pub(crate) fn new(request: PendingRequest, last_key_at: Option<Instant>) -> Self {
        let is_cut = match &request {
            PendingRequest::Permission(asked) => RequestDetail::in_full(asked).is_cut,
            PendingRequest::Plan(_) | PendingRequest::Question(_) => false,
        };
        Self {
            prompt: RequestPrompt::new(request, last_key_at),
            is_cut,
            is_hidden: false,
            page_rows: 1,
            is_long: false,
            scroll: ListScroll::default(),
            rows: None,
        }
    }

    pub(crate) fn id(&self) -> &RequestId {
        self.prompt.id()
    }

    pub(crate) fn request(&self) -> &PendingRequest {
        self.prompt.request()
    }

    pub(crate) fn is_answered(&self) -> bool {
        self.prompt.is_answered()
    }

    pub(crate) fn is_typing(&self) -> bool {
        self.prompt.is_typing()
    }

    pub(crate) fn is_hidden(&self) -> bool {
        self.is_hidden
    }

    /// Shows it again, after it was put aside.
    pub(crate) fn unhide(&mut self, now: Instant) {
        self.is_hidden = false;
        self.rearm(now);
    }

    /// Asks again, because the answer was refused.
    pub(crate) fn reopen(&mut self, reason: &str, now: Instant) {
        self.prompt.reopen(reason, now);
        self.scroll = ListScroll::default();
    }

    /// Arms it again once it was drawn again: something else was shown or typed meanwhile.
    pub(crate) fn rearm(&mut self, now: Instant) {
        self.prompt.rearm(now);
    }

    /// A key was pressed for something else.
    pub(crate) fn note_key(&mut self, now: Instant) {
        self.prompt.note_key(now);
    }

    pub(crate) fn is_armed(&self, now: Instant) -> bool {
        self.prompt.is_armed(now)
    }

    /// When its keys begin to work. What is not drawn yet will be at once.
    pub(crate) fn armed_at(&self, now: Instant) -> Instant {
        self.prompt.armed_at().unwrap_or_else(|| armed_at(now, None))
    }

    /// These of `count` rows are drawn.
    pub(super) fn note_drawn(&mut self, view: &Range<usize>, count: usize, now: Instant) {
        if view.is_empty() {
            return;
        }
        self.page_rows = view.len();
        self.is_long = view.len() < count;
        let reading = match (view.end == count, self.is_cut) {
            (false, _) => Reading::Unfinished,
            (true, true) => Reading::Cut,
            (true, false) => Reading::Complete,
        };
        self.prompt.note_shown(reading, now);
    }

    /// Whether an action means something to this request.
    pub(crate) fn takes(&self, action: Action) -> bool {
        match action {
            Action::HideRequest | Action::RequestDown | Action::RequestUp => true,
            // Otherwise they are those of the screen.
            Action::RequestPageDown | Action::RequestPageUp | Action::RequestEnd | Action::RequestTop => {
                self.is_long
            }
            _ => prompt_action(action, &Key::Character('1')).is_some_and(|action| self.prompt.takes(action)),
        }
    }

    pub(crate) fn scroll(&mut self, rows: isize) {
        self.scroll.scroll(rows);
    }

    /// Takes a key. `None` if it means nothing to the request.
    pub(crate) fn key(&mut self, key: &Key, keymap: &Keymap, now: Instant) -> Option<PromptStep> {
        if self.prompt.is_typing() {
            return Some(self.type_key(key, now));
        }
        if *key == Key::Escape && self.prompt.back() {
            return Some(PromptStep::Stay);
        }
        let action = keymap
            .action(Context::Request, key)
            .filter(|action| self.takes(*action))?;
        let Some(action) = prompt_action(action, key) else {
            self.prompt.clear_remark();
            self.look(action);
            return Some(PromptStep::Stay);
        };
        if !self.prompt.is_armed(now) {
            self.prompt.note_key(now);
            return Some(PromptStep::Stay);
        }
        let question = self.question_number();
        let step = self.prompt.act(action, now);
        self.follow(question);
        Some(step)
    }

    /// What does not answer works at once.
    fn look(&mut self, action: Action) {
        match action {
            Action::HideRequest => self.is_hidden = true,
            Action::RequestDown => self.scroll.scroll(1),
            Action::RequestUp => self.scroll.scroll(-1),
            Action::RequestPageDown => self.scroll.scroll(self.page()),
            Action::RequestPageUp => self.scroll.scroll(-self.page()),
            Action::RequestEnd => self.scroll.scroll(isize::MAX),
            Action::RequestTop => self.scroll.scroll(isize::MIN),
            _ => {}
        }
    }

    /// A page. One row stays in view.
    fn page(&self) -> isize {
        let rows = isize::try_from(self.page_rows).unwrap_or(isize::MAX);
        (rows - 1).max(1)
    }

    fn type_key(&mut self, key: &Key, now: Instant) -> PromptStep {
        if *key == Key::Escape {
            // A question without options has nothing but its text: it is put aside.
            self.is_hidden = !self.prompt.back();
            return PromptStep::Stay;
        }
        if !self.prompt.is_armed(now) {
            self.prompt.note_key(now);
            return PromptStep::Stay;
        }
        let edit = self.prompt.field_mut().map(|field| field.key(key));
        if edit != Some(Edit::Complete) {
            return PromptStep::Stay;
        }
        let is_text = matches!(self.prompt.stage(), Stage::Text(_));
        if is_text && !self.prompt.has_shown_end() {
            self.look(Action::RequestPageDown);
            return PromptStep::Stay;
        }
        let question = self.question_number();
        let step = self.prompt.submit(now);
        self.follow(question);
        step
    }

    /// The next question is read from its start.
    fn follow(&mut self, question: usize) {
        if self.question_number() != question {
            self.scroll = ListScroll::default();
        }
    }

    pub(super) fn question_number(&self) -> usize {
        self.prompt.question().map_or(0, |(_, number, _)| number)
    }

    /// The user closed the editor.
    pub(crate) fn edited(&mut self, text: Option<String>, now: Instant) -> PromptStep {
        self.prompt.edited(text, now)
    }
}

/// What an action of the table of keys does to a request. `None` if it only looks at it.
pub(super) fn prompt_action(action: Action, key: &Key) -> Option<PromptAction> {
    Some(match action {
        Action::Allow => PromptAction::Allow,
        Action::AllowAlways => PromptAction::ChooseGrants,
        Action::AllowEdited => PromptAction::Edit,
        Action::Deny => PromptAction::Deny,
        Action::AnswerText => PromptAction::AnswerText,
        Action::SendAnswers => PromptAction::Send,
        Action::ChooseOption => match key {
            Key::Character(digit) => PromptAction::Digit(*digit),
            _ => return None,
        },
        _ => return None,
    })
}
