//! `RequestPrompt`: answers one request of the agent with keys. `request_panel` draws it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Instant;

use agent_api::{Question, RequestId};
use ralph_run::control::{AnswerChoice, PendingRequest};
use run_view::{GrantChoice, RequestDetail, denial, one_line, option_labels};
use serde_json::Value;
use terminal_input::{Edit, Key, armed_at};

use crate::bindings::Action;
use crate::widgets::{FieldKind, ListScroll, TextField};

/// What the redactor leaves in place of a secret.
const REDACTED: &str = "[redacted:";

const READ_FIRST: &str = "read to the end first: space or pgdn reads on, G goes to the end";

/// Options that have a key of their own.
pub(super) const MAX_KEYS: usize = 9;

/// A request, and how far its answer is.
#[derive(Debug)]
pub(super) struct RequestPrompt {
    request: PendingRequest,
    /// When it was first drawn, or the end of it. Before, keys mean nothing to it.
    shown_at: Option<Instant>,
    /// Whether the end of it was drawn. Nobody allows what was not shown.
    has_shown_end: bool,
    /// A part of it is too long to be shown at all.
    is_cut: bool,
    /// The answer that the same key gives again, because a part of the request is not shown.
    confirming: Option<Action>,
    /// How many rows were in view.
    page_rows: usize,
    /// Whether not all of its rows fit.
    is_long: bool,
    last_key_at: Option<Instant>,
    pub(super) stage: Stage,
    /// To the questions before the current one.
    answers: Vec<String>,
    /// Whether only one row of it is shown.
    pub(super) is_hidden: bool,
    /// Why the last answer did not work.
    pub(super) remark: Option<String>,
    /// Arguments that were edited and are not valid JSON, for the next try.
    edited: Option<String>,
    pub(super) scroll: ListScroll,
    /// The rows of the request at a width.
    pub(super) rows: Option<(u16, Vec<run_view::DetailRow>)>,
}

#[derive(Debug)]
pub(super) enum Stage {
    Choose,
    /// The options of the current question that are marked, by index.
    Mark(BTreeSet<usize>),
    /// Lasting permissions are chosen.
    Grants(GrantChoice),
    Reason(TextField),
    Text(TextField),
    /// The answer is on its way.
    Answered,
}

/// What a key did to a request.
#[derive(Debug, PartialEq)]
pub(super) enum PromptStep {
    Stay,
    Answer(AnswerChoice),
    /// The arguments, to be opened in an editor.
    Edit(String),
}

impl RequestPrompt {
    /// `last_key_at` is when the last key was pressed, for something else.
    pub(super) fn new(request: PendingRequest, last_key_at: Option<Instant>) -> Self {
        let is_cut = match &request {
            PendingRequest::Permission(asked) => RequestDetail::in_full(asked).is_cut,
            PendingRequest::Plan(_) | PendingRequest::Question(_) => false,
        };
        let mut prompt = Self {
            request,
            shown_at: None,
            has_shown_end: false,
            is_cut,
            confirming: None,
            page_rows: 1,
            is_long: false,
            last_key_at,
            stage: Stage::Choose,
            answers: Vec::new(),
            is_hidden: false,
            remark: None,
            edited: None,
            scroll: ListScroll::default(),
            rows: None,
        };
        prompt.stage = prompt.first_stage();
        prompt
    }

    pub(super) fn id(&self) -> &RequestId {
        self.request.id()
    }

    pub(super) fn request(&self) -> &PendingRequest {
        &self.request
    }

    pub(super) fn is_answered(&self) -> bool {
        matches!(self.stage, Stage::Answered)
    }

    /// Whether a text is being typed.
    pub(super) fn is_typing(&self) -> bool {
        matches!(self.stage, Stage::Reason(_) | Stage::Text(_))
    }

    /// Asks again, because the answer was refused.
    pub(super) fn reopen(&mut self, reason: &str, now: Instant) {
        self.answers.clear();
        self.show_again(now);
        self.remark = Some(one_line(reason, 200));
    }

    /// Arms it again once it was drawn again: something else was shown or typed meanwhile.
    pub(super) fn rearm(&mut self, now: Instant) {
        self.shown_at = None;
        self.has_shown_end = false;
        self.last_key_at = Some(now);
        if self.confirming.take().is_some() {
            self.remark = None;
        }
    }

    fn show_again(&mut self, now: Instant) {
        self.rearm(now);
        self.stage = self.first_stage();
        self.scroll = ListScroll::default();
        self.rows = None;
    }

