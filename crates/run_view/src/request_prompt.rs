//! `RequestPrompt`: how a person answers one request of the agent, step by step. Console and terminal UI map keys to
//! its actions and draw it; neither decides anything.

use std::collections::BTreeSet;
use std::time::Instant;

use agent_api::{Question, RequestId};
use ralph_run::control::{AnswerChoice, PendingRequest};
use serde_json::Value;

use crate::arming::armed_at;
use crate::choice::{denial, option_labels};
use crate::grant_choice::GrantChoice;
use crate::one_line::one_line;
use crate::request_detail::describe_permission;
use crate::visible::visible;

/// What the redactor leaves in place of a secret.
const REDACTED: &str = "[redacted:";

const READ_FIRST: &str = "read to the end first: space or pgdn reads on, G goes to the end";

/// Options that have a key of their own.
const MAX_DIGITS: usize = 9;

/// A text field of the view that shows the prompt.
pub trait AnswerField {
    fn empty() -> Self;
    fn text(&self) -> String;
    /// Types a character.
    fn insert(&mut self, character: char);
}

/// A request, and how far its answer is. `F` is the view's text field, for reasons and answers in words.
#[derive(Debug)]
pub struct RequestPrompt<F> {
    request: PendingRequest,
    /// When it was first drawn, or its end. Keys mean nothing to it before.
    shown_at: Option<Instant>,
    last_key_at: Option<Instant>,
    reading: Reading,
    /// The action that has to be repeated, because a part of the request may not have been seen.
    confirming: Option<PromptAction>,
    stage: Stage<F>,
    /// To the questions before the current one.
    answers: Vec<String>,
    /// Why the last key did not answer.
    remark: Option<String>,
    /// Arguments that were edited and are not valid JSON, for the next try.
    edited: Option<String>,
}

/// How much of a request was on the screen. Nothing is allowed that was not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Its end was not drawn yet.
    Unfinished,
    /// It was printed and takes this many rows, more than the screen has.
    LongerThanScreen(usize),
    /// To its end, but a part of it is too long to be shown at all.
    Cut,
    Complete,
}

#[derive(Debug)]
pub enum Stage<F> {
    Choose,
    /// The options of the current question that are marked, by index.
    Mark(BTreeSet<usize>),
    /// Lasting permissions are chosen.
    Grants(GrantChoice),
    Reason(F),
    Text(F),
    /// The answer is on its way.
    Answered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptAction {
    /// Allows it once, or approves the plan.
    Allow,
    /// Opens the choice of lasting permissions.
    ChooseGrants,
    /// Opens the arguments in an editor.
    Edit,
    /// Asks for the reason, and denies.
    Deny,
    /// Opens a field for an answer in words.
    AnswerText,
    /// An option or a grant, by its digit.
    Digit(char),
    /// Sends what is marked or chosen.
    Send,
}

/// What an action led to.
#[derive(Debug, PartialEq)]
pub enum PromptStep {
    Stay,
    Answer(AnswerChoice),
    /// The arguments, to be opened in an editor.
    Edit(String),
}

impl<F: AnswerField> RequestPrompt<F> {
    /// `last_key_at` is when the last key was pressed, for something else.
    #[must_use]
    pub fn new(request: PendingRequest, last_key_at: Option<Instant>) -> Self {
        let mut prompt = Self {
            request,
            shown_at: None,
            last_key_at,
            reading: Reading::Unfinished,
            confirming: None,
            stage: Stage::Choose,
            answers: Vec::new(),
            remark: None,
            edited: None,
        };
        prompt.stage = prompt.first_stage();
        prompt
    }

    pub fn id(&self) -> &RequestId {
        self.request.id()
    }

    pub fn request(&self) -> &PendingRequest {
        &self.request
    }

    pub fn stage(&self) -> &Stage<F> {
        &self.stage
    }

    pub fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    /// The keys that repeat an action whose reason for doubt is the remark.
    pub fn confirm_keys(&self) -> Option<String> {
        let key = match self.confirming? {
            PromptAction::Allow => "y",
            _ => "enter",
        };
        Some(match self.edited {
            Some(_) => format!("{key} again to allow the ORIGINAL · e edit · n deny"),
            None => format!("{key} again to allow · n deny"),
        })
    }

