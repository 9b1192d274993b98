//! `Keyboard`: what keys do in a run, as a pure function of keys, requests and time. `KeyboardSession` drives it.

use std::collections::VecDeque;
use std::time::Instant;

use agent_api::RequestId;
use ralph_run::RunKind;
use ralph_run::control::{ControlCommand, SendMode};
use ralph_run::model::{RunModel, RunState, WaitingFor};

use super::input_lines::{render_input, window};
use super::prompt_lines::{PromptLines, Screen};
use super::top_up_line::TopUpLine;
use crate::console::InputArea;
use run_view::{armed_at, one_line};
use terminal_input::{Edit, History, Key, LineEditor, OVERSIZED_PASTE};

/// Messages that may be refused: each is answered at once, so few are on their way.
const MAX_SENT: usize = 8;
/// Shown while keys go to a message although a request is open.
const DRAFT_HINT: &str = "esc to answer (your message is kept)";

/// What a key leads to.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyAction {
    /// To be sent to the run.
    Command(ControlCommand),
    /// To be shown to the user.
    Notice(String),
}

/// Whether the run takes messages, as far as the view knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Messages {
    Taken,
    /// The agent takes none after its prompt.
    Refused,
}

/// The input line of a conversation, the message line of a loop, and the prompt of an open request.
#[derive(Debug)]
pub struct Keyboard {
    messages: Messages,
    line: Line,
    /// Whether the agent has nothing to do until a message is sent.
    is_idle: bool,
    /// Whether the agent of a loop has no process that could take a message.
    is_between_processes: bool,
    draft: LineEditor,
    /// Whether the user left the draft in order to answer requests.
    is_draft_aside: bool,
    history: History,
    prompt: Option<PromptLines>,
    /// While the run waits for a higher limit.
    top_up: Option<TopUpLine>,
    /// Requests behind the one that is shown.
    waiting_requests: usize,
    last_key_at: Option<Instant>,
    /// When a request was closed under the user's hands. Keys that were meant for it are dropped.
    closed_at: Option<Instant>,
    /// The last messages that were sent, in case one is refused.
    sent: VecDeque<LineEditor>,
    screen: Screen,
}

/// Whether there is a line for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// The run has not begun, or it has ended.
    Absent,
    /// In a conversation.
    Open,
    /// In a conversation that is ending.
    Ended,
    /// In a loop, where a key opens it.
    Closed,
    /// In a loop.
    Opened,
}

impl Keyboard {
    pub fn new(messages: Messages) -> Self {
        Self {
            messages,
            line: Line::Absent,
            is_idle: false,
            is_between_processes: false,
            draft: LineEditor::default(),
            is_draft_aside: false,
            history: History::default(),
            prompt: None,
            top_up: None,
            waiting_requests: 0,
            last_key_at: None,
            closed_at: None,
            sent: VecDeque::new(),
            screen: Screen {
                columns: 80,
                rows: 24,
            },
        }
    }

    /// How large the terminal is.
    pub fn resize(&mut self, columns: usize, rows: usize) {
        self.screen = Screen { columns, rows };
    }