    /// These of `count` rows are drawn.
    pub(super) fn note_drawn(&mut self, view: &Range<usize>, count: usize, now: Instant) {
        if view.is_empty() {
            return;
        }
        self.page_rows = view.len();
        self.is_long = view.len() < count;
        // A reason that is being typed is not interrupted: it denies.
        let is_denying = matches!(self.stage, Stage::Reason(_));
        let is_end_new = view.end == count && !self.has_shown_end && !is_denying;
        if is_end_new || self.shown_at.is_none() {
            self.shown_at = Some(now);
        }
        self.has_shown_end |= view.end == count;
    }

    pub(super) fn has_shown_end(&self) -> bool {
        self.has_shown_end
    }

    /// When keys begin to answer the request. `None` before it was drawn.
    pub(super) fn armed_at(&self) -> Option<Instant> {
        Some(armed_at(self.shown_at?, self.last_key_at))
    }

    pub(super) fn is_armed(&self, now: Instant) -> bool {
        self.armed_at().is_some_and(|at| now >= at)
    }

    /// A key was pressed before the request was armed.
    pub(super) fn note_key(&mut self, now: Instant) {
        self.last_key_at = Some(now);
    }

    /// The current question, its number from 1, and how many there are.
    pub(super) fn question(&self) -> Option<(&Question, usize, usize)> {
        match &self.request {
            PendingRequest::Question(asked) => {
                let index = self.answers.len();
                let question = asked.questions.get(index)?;
                Some((question, index + 1, asked.questions.len()))
            }
            PendingRequest::Permission(_) | PendingRequest::Plan(_) => None,
        }
    }

    fn first_stage(&self) -> Stage {
        match self.question() {
            Some((question, ..)) if question.options.is_empty() => text_stage(),
            Some((question, ..)) if question.is_multiple => Stage::Mark(BTreeSet::new()),
            Some(_) | None => Stage::Choose,
        }
    }

    /// Whether an action means something to this request.
    pub(super) fn takes(&self, action: Action) -> bool {
        let is_question = matches!(self.request, PendingRequest::Question(_));
        match action {
            Action::Allow => !is_question,
            Action::AllowAlways => match &self.request {
                PendingRequest::Permission(asked) => !asked.grants.is_empty(),
                PendingRequest::Question(_) | PendingRequest::Plan(_) => false,
            },
            Action::AllowEdited => match &self.request {
                PendingRequest::Permission(asked) => asked.input.is_some(),
                PendingRequest::Question(_) | PendingRequest::Plan(_) => false,
            },
            Action::ChooseOption => self.option_count() > 0,
            Action::AnswerText => is_question,
            Action::SendAnswers => matches!(self.stage, Stage::Mark(_) | Stage::Grants(_)),
            Action::Deny | Action::HideRequest | Action::RequestDown | Action::RequestUp => true,
            // Otherwise they are those of the transcript.
            Action::RequestPageDown | Action::RequestPageUp | Action::RequestEnd | Action::RequestTop => {
                self.is_long
            }
            _ => false,
        }
    }

    /// How many options or grants there are to choose from now.
    pub(super) fn option_count(&self) -> usize {
        match (&self.stage, self.question()) {
            (Stage::Grants(choice), _) => choice.count(),
            (_, Some((question, ..))) => question.options.len(),
            (_, None) => 0,
        }
    }