    pub fn is_answered(&self) -> bool {
        matches!(self.stage, Stage::Answered)
    }

    /// The text field that has the keys.
    pub fn field_mut(&mut self) -> Option<&mut F> {
        match &mut self.stage {
            Stage::Reason(field) | Stage::Text(field) => Some(field),
            Stage::Choose | Stage::Mark(_) | Stage::Grants(_) | Stage::Answered => None,
        }
    }

    pub fn is_typing(&self) -> bool {
        matches!(self.stage, Stage::Reason(_) | Stage::Text(_))
    }

    /// Asks again, because the answer was refused.
    pub fn reopen(&mut self, reason: &str, now: Instant) {
        self.answers.clear();
        self.ask_again(now);
        self.remark = Some(one_line(reason, 200)).filter(|reason| !reason.is_empty());
    }

    /// Waits until it is drawn again: something else was shown or typed meanwhile.
    pub fn rearm(&mut self, now: Instant) {
        self.shown_at = None;
        self.reading = Reading::Unfinished;
        self.last_key_at = Some(now);
        if self.confirming.take().is_some() {
            self.remark = None;
        }
    }

    fn ask_again(&mut self, now: Instant) {
        self.rearm(now);
        self.stage = self.first_stage();
    }

    /// It is on the screen. What was not shown before arms it again.
    pub fn note_shown(&mut self, reading: Reading, now: Instant) {
        // A reason that is being typed is not interrupted: it denies.
        let is_denying = matches!(self.stage, Stage::Reason(_));
        let is_new = !self.has_shown_end() && reading != Reading::Unfinished && !is_denying;
        if is_new || self.shown_at.is_none() {
            self.shown_at = Some(now);
        }
        if reading != Reading::Unfinished {
            self.reading = reading;
        }
    }

    pub fn has_shown_end(&self) -> bool {
        self.reading != Reading::Unfinished
    }

    /// When keys begin to answer the request. `None` before it was drawn.
    pub fn armed_at(&self) -> Option<Instant> {
        Some(armed_at(self.shown_at?, self.last_key_at))
    }

    pub fn is_armed(&self, now: Instant) -> bool {
        self.armed_at().is_some_and(|at| now >= at)
    }

    /// A key was pressed before the request was armed, or for something else.
    pub fn note_key(&mut self, now: Instant) {
        self.last_key_at = Some(now);
    }

    /// The current question, its number from 1, and how many there are.
    pub fn question(&self) -> Option<(&Question, usize, usize)> {
        match &self.request {
            PendingRequest::Question(asked) => {
                let index = self.answers.len();
                let question = asked.questions.get(index)?;
                Some((question, index + 1, asked.questions.len()))
            }
            PendingRequest::Permission(_) | PendingRequest::Plan(_) => None,
        }
    }

    /// What is asked, in one line without its question mark: `Allow Bash: make`. Safe for a terminal.
    pub fn headline(&self) -> String {
        match &self.request {
            PendingRequest::Permission(asked) => format!("Allow {}", describe_permission(asked)),
            PendingRequest::Plan(_) => "Approve the plan".to_owned(),
            PendingRequest::Question(_) => self
                .question()
                .map(|(question, ..)| visible(&question.text))
                .unwrap_or_default(),
        }
    }

    /// How many options or grants there are to choose from now.
    pub fn option_count(&self) -> usize {
        match (&self.stage, self.question()) {
            (Stage::Grants(choice), _) => choice.count(),
            (_, Some((question, ..))) => question.options.len(),
            (_, None) => 0,
        }
    }

    fn first_stage(&self) -> Stage<F> {
        match self.question() {
            Some((question, ..)) if question.options.is_empty() => Stage::Text(F::empty()),
            Some((question, ..)) if question.is_multiple => Stage::Mark(BTreeSet::new()),
            Some(_) | None => Stage::Choose,
        }
    }