    /// Follows the run: its kind, its end, and the request that has been open longest.
    pub fn observe(&mut self, run: &RunModel, now: Instant) {
        let is_conversation = run
            .started()
            .is_some_and(|started| started.kind == RunKind::Session);
        self.line = match (run.started().is_some() && run.ended().is_none(), self.line) {
            (false, _) => Line::Absent,
            (true, Line::Absent) if is_conversation => Line::Open,
            (true, Line::Absent) => Line::Closed,
            (true, line) => line,
        };
        self.is_idle = matches!(
            run.state(),
            RunState::Waiting {
                what: WaitingFor::Message
            }
        );
        self.is_between_processes = match run.state() {
            RunState::Verifying | RunState::Cooling { .. } | RunState::Stopping | RunState::Ended { .. } => {
                true
            }
            RunState::Waiting { what } => matches!(what, WaitingFor::Budget | WaitingFor::Limit { .. }),
            RunState::Starting | RunState::Thinking | RunState::Responding | RunState::Tool { .. } => false,
        };
        match run.awaited_budget() {
            None => self.top_up = None,
            Some(_) if self.top_up.is_some() => {}
            Some(awaited) => self.top_up = TopUpLine::new(awaited, now),
        }
        self.waiting_requests = run.requests().len().saturating_sub(1);
        let request = run.requests().iter().next();
        if self.prompt.as_ref().map(PromptLines::request) != request {
            if self.open_prompt().is_some() && !self.is_writing() {
                self.closed_at = Some(now);
            }
            self.prompt =
                request.map(|request| PromptLines::new(request.clone(), self.screen, self.last_key_at, now));
            self.is_draft_aside &= self.prompt.is_some();
        }
    }

    /// The run refused a command of ours.
    pub fn refused(&mut self, command: &ControlCommand, now: Instant) {
        match command {
            ControlCommand::Answer { request, .. } => self.reopen(request, now),
            ControlCommand::CloseInput if self.line == Line::Ended => self.line = Line::Open,
            ControlCommand::Send { text, .. } => {
                let refused = self.sent.iter().position(|sent| sent.text() == *text);
                let refused = refused.and_then(|index| self.sent.remove(index));
                // What was typed meanwhile is worth more.
                if let Some(sent) = refused.filter(|_| self.draft.is_empty()) {
                    self.draft = sent;
                    // It must not take the keys of an answer that is being given.
                    self.is_draft_aside = self.open_prompt().is_some();
                    if self.line == Line::Closed {
                        self.line = Line::Opened;
                    }
                }
            }
            _ => {}
        }
    }

    /// The answer to a request was refused: asks again, if it is still open.
    pub fn reopen(&mut self, request: &RequestId, now: Instant) {
        if let Some(prompt) = self.prompt.as_mut().filter(|prompt| prompt.id() == request) {
            prompt.reopen(self.screen, now);
        }
    }

    /// Ctrl-C: clears the amount or, in a conversation without a turn, the message that is being written, as in a shell.
    /// Otherwise it is meant for the run; returns `false` then.
    pub fn interrupt(&mut self) -> bool {
        if let Some(top_up) = self.top_up.as_mut().filter(|top_up| top_up.is_open()) {
            top_up.close();
            return true;
        }
        let is_taken = self.line == Line::Open && self.is_idle && !self.draft.is_empty();
        if is_taken {
            self.draft = LineEditor::default();
            self.is_draft_aside = false;
            self.history.leave();
        }
        is_taken
    }

    /// When [`Self::render`] or [`Self::hint`] changes without a key.
    pub fn deadline(&self, now: Instant) -> Option<Instant> {
        let armed_at = match (self.open_prompt(), &self.top_up) {
            _ if self.is_writing() => None,
            (Some(prompt), _) => prompt.armed_at(),
            (None, Some(top_up)) => Some(top_up.armed_at(self.last_key_at)),
            (None, None) => None,
        };
        armed_at.filter(|armed_at| *armed_at > now)
    }

    fn open_prompt(&self) -> Option<&PromptLines> {
        self.prompt.as_ref().filter(|prompt| !prompt.is_answered())
    }