    /// Takes an action of an armed request. The next question is armed again.
    pub(super) fn act(&mut self, action: Action, key: &Key, now: Instant) -> PromptStep {
        self.remark = None;
        let confirming = self.confirming.take();
        if !self.has_shown_end && is_consent(action) {
            self.remark = Some(READ_FIRST.to_owned());
            return PromptStep::Stay;
        }
        let is_granting = matches!(&self.stage, Stage::Grants(choice) if choice.answer().is_some());
        let is_allowing = match action {
            Action::Allow => !matches!(self.stage, Stage::Grants(_)),
            Action::SendAnswers => is_granting,
            _ => false,
        };
        let key_name = if action == Action::Allow { "y" } else { "enter" };
        let doubt = if self.edited.is_some() {
            Some(format!(
                "your edit is not used · {key_name} again to allow the ORIGINAL · e edit · n deny"
            ))
        } else if self.is_cut {
            Some(format!(
                "a part of it is too long to be shown · {key_name} again to allow · n deny"
            ))
        } else {
            None
        };
        if let Some(doubt) = doubt.filter(|_| is_allowing && confirming != Some(action)) {
            self.remark = Some(doubt);
            self.confirming = Some(action);
            // The same key at once is not a decision.
            self.shown_at = None;
            return PromptStep::Stay;
        }
        match action {
            Action::Allow if matches!(self.stage, Stage::Grants(_)) => {
                self.remark = Some("enter allows it with what is chosen; esc goes back".to_owned());
                PromptStep::Stay
            }
            Action::Allow => self.answer(AnswerChoice::allow_once()),
            Action::AllowAlways => {
                if let PendingRequest::Permission(asked) = &self.request
                    && let Some(choice) = GrantChoice::of(asked)
                {
                    self.set_stage(Stage::Grants(choice));
                }
                PromptStep::Stay
            }
            Action::AllowEdited => self.edit(),
            Action::Deny => {
                self.stage = Stage::Reason(TextField::new(FieldKind::Lines, ""));
                PromptStep::Stay
            }
            Action::AnswerText => {
                self.stage = text_stage();
                PromptStep::Stay
            }
            Action::ChooseOption => self.choose(key, now),
            Action::SendAnswers => match &self.stage {
                Stage::Mark(marked) if !marked.is_empty() => {
                    let marked = marked.clone();
                    self.answer_options(&marked, now)
                }
                Stage::Grants(choice) => match choice.answer() {
                    Some(answer) => self.answer(answer),
                    None => {
                        self.remark = Some("nothing is chosen; esc goes back to allow it once".to_owned());
                        PromptStep::Stay
                    }
                },
                _ => PromptStep::Stay,
            },
            Action::HideRequest => {
                self.is_hidden = true;
                PromptStep::Stay
            }
            Action::RequestDown => self.scroll_by(1),
            Action::RequestUp => self.scroll_by(-1),
            Action::RequestPageDown => self.read_on(),
            Action::RequestPageUp => self.scroll_by(-self.page()),
            Action::RequestEnd => self.scroll_by(isize::MAX),
            Action::RequestTop => self.scroll_by(isize::MIN),
            _ => PromptStep::Stay,
        }
    }

    /// The next page. A row stays in view.
    fn read_on(&mut self) -> PromptStep {
        self.scroll_by(self.page())
    }

    fn page(&self) -> isize {
        let rows = isize::try_from(self.page_rows).unwrap_or(isize::MAX);
        (rows - 1).max(1)
    }

    fn scroll_by(&mut self, rows: isize) -> PromptStep {
        self.scroll.scroll(rows);
        PromptStep::Stay
    }

    /// Goes back from the list of grants, if it is open.
    pub(super) fn leave_grants(&mut self) -> bool {
        let is_open = matches!(self.stage, Stage::Grants(_));
        if is_open {
            self.set_stage(Stage::Choose);
        }
        is_open
    }

    /// Other rows are shown in it.
    fn set_stage(&mut self, stage: Stage) {
        self.stage = stage;
        self.rows = None;
    }

    fn answer(&mut self, answer: AnswerChoice) -> PromptStep {
        self.stage = Stage::Answered;
        PromptStep::Answer(answer)
    }

    fn choose(&mut self, key: &Key, now: Instant) -> PromptStep {
        let Key::Character(digit) = key else {
            return PromptStep::Stay;
        };
        let number = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
        let options = self.option_count();
        if let Stage::Grants(choice) = &mut self.stage {
            if let Some(index) = number.and_then(|number| number.checked_sub(1)) {
                choice.toggle(index);
            }
            return PromptStep::Stay;
        }
        if options > MAX_KEYS {
            // One key is not enough: the number is typed.
            let mut field = TextField::new(FieldKind::Lines, "");
            field.key(key);
            self.stage = Stage::Text(field);
            return PromptStep::Stay;
        }
        let Some(index) = number
            .and_then(|number| number.checked_sub(1))
            .filter(|index| *index < options)
        else {
            return PromptStep::Stay;
        };
        if let Stage::Mark(marked) = &mut self.stage {
            if !marked.remove(&index) {
                marked.insert(index);
            }
            return PromptStep::Stay;
        }
        self.answer_options(&BTreeSet::from([index]), now)
    }

    fn answer_options(&mut self, chosen: &BTreeSet<usize>, now: Instant) -> PromptStep {
        let Some((question, ..)) = self.question() else {
            return PromptStep::Stay;
        };
        let labels = chosen.iter().filter_map(|index| question.options.get(*index));
        let labels: Vec<&str> = labels.map(|option| option.label.as_str()).collect();
        let answer = labels.join(", ");
        self.answer_question(answer, now)
    }