    /// Whether an action means something to this request.
    pub fn takes(&self, action: PromptAction) -> bool {
        match (action, &self.request) {
            (PromptAction::Allow, request) => !matches!(request, PendingRequest::Question(_)),
            (PromptAction::ChooseGrants, PendingRequest::Permission(asked)) => !asked.grants.is_empty(),
            (PromptAction::Edit, PendingRequest::Permission(asked)) => asked.input.is_some(),
            (PromptAction::ChooseGrants | PromptAction::Edit, _) => false,
            (PromptAction::Deny, _) => true,
            (PromptAction::AnswerText, request) => matches!(request, PendingRequest::Question(_)),
            (PromptAction::Digit(_), _) => self.option_count() > 0,
            (PromptAction::Send, _) => matches!(self.stage, Stage::Mark(_) | Stage::Grants(_)),
        }
    }

    /// The user looked at the request again.
    pub fn clear_remark(&mut self) {
        self.remark = None;
        self.confirming = None;
    }

    /// Performs an action of an armed request. The next question is armed again.
    pub fn act(&mut self, action: PromptAction, now: Instant) -> PromptStep {
        if !self.takes(action) || self.is_answered() || self.is_typing() {
            return PromptStep::Stay;
        }
        self.remark = None;
        let confirming = self.confirming.take();
        if !self.has_shown_end() && action.is_consent() {
            self.remark = Some(READ_FIRST.to_owned());
            return PromptStep::Stay;
        }
        if self.is_allowing(action)
            && confirming != Some(action)
            && let Some(doubt) = self.doubt()
        {
            self.remark = Some(doubt);
            self.confirming = Some(action);
            // A second press at once is not a decision.
            self.shown_at = None;
            return PromptStep::Stay;
        }
        match action {
            PromptAction::Allow if matches!(self.stage, Stage::Grants(_)) => {
                self.stay("enter allows it with what is chosen; esc goes back")
            }
            PromptAction::Allow => self.answer(AnswerChoice::allow_once()),
            PromptAction::ChooseGrants => {
                if let PendingRequest::Permission(asked) = &self.request
                    && let Some(choice) = GrantChoice::of(asked)
                {
                    self.stage = Stage::Grants(choice);
                }
                PromptStep::Stay
            }
            PromptAction::Edit => self.edit(),
            PromptAction::Deny => {
                self.stage = Stage::Reason(F::empty());
                PromptStep::Stay
            }
            PromptAction::AnswerText => {
                self.stage = Stage::Text(F::empty());
                PromptStep::Stay
            }
            PromptAction::Digit(digit) => self.choose(digit, now),
            PromptAction::Send => match &self.stage {
                Stage::Mark(marked) if !marked.is_empty() => {
                    let marked = marked.clone();
                    self.answer_options(&marked, now)
                }
                Stage::Grants(choice) => match choice.answer() {
                    Some(answer) => self.answer(answer),
                    None => self.stay("nothing is chosen; esc goes back to allow it once"),
                },
                Stage::Mark(_) => self.stay("nothing is chosen"),
                _ => PromptStep::Stay,
            },
        }
    }

    fn is_allowing(&self, action: PromptAction) -> bool {
        match (action, &self.stage) {
            (PromptAction::Allow, stage) => !matches!(stage, Stage::Grants(_)),
            (PromptAction::Send, Stage::Grants(choice)) => choice.answer().is_some(),
            _ => false,
        }
    }

    /// Why an action that allows the request has to be repeated.
    fn doubt(&self) -> Option<String> {
        match self.reading {
            _ if self.edited.is_some() => Some("your edit is not used".to_owned()),
            Reading::Cut => Some("a part of it is too long to be shown".to_owned()),
            Reading::LongerThanScreen(rows) => Some(format!(
                "{rows} rows do not fit the screen: scroll up to read them"
            )),
            Reading::Unfinished | Reading::Complete => None,
        }
    }

    fn stay(&mut self, remark: &str) -> PromptStep {
        self.remark = Some(remark.to_owned());
        PromptStep::Stay
    }

    fn answer(&mut self, answer: AnswerChoice) -> PromptStep {
        self.stage = Stage::Answered;
        PromptStep::Answer(answer)
    }