    /// Takes a key.
    pub fn update(&mut self, key: Key, now: Instant) -> Vec<KeyAction> {
        let last_key_at = self.last_key_at.replace(now);
        if key == Key::OversizedPaste {
            return vec![KeyAction::Notice(OVERSIZED_PASTE.to_owned())];
        }
        let is_writing = self.is_writing();
        if let Some(prompt) = self.prompt.as_mut().filter(|prompt| !prompt.is_answered()) {
            if !is_writing && prompt.is_armed(now) {
                let request = prompt.id().clone();
                let answer = prompt.update(&key, self.screen, now);
                let command = answer.map(|answer| ControlCommand::Answer { request, answer });
                return command.map(KeyAction::Command).into_iter().collect();
            }
            prompt.note_key(now);
            return match key {
                Key::Escape if is_writing => {
                    self.is_draft_aside = true;
                    Vec::new()
                }
                key if is_writing => self.message_key(&key),
                _ => Vec::new(),
            };
        }
        if let Some(closed_at) = self.closed_at {
            if now < armed_at(closed_at, last_key_at) {
                return Vec::new();
            }
            self.closed_at = None;
        }
        self.is_draft_aside = false;
        if let Some(top_up) = self.top_up.as_mut().filter(|_| !is_writing)
            && let Some(actions) = top_up.update(&key, last_key_at, now)
        {
            return actions;
        }
        self.message_key(&key)
    }

    /// Whether a message is being written. Then requests take no keys: they could be part of it.
    fn is_writing(&self) -> bool {
        let has_line = matches!(self.line, Line::Open | Line::Opened);
        has_line && !self.draft.is_empty() && !self.is_draft_aside
    }

    fn message_key(&mut self, key: &Key) -> Vec<KeyAction> {
        match (self.line, key) {
            (Line::Absent | Line::Ended, _) => {}
            (Line::Closed, Key::Character('m' | 'M')) => match self.messages {
                Messages::Taken if self.is_between_processes => {
                    let text = "the agent takes no messages now; it does in the next iteration";
                    return vec![KeyAction::Notice(text.to_owned())];
                }
                Messages::Taken => self.line = Line::Opened,
                Messages::Refused => {
                    let text = "this agent takes no messages after its prompt";
                    return vec![KeyAction::Notice(text.to_owned())];
                }
            },
            (Line::Closed, _) => {}
            (Line::Opened, Key::Escape | Key::EndOfInput) => self.line = Line::Closed,
            (Line::Open, Key::EndOfInput) if self.draft.is_empty() => {
                self.line = Line::Ended;
                return vec![KeyAction::Command(ControlCommand::CloseInput)];
            }
            (Line::Open | Line::Opened, Key::Up) => self.history.older(&mut self.draft),
            (Line::Open | Line::Opened, Key::Down) => self.history.newer(&mut self.draft),
            (Line::Open | Line::Opened, key) => {
                if self.draft.apply(key) == Edit::Complete {
                    return self.send();
                }
            }
        }
        Vec::new()
    }

    fn send(&mut self) -> Vec<KeyAction> {
        let text = self.draft.text();
        if text.trim().is_empty() {
            return Vec::new();
        }
        let sent = std::mem::take(&mut self.draft);
        self.history.add(sent.clone());
        if self.sent.len() == MAX_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back(sent);
        if self.line == Line::Opened {
            self.line = Line::Closed;
        }
        let mode = SendMode::Steer;
        vec![KeyAction::Command(ControlCommand::Send { text, mode })]
    }

    /// The message that is being written.
    pub fn unsent(&self) -> Option<String> {
        let text = self.draft.text();
        (!text.trim().is_empty()).then_some(text)
    }

    /// The lines below the status line.
    pub fn render(&self, (columns, rows): (usize, usize), now: Instant) -> InputArea {
        let top_up = self.top_up.as_ref().filter(|_| !self.is_writing());
        let amount = top_up.and_then(|top_up| top_up.render(columns));
        let message = amount.unwrap_or_else(|| match self.line {
            Line::Open => render_input("> ", &self.draft, columns),
            Line::Opened => render_input("Message: ", &self.draft, columns),
            Line::Absent | Line::Ended | Line::Closed => InputArea::default(),
        });
        let area = match self.open_prompt() {
            Some(prompt) if self.is_writing() => {
                let title = prompt.title(columns, self.waiting_requests);
                below(vec![title, one_line(DRAFT_HINT, columns)], message)
            }
            Some(prompt) => prompt.render(columns, self.waiting_requests, now),
            None => message,
        };
        window(area, rows)
    }