    /// Continues with the next question, if there is one.
    fn answer_question(&mut self, answer: String, now: Instant) -> PromptStep {
        self.answers.push(answer);
        if self.question().is_some() {
            self.show_again(now);
            return PromptStep::Stay;
        }
        let answers = self.answers.clone();
        self.answer(AnswerChoice::Answers { answers })
    }

    /// Takes a key while a text is being typed.
    pub(super) fn type_key(&mut self, key: &Key, now: Instant) -> PromptStep {
        let (is_reason, edit, text) = match &mut self.stage {
            Stage::Reason(field) => (true, field.key(key), field.text()),
            Stage::Text(field) => (false, field.key(key), field.text()),
            Stage::Choose | Stage::Mark(_) | Stage::Grants(_) | Stage::Answered => return PromptStep::Stay,
        };
        match (key, edit) {
            (Key::Escape, _) => {
                self.leave_field();
                PromptStep::Stay
            }
            (_, Edit::Complete) if is_reason => self.answer(denial(&text)),
            (_, Edit::Complete) if !self.has_shown_end => self.read_on(),
            (_, Edit::Complete) if !text.trim().is_empty() => {
                let label = self
                    .question()
                    .and_then(|(question, ..)| option_labels(question, &text));
                self.answer_question(label.unwrap_or(text), now)
            }
            (_, Edit::Complete | Edit::Done | Edit::Ignored) => PromptStep::Stay,
        }
    }

    /// Leaves the text that is being typed. A question without options has nothing but its text: it is put aside.
    pub(super) fn leave_field(&mut self) {
        let stage = self.first_stage();
        if matches!((&self.stage, &stage), (Stage::Text(_), Stage::Text(_))) {
            self.is_hidden = true;
        } else {
            self.stage = stage;
        }
    }

    fn edit(&mut self) -> PromptStep {
        let PendingRequest::Permission(asked) = &self.request else {
            return PromptStep::Stay;
        };
        let input = asked.input.as_ref().filter(|input| !input.is_oversize());
        let Some(input) = input.and_then(|input| input.read::<Value>().ok()) else {
            self.remark = Some("the arguments are too long to be edited here".to_owned());
            return PromptStep::Stay;
        };
        if input.to_string().contains(REDACTED) {
            self.remark =
                Some("the arguments contain a redacted secret and cannot be edited here".to_owned());
            return PromptStep::Stay;
        }
        let text = match self.edited.take() {
            Some(edited) => edited,
            None => serde_json::to_string_pretty(&input).unwrap_or_else(|_| input.to_string()),
        };
        PromptStep::Edit(text)
    }

    /// The user closed the editor. What is not valid JSON is kept for another try.
    pub(super) fn edited(&mut self, text: Option<String>, now: Instant) -> PromptStep {
        self.rearm(now);
        let PendingRequest::Permission(asked) = &self.request else {
            return PromptStep::Stay;
        };
        let before = asked.input.as_ref().and_then(|input| input.read::<Value>().ok());
        match text.map(|text| (serde_json::from_str::<Value>(&text), text)) {
            Some((Ok(input @ Value::Object(_)), _)) if Some(&input) != before.as_ref() => {
                self.answer(AnswerChoice::AllowChanged { input })
            }
            Some((Ok(Value::Object(_)), _)) | None => {
                self.remark = Some("nothing was changed; the request is still open".to_owned());
                PromptStep::Stay
            }
            Some((Ok(_), text)) => {
                self.remark = Some(
                    "your edit was not used: the arguments must be a JSON object; press e to edit them again"
                        .to_owned(),
                );
                self.edited = Some(text);
                PromptStep::Stay
            }
            Some((Err(error), text)) => {
                let error = one_line(&error.to_string(), 80);
                self.remark = Some(format!(
                    "your edit was not used: invalid JSON: {error}; press e to edit it again"
                ));
                self.edited = Some(text);
                PromptStep::Stay
            }
        }
    }
}

/// Whether an action says yes to what a request says. The arguments are read in full where they are edited.
pub(super) fn is_consent(action: Action) -> bool {
    matches!(
        action,
        Action::Allow | Action::AllowAlways | Action::ChooseOption | Action::SendAnswers
    )
}

fn text_stage() -> Stage {
    Stage::Text(TextField::new(FieldKind::Lines, ""))
}