    /// Goes one step back. `false` if there is none: the view may put the request aside.
    pub fn back(&mut self) -> bool {
        if self.confirming.take().is_some() {
            self.remark = None;
            return true;
        }
        let first = self.first_stage();
        let is_back = match &self.stage {
            Stage::Grants(_) | Stage::Reason(_) => true,
            // A question without options has nothing but its text.
            Stage::Text(_) => !matches!(first, Stage::Text(_)),
            Stage::Choose | Stage::Mark(_) | Stage::Answered => false,
        };
        if is_back {
            self.stage = first;
            self.remark = None;
        }
        is_back
    }

    fn choose(&mut self, digit: char, now: Instant) -> PromptStep {
        let number = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
        let index = number.and_then(|number| number.checked_sub(1));
        let options = self.option_count();
        if let Stage::Grants(choice) = &mut self.stage {
            if let Some(index) = index {
                choice.toggle(index);
            }
            return PromptStep::Stay;
        }
        if options > MAX_DIGITS {
            // One key is not enough: the number is typed.
            let mut field = F::empty();
            field.insert(digit);
            self.stage = Stage::Text(field);
            return PromptStep::Stay;
        }
        let Some(index) = index.filter(|index| *index < options) else {
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
            self.ask_again(now);
            return PromptStep::Stay;
        }
        let answers = self.answers.clone();
        self.answer(AnswerChoice::Answers { answers })
    }

    /// The text in the field is complete.
    pub fn submit(&mut self, now: Instant) -> PromptStep {
        match &self.stage {
            Stage::Reason(field) => {
                let denial = denial(&field.text());
                self.answer(denial)
            }
            Stage::Text(_) if !self.has_shown_end() => self.stay(READ_FIRST),
            Stage::Text(field) => {
                let text = field.text();
                if text.trim().is_empty() {
                    return PromptStep::Stay;
                }
                let question = self.question();
                let label = question.and_then(|(question, ..)| option_labels(question, &text));
                self.answer_question(label.unwrap_or(text), now)
            }
            Stage::Choose | Stage::Mark(_) | Stage::Grants(_) | Stage::Answered => PromptStep::Stay,
        }
    }

    fn edit(&mut self) -> PromptStep {
        let PendingRequest::Permission(asked) = &self.request else {
            return PromptStep::Stay;
        };
        let input = asked.input.as_ref().filter(|input| !input.is_oversize());
        let Some(input) = input.and_then(|input| input.read::<Value>().ok()) else {
            return self.stay("the arguments are too long to be edited here");
        };
        if input.to_string().contains(REDACTED) {
            return self.stay("the arguments contain a redacted secret and cannot be edited here");
        }
        let text = match self.edited.take() {
            Some(edited) => edited,
            None => serde_json::to_string_pretty(&input).unwrap_or_else(|_| input.to_string()),
        };
        PromptStep::Edit(text)
    }

    /// The user closed the editor. What is not valid JSON is kept for another try.
    pub fn edited(&mut self, text: Option<String>, now: Instant) -> PromptStep {
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
                self.stay("nothing was changed; the request is still open")
            }
            Some((Ok(_), text)) => {
                self.edited = Some(text);
                self.stay(
                    "your edit was not used: the arguments must be a JSON object; press e to edit them again",
                )
            }
            Some((Err(error), text)) => {
                self.edited = Some(text);
                let error = one_line(&error.to_string(), 80);
                self.stay(&format!(
                    "your edit was not used: invalid JSON: {error}; press e to edit it again"
                ))
            }
        }
    }
}