    /// The key that the status line names.
    pub fn hint(&self, now: Instant) -> &'static str {
        if let Some(top_up) = self.top_up.as_ref().filter(|_| !self.is_writing()) {
            return top_up.hint(self.last_key_at, now);
        }
        match (self.line, self.messages, self.open_prompt()) {
            (Line::Closed, Messages::Taken, None) if !self.is_between_processes => "m message",
            (Line::Opened, _, None) => "enter send · esc close",
            (Line::Open, _, None) if self.draft.is_empty() => "ctrl-d end",
            _ => "",
        }
    }
}

fn below(mut lines: Vec<String>, area: InputArea) -> InputArea {
    let cursor = area.cursor.map(|(line, column)| (line + lines.len(), column));
    lines.extend(area.lines);
    InputArea { lines, cursor }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use agent_api::{AgentKind, Body, Event, RequestId};
    use jiff::Timestamp;
    use ralph_run::control::{AnswerChoice, ControlCommand, SendMode, TopUp};
    use ralph_run::model::RunModel;
    use ralph_run::{FORMAT_VERSION, Record, RunBody, RunEvent, RunKind};
    use serde_json::{Value, json};

    use super::{Key, KeyAction, Keyboard, Messages};

    /// A run, a keyboard, and a clock that moves with the keys.
    struct Desk {
        run: RunModel,
        keyboard: Keyboard,
        now: Instant,
        seq: u64,
    }

    impl Desk {
        fn new(kind: RunKind) -> Self {
            let mut desk = Self {
                run: RunModel::new(),
                keyboard: Keyboard::new(Messages::Taken),
                now: Instant::now(),
                seq: 0,
            };
            let started = json!({"format_version": FORMAT_VERSION, "run_id": "run-1", "ralph_version": "0.1.0",
                "workspace": "/project", "backend": "claude_code", "display_name": "Claude",
                "max_iterations": 1, "verify": [], "kind": kind});
            let started = serde_json::from_value(started).unwrap();
            desk.record(RunEvent::Run(RunBody::RunStarted(Box::new(started))));
            desk
        }

        fn record(&mut self, event: RunEvent) {
            self.seq += 1;
            self.run.apply(&Record {
                seq: self.seq,
                at: Timestamp::UNIX_EPOCH,
                iteration: 1,
                attempt: 1,
                event,
            });
            self.keyboard.observe(&self.run, self.now);
        }

        fn agent(&mut self, name: &str, data: &Value) {
            let event = json!({"agent_kind": "claude_code", "type": name, "data": data}).to_string();
            let body: Body = serde_json::from_str::<Event>(&event).unwrap().body;
            self.record(RunEvent::Agent(Event::new(AgentKind::CLAUDE_CODE, body)));
        }

        fn ask(&mut self, id: &str) {
            let asked = json!({"request": id, "tool": "Bash", "kind": "execute"});
            self.agent("permission_requested", &asked);
        }

        fn close(&mut self, id: &str) {
            self.agent("request_closed", &json!({"request": id, "reason": "answered"}));
        }

        fn wait(&mut self, milliseconds: u64) {
            self.now += Duration::from_millis(milliseconds);
        }

        /// Presses keys 100 ms apart.
        fn press(&mut self, text: &str) -> Vec<KeyAction> {
            let mut actions = Vec::new();
            for character in text.chars() {
                self.wait(100);
                let key = match character {
                    '\n' => Key::Enter,
                    '\u{1b}' => Key::Escape,
                    '\u{4}' => Key::EndOfInput,
                    '\u{11}' => Key::Up,
                    _ => Key::Character(character),
                };
                actions.extend(self.keyboard.update(key, self.now));
            }
            actions
        }

        fn shown(&self) -> Vec<String> {
            self.keyboard.render((80, 20), self.now).lines
        }
    }

    fn send(text: &str) -> KeyAction {
        KeyAction::Command(ControlCommand::Send {
            text: text.to_owned(),
            mode: SendMode::Steer,
        })
    }

    fn allow(id: &str) -> KeyAction {
        KeyAction::Command(ControlCommand::Answer {
            request: RequestId::new(id),
            answer: AnswerChoice::allow_once(),
        })
    }

    #[test]
    fn a_loop_has_a_message_line_that_a_key_opens_and_escape_closes() {
        let mut desk = Desk::new(RunKind::Loop);
        assert_eq!(desk.press("hello, yes\n\u{4}"), []);
        assert_eq!(
            (desk.shown(), desk.keyboard.hint(desk.now)),
            (vec![], "m message")
        );
        assert_eq!(desk.press("mmore\u{1b}xyz"), []);
        assert_eq!(desk.shown(), [""; 0]);
        // The draft was kept.
        assert_eq!(desk.press("m"), []);
        assert_eq!(desk.shown(), ["Message: more"]);
        assert_eq!(desk.press(" tests\nm"), [send("more tests")]);
        assert_eq!(desk.shown(), ["Message: "]);
    }

    #[test]
    fn a_conversation_has_its_line_open_and_ctrl_d_ends_it_when_it_is_empty() {
        let mut desk = Desk::new(RunKind::Session);
        assert_eq!(desk.shown(), ["> "]);
        assert_eq!(desk.press("\n \nhi\n"), [send(" hi")]);
        assert_eq!(desk.press("\u{11}!\n"), [send(" hi!")]);
        assert_eq!(desk.press("x\u{4}"), []);
        assert_eq!(
            desk.press("\n\u{4}y\n").last(),
            Some(&KeyAction::Command(ControlCommand::CloseInput))
        );
        assert_eq!(desk.shown(), [""; 0]);
        desk.keyboard.refused(&ControlCommand::CloseInput, desk.now);
        assert_eq!(desk.shown(), ["> "]);
    }

    #[test]
    fn ctrl_c_clears_a_draft_only_while_a_conversation_waits_for_it() {
        let mut desk = Desk::new(RunKind::Session);
        desk.press("draft");
        // The agent works: it is interrupted, and the draft stays.
        assert!(!desk.keyboard.interrupt());
        assert_eq!(desk.shown(), ["> draft"]);
        desk.record(RunEvent::Run(RunBody::MessageAwaited(Default::default())));
        assert!(desk.keyboard.interrupt());
        assert_eq!(desk.shown(), ["> "]);
        assert!(!desk.keyboard.interrupt());
        let mut desk = Desk::new(RunKind::Loop);
        desk.press("mdraft");
        assert!(!desk.keyboard.interrupt());
    }

    fn reaches_cost_limit(desk: &mut Desk) {
        let awaited = json!({"limit": "cost", "message": "cost limit reached", "limit_value": 10_000_000});
        let awaited = serde_json::from_value(awaited).unwrap();
        desk.record(RunEvent::Run(RunBody::BudgetAwaited(awaited)));
    }

    fn adds(micro_usd: u64) -> KeyAction {
        let cost = Some(agent_api::MicroUsd::new(micro_usd));
        KeyAction::Command(ControlCommand::TopUp(TopUp {
            cost,
            ..TopUp::default()
        }))
    }

    #[test]
    fn a_limit_is_raised_with_a_key_and_an_amount_that_is_proposed() {
        let mut desk = Desk::new(RunKind::Loop);
        reaches_cost_limit(&mut desk);
        // What was being typed when the limit was reached does not open it.
        assert_eq!(desk.press("tt\n"), []);
        assert_eq!((desk.shown(), desk.keyboard.hint(desk.now)), (vec![], ""));
        desk.wait(500);
        assert_eq!(desk.keyboard.hint(desk.now), "t raise the limit");
        assert_eq!(desk.press("t"), []);
        assert_eq!(desk.shown(), ["Raise the cost limit by $10"]);
        assert_eq!(desk.keyboard.hint(desk.now), "enter raise · esc cancel");
        assert_eq!(desk.press("\u{1b}"), []);
        assert_eq!(desk.shown(), [""; 0]);
        desk.wait(500);
        let wrong = desk.press("tx\n");
        assert!(matches!(wrong.as_slice(), [KeyAction::Notice(_)]), "{wrong:?}");
        assert!(desk.keyboard.interrupt());
        desk.wait(500);
        assert_eq!(desk.press("t\n"), [adds(10_000_000)]);
        let raised = json!({"limit": "cost", "to": 20_000_000});
        let raised = serde_json::from_value(raised).unwrap();
        desk.record(RunEvent::Run(RunBody::LimitRaised(raised)));
        assert_eq!(desk.keyboard.hint(desk.now), "m message");
    }

    #[test]
    fn a_message_that_is_being_written_is_not_taken_for_a_top_up() {
        let mut desk = Desk::new(RunKind::Session);
        desk.press("s");
        reaches_cost_limit(&mut desk);
        desk.wait(500);
        assert_eq!(desk.press("tart\n"), [send("start")]);
        desk.wait(500);
        assert_eq!(desk.press("t5\n"), [adds(105_000_000)]);
    }

    #[test]
    fn a_message_that_is_refused_comes_back() {
        let mut desk = Desk::new(RunKind::Loop);
        let sent = desk.press("mhello\n");
        let [KeyAction::Command(command)] = sent.as_slice() else {
            unreachable!("{sent:?}")
        };
        desk.keyboard.refused(command, desk.now);
        assert_eq!(desk.shown(), ["Message: hello"]);
    }

    #[test]
    fn the_message_that_is_refused_comes_back_and_not_a_later_one() {
        let mut desk = Desk::new(RunKind::Session);
        assert_eq!(desk.press("one\ntwo\n"), [send("one"), send("two")]);
        let KeyAction::Command(command) = send("one") else {
            unreachable!()
        };
        desk.keyboard.refused(&command, desk.now);
        assert_eq!(desk.shown(), ["> one"]);
    }

    #[test]
    fn a_request_takes_no_keys_from_a_message_until_escape() {
        let mut desk = Desk::new(RunKind::Session);
        desk.press("run m");
        desk.ask("a");
        // The rest of the message goes where it was meant to go, however long the user thinks.
        assert_eq!(desk.press("y"), []);
        desk.wait(60_000);
        assert_eq!(desk.press(" y"), []);
        assert_eq!(
            desk.shown(),
            [
                "Allow Bash?",
                "esc to answer (your message is kept)",
                "> run my y"
            ]
        );
        assert_eq!(desk.press("\u{1b}yy"), []);
        assert_eq!(desk.shown(), ["Allow Bash?"]);
        desk.wait(500);
        assert_eq!(desk.shown(), ["Allow Bash?", "y once · n deny"]);
        assert_eq!(desk.press("xy"), [allow("a")]);
        // On its way: the draft is back.
        assert_eq!(desk.shown(), ["> run my y"]);
        desk.close("a");
        assert_eq!(desk.press("!\n"), [send("run my y!")]);
    }

    #[test]
    fn a_message_can_be_sent_while_a_request_waits() {
        for (kind, open) in [(RunKind::Session, ""), (RunKind::Loop, "m")] {
            let mut desk = Desk::new(kind);
            desk.press(open);
            desk.press("ple");
            desk.ask("a");
            desk.wait(2_000);
            assert_eq!(desk.press("ase\n"), [send("please")]);
            assert_eq!(desk.press("yyy"), []);
            desk.wait(500);
            assert_eq!(desk.press("y"), [allow("a")]);
        }
    }

    #[test]
    fn a_request_that_is_answered_elsewhere_leaves_the_message_alone() {
        let mut desk = Desk::new(RunKind::Session);
        desk.press("ple");
        desk.ask("a");
        desk.press("a");
        desk.close("a");
        assert_eq!(desk.press("se\n"), [send("please")]);
    }

    #[test]
    fn a_message_that_is_refused_does_not_take_the_keys_of_an_answer() {
        let mut desk = Desk::new(RunKind::Session);
        let sent = desk.press("hello\n");
        let [KeyAction::Command(command)] = sent.as_slice() else {
            unreachable!("{sent:?}")
        };
        desk.ask("a");
        desk.wait(500);
        desk.press("nno");
        desk.keyboard.refused(command, desk.now);
        assert_eq!(desk.shown(), ["Allow Bash?", "Reason (optional): no"]);
        desk.close("a");
        assert_eq!(desk.shown(), ["> hello"]);
    }

    #[test]
    fn typing_does_not_answer_a_request_that_just_came() {
        let mut desk = Desk::new(RunKind::Session);
        desk.ask("a");
        assert_eq!(desk.press("yes please, always say yes\n"), []);
        desk.wait(500);
        assert_eq!(desk.press("y"), [allow("a")]);
    }

    #[test]
    fn each_request_is_armed_on_its_own() {
        let mut desk = Desk::new(RunKind::Loop);
        desk.ask("a");
        desk.ask("b");
        desk.wait(500);
        assert_eq!(desk.press("y"), [allow("a")]);
        desk.close("a");
        assert_eq!(desk.press("yyy"), []);
        desk.wait(500);
        assert_eq!(desk.press("y"), [allow("b")]);
    }

    #[test]
    fn keys_for_a_request_that_is_answered_elsewhere_do_nothing() {
        let mut desk = Desk::new(RunKind::Loop);
        desk.ask("a");
        desk.wait(500);
        assert_eq!(desk.press("nnot so "), []);
        desk.close("a");
        assert_eq!(desk.press("many\n"), []);
        assert_eq!(desk.shown(), [""; 0]);
        desk.wait(500);
        desk.press("m");
        assert_eq!(desk.shown(), ["Message: "]);
    }

    #[test]
    fn an_answer_that_is_refused_can_be_given_again() {
        let mut desk = Desk::new(RunKind::Loop);
        desk.ask("a");
        desk.wait(500);
        desk.press("y");
        assert_eq!(desk.shown(), [""; 0]);
        desk.keyboard.reopen(&RequestId::new("a"), desk.now);
        desk.wait(500);
        assert_eq!(desk.press("y"), [allow("a")]);
    }

    #[test]
    fn a_message_is_not_offered_while_the_run_waits_for_a_limit() {
        let mut desk = Desk::new(RunKind::Loop);
        assert_eq!(desk.keyboard.hint(desk.now), "m message");
        let cooldown = json!({"until": "2026-01-01T00:00:00Z", "cause": "usage_limit"});
        let cooldown = serde_json::from_value(cooldown).unwrap();
        desk.record(RunEvent::Run(RunBody::CooldownStarted(cooldown)));
        assert_eq!(desk.keyboard.hint(desk.now), "");
        let actions = desk.press("mx");
        assert!(
            matches!(&actions[..], [KeyAction::Notice(text)] if text.contains("no messages now")),
            "{actions:?}"
        );
        assert_eq!(desk.shown(), [""; 0]);
    }

    #[test]
    fn a_run_that_takes_no_messages_says_so() {
        let mut desk = Desk::new(RunKind::Loop);
        desk.keyboard.messages = Messages::Refused;
        assert_eq!(desk.keyboard.hint(desk.now), "");
        let refused = KeyAction::Notice("this agent takes no messages after its prompt".to_owned());
        assert_eq!(desk.press("m"), [refused]);
    }
}
