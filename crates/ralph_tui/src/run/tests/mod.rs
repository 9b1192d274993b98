//! Tests of the run screen and of the application around it. `Desk` is a user in front of a run.

mod dialogs;
mod hostile;
mod notices;
mod reading;
mod reading_requests;
mod requests;
mod rules;
mod screens;

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use ralph_run::control::{AnswerChoice, ControlCommand};
use ralph_run::{FORMAT_VERSION, Record, RunKind, ViewUpdate};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::{Value, json};
use terminal_input::Key;

use crate::app::{App, Now};
use crate::effect::Effect;
use crate::input::{Input, Reply};
use crate::run::RunScreen;
use crate::theme::{ColorScheme, Theme};

pub(super) const RUN: &str = "run-1";

/// An application with an open run, and a clock that moves with the keys.
pub(super) struct Desk {
    pub(super) app: App,
    pub(super) now: Now,
    /// Columns and rows of the terminal.
    pub(super) size: (u16, u16),
    seq: u64,
}

impl Desk {
    pub(super) fn new(kind: RunKind) -> Self {
        Self::with_theme(kind, ColorScheme::Dark)
    }

    pub(super) fn with_theme(kind: RunKind, scheme: ColorScheme) -> Self {
        let (app, effects) = App::new(Theme::new(scheme), Some(RUN.to_owned()));
        assert_eq!(effects, [Effect::Open { run: RUN.to_owned() }]);
        let mut desk = Self {
            app,
            now: Now {
                at: "2026-01-02T03:04:05Z".parse().unwrap(),
                instant: Instant::now(),
            },
            size: (100, 40),
            seq: 0,
        };
        desk.run_event(
            "run_started",
            &json!({"format_version": FORMAT_VERSION, "run_id": RUN, "ralph_version": "0.1.0",
                "workspace": "/home/me/project", "backend": "claude_code", "display_name": "Claude Code",
                "model": "opus", "max_iterations": 10, "max_cost": 5_000_000, "verify": [], "kind": kind}),
        );
        desk
    }

    pub(super) fn started(kind: RunKind) -> Self {
        let mut desk = Self::new(kind);
        desk.run_event(
            "iteration_started",
            &json!({"number": 1, "prompt": "Fix it.", "role": "coder"}),
        );
        desk
    }

    fn record(&mut self, event: &Value) -> Vec<Effect> {
        self.seq += 1;
        let record =
            json!({"seq": self.seq, "at": self.now.at, "iteration": 1, "attempt": 1, "event": event});
        let record: Record = serde_json::from_str(&record.to_string()).unwrap();
        assert!(
            !matches!(record.event, ralph_run::RunEvent::Unknown(_)),
            "{event}"
        );
        self.input(Input::Updates {
            run: RUN.to_owned(),
            updates: vec![ViewUpdate::Record(Arc::new(record))],
        })
    }

    pub(super) fn run_event(&mut self, name: &str, data: &Value) {
        self.record(&json!({"type": name, "data": data}));
    }

    pub(super) fn agent(&mut self, name: &str, data: &Value) {
        self.record(&json!({"agent_kind": "claude_code", "type": name, "data": data}));
    }

    pub(super) fn ask(&mut self, id: &str) {
        let input = json!({"command": "cargo test", "timeout": 5});
        self.agent(
            "permission_requested",
            &json!({"request": id, "tool": "Bash", "kind": "execute", "subject": "cargo test", "input": input,
                "grants": rule()}),
        );
    }

    pub(super) fn question(&mut self, questions: &Value) {
        self.agent("question_asked", &json!({"request": "q", "questions": questions}));
    }

    pub(super) fn close(&mut self, id: &str, by: Option<&str>) {
        let answer = json!({"command_id": "c", "command": "answer", "request": id, "by": by});
        self.run_event("command_received", &answer);
        self.agent("request_closed", &json!({"request": id, "reason": "answered"}));
    }

    pub(super) fn input(&mut self, input: Input) -> Vec<Effect> {
        self.app.update(input, self.now)
    }

    pub(super) fn wait(&mut self, milliseconds: u64) {
        self.now.instant += Duration::from_millis(milliseconds);
        self.now.at += Duration::from_millis(milliseconds);
    }

    pub(super) fn key(&mut self, key: Key) -> Vec<Effect> {
        self.input(Input::Key(key))
    }

    /// Presses keys 100 ms apart. `\u{3}` is Ctrl-C.
    pub(super) fn press(&mut self, text: &str) -> Vec<Effect> {
        let mut effects = Vec::new();
        for character in text.chars() {
            self.wait(100);
            effects.extend(self.key(match character {
                '\n' => Key::Enter,
                '\u{1b}' => Key::Escape,
                '\u{3}' => Key::Control('c'),
                _ => Key::Character(character),
            }));
        }
        effects
    }

    pub(super) fn reply(&mut self, command: ControlCommand, result: Result<Option<String>, String>) {
        self.input(Input::Reply(Reply {
            run: RUN.to_owned(),
            command,
            result,
        }));
    }

    /// A request is drawn, and time passes until it is armed.
    pub(super) fn settle(&mut self) {
        self.screen(self.size.0, self.size.1);
        self.wait(500);
        self.input(Input::Tick);
    }

    pub(super) fn buffer(&mut self, columns: u16, rows: u16) -> (Buffer, Option<Position>) {
        let area = Rect::new(0, 0, columns, rows);
        let mut buffer = Buffer::empty(area);
        let cursor = self.app.render(area, &mut buffer, self.now);
        (buffer, cursor)
    }

    pub(super) fn screen(&mut self, columns: u16, rows: u16) -> String {
        text_of(&self.buffer(columns, rows).0)
    }

    pub(super) fn shows(&mut self, text: &str) -> bool {
        self.screen(100, 40).contains(text)
    }

    pub(super) fn at(&self) -> Timestamp {
        self.now.at
    }
}

pub(super) fn text_of(buffer: &Buffer) -> String {
    let mut text = String::new();
    for row in 0..buffer.area.height {
        let mut line = String::new();
        let mut column = 0;
        while column < buffer.area.width {
            let symbol = buffer[(column, row)].symbol();
            line.push_str(symbol);
            column += u16::try_from(run_view::width(symbol).max(1)).unwrap();
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

pub(super) fn rule() -> Value {
    json!([{"id": "rule", "kind": "rule", "destination": "session",
        "text": "Allow Bash(cargo test:*) for this session"}])
}

pub(super) fn granted(ids: &[&str]) -> AnswerChoice {
    AnswerChoice::Allow {
        grants: ids.iter().map(|id| agent_api::GrantId::new(id)).collect(),
    }
}

pub(super) fn command(command: ControlCommand) -> Effect {
    Effect::Command {
        run: RUN.to_owned(),
        command,
    }
}

pub(super) fn answer(id: &str, answer: AnswerChoice) -> Effect {
    command(ControlCommand::Answer {
        request: agent_api::RequestId::new(id),
        answer,
    })
}

/// The screen of the open run.
pub(super) fn run_of(desk: &mut Desk) -> &mut RunScreen {
    desk.app.run_mut().unwrap()
}