impl PromptAction {
    /// Whether it says yes to what the request says. The arguments are read in full where they are edited.
    #[must_use]
    pub fn is_consent(self) -> bool {
        match self {
            Self::Allow | Self::ChooseGrants | Self::Digit(_) | Self::Send => true,
            Self::Edit | Self::Deny | Self::AnswerText => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use agent_api::{Json, PermissionRequested, PlanProposed, RequestId, ToolKind};
    use ralph_run::control::{AnswerChoice, PendingRequest};

    use super::{AnswerField, PromptAction, PromptStep, Reading, RequestPrompt, Stage};

    type Prompt = RequestPrompt<String>;

    impl AnswerField for String {
        fn empty() -> Self {
            Self::new()
        }

        fn text(&self) -> String {
            self.clone()
        }

        fn insert(&mut self, character: char) {
            self.push(character);
        }
    }

    fn permission() -> Prompt {
        let mut asked = PermissionRequested::new(RequestId::new("p"), "Bash", ToolKind::Execute);
        asked.input = Json::from_text(r#"{"command":"ls"}"#.to_owned()).ok();
        Prompt::new(PendingRequest::Permission(Box::new(asked)), None)
    }

    fn allowed() -> PromptStep {
        PromptStep::Answer(AnswerChoice::allow_once())
    }

    #[test]
    fn nothing_is_allowed_before_its_end_was_shown_but_it_can_be_denied() {
        let now = Instant::now();
        let mut prompt = permission();
        assert!(!prompt.is_armed(now + Duration::from_secs(60)));
        prompt.note_shown(Reading::Unfinished, now);
        assert_eq!(prompt.act(PromptAction::Allow, now), PromptStep::Stay);
        assert!(prompt.remark().unwrap().starts_with("read to the end first"));
        prompt.note_shown(Reading::Complete, now);
        assert_eq!(prompt.act(PromptAction::Allow, now), allowed());
        let mut prompt = permission();
        prompt.note_shown(Reading::Unfinished, now);
        prompt.act(PromptAction::Deny, now);
        let step = prompt.submit(now);
        assert!(matches!(step, PromptStep::Answer(AnswerChoice::Deny { .. })));
    }

    #[test]
    fn what_was_not_seen_in_full_is_allowed_by_the_same_action_twice() {
        let now = Instant::now();
        for reading in [Reading::Cut, Reading::LongerThanScreen(70)] {
            let mut prompt = permission();
            prompt.note_shown(reading, now);
            assert_eq!(prompt.act(PromptAction::Allow, now), PromptStep::Stay);
            assert_eq!(prompt.confirm_keys().unwrap(), "y again to allow · n deny");
            // Armed again once it is shown again.
            assert_eq!(prompt.armed_at(), None);
            assert!(prompt.back());
            assert_eq!(prompt.remark(), None);
            prompt.note_shown(reading, now);
            prompt.act(PromptAction::Allow, now);
            assert_eq!(prompt.act(PromptAction::Allow, now), allowed());
        }
    }

    #[test]
    fn going_back_ends_at_the_request() {
        let now = Instant::now();
        let mut prompt = permission();
        prompt.note_shown(Reading::Complete, now);
        prompt.act(PromptAction::Deny, now);
        prompt.field_mut().unwrap().push('x');
        assert!(prompt.back());
        assert!(matches!(prompt.stage(), Stage::Choose));
        assert!(!prompt.back());
    }

    #[test]
    fn an_edit_that_is_not_valid_is_kept_for_the_next_one() {
        let now = Instant::now();
        let mut prompt = permission();
        prompt.note_shown(Reading::Complete, now);
        let PromptStep::Edit(text) = prompt.act(PromptAction::Edit, now) else {
            unreachable!()
        };
        assert!(text.contains("\"ls\""), "{text}");
        assert_eq!(prompt.edited(Some("{".to_owned()), now), PromptStep::Stay);
        prompt.note_shown(Reading::Complete, now);
        assert_eq!(prompt.act(PromptAction::Allow, now), PromptStep::Stay);
        assert!(prompt.confirm_keys().unwrap().contains("the ORIGINAL"));
        assert_eq!(
            prompt.act(PromptAction::Edit, now),
            PromptStep::Edit("{".to_owned())
        );
    }

    #[test]
    fn a_plan_has_neither_grants_nor_arguments() {
        let plan: PlanProposed = serde_json::from_str(r##"{"request":"p","plan":"# Plan"}"##).unwrap();
        let prompt = Prompt::new(PendingRequest::Plan(Box::new(plan)), None);
        let takes = |action| prompt.takes(action);
        assert!(takes(PromptAction::Allow) && takes(PromptAction::Deny));
        assert!(!takes(PromptAction::ChooseGrants) && !takes(PromptAction::Edit));
    }
}
