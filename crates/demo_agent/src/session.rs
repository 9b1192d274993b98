//! `Session`: runs turns until the input ends, and handles input events at every pause.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::{Arguments, fail};
use crate::input_events::{InputEvent, InputQueue, UserMessage};
use crate::messages::OpenMessage;
use crate::usage_meter::UsageMeter;
use crate::wire_lines::{WireLines, cancel_request, control_error, control_success};

const PERMISSION_MODES: [&str; 6] = [
    "acceptEdits",
    "auto",
    "bypassPermissions",
    "default",
    "dontAsk",
    "plan",
];

/// Why the script cannot continue.
#[derive(Debug)]
pub(crate) enum Stop {
    /// An `interrupt` request: ends the turn.
    Interrupted,
    /// SIGINT: ends the turn and the process.
    Signal,
    /// An `end_session` request.
    SessionEnded,
    InvalidInput(String),
    OutputClosed,
    /// The task failed, with the reason for people.
    TaskFailed(String),
}

pub(crate) type Result<T = ()> = std::result::Result<T, Stop>;

enum TurnEnd {
    Completed,
    Failed(String),
    /// With the `terminal_reason`.
    Aborted(&'static str),
}

pub(crate) struct Session {
    pub(crate) arguments: Arguments,
    pub(crate) cwd: PathBuf,
    pub(crate) lines: WireLines,
    pub(crate) usage: UsageMeter,
    pub(crate) open_message: Option<OpenMessage>,
    pub(crate) open_tool: Option<String>,
    /// The question that waits for an answer.
    pub(crate) open_request: Option<String>,
    pub(crate) answer: Option<Value>,
    pub(crate) has_input_ended: bool,
    pub(crate) input: InputQueue,
    /// Model messages in this turn.
    pub(crate) message_count: u64,
    /// The `result` of the turn repeats it.
    pub(crate) last_text: String,
    pub(crate) denials: Vec<Value>,
    pub(crate) todos: Value,
    queued_messages: VecDeque<UserMessage>,
}

impl Session {
    pub(crate) fn new(arguments: Arguments, input: InputQueue) -> io::Result<Self> {
        Ok(Self {
            lines: WireLines::new(arguments.session_id.clone()),
            cwd: std::env::current_dir()?,
            arguments,
            usage: UsageMeter::default(),
            open_message: None,
            open_tool: None,
            open_request: None,
            answer: None,
            has_input_ended: false,
            input,
            message_count: 0,
            last_text: String::new(),
            denials: Vec::new(),
            todos: json!([]),
            queued_messages: VecDeque::new(),
        })
    }

    /// Runs turns until the input ends. Returns the exit code.
    pub(crate) fn run(mut self) -> u8 {
        match self.run_turns() {
            Ok(code) => code,
            Err(Stop::Interrupted | Stop::Signal | Stop::SessionEnded) => 0,
            Err(Stop::InvalidInput(message) | Stop::TaskFailed(message)) => fail(&message),
            Err(Stop::OutputClosed) => 1,
        }
    }

    fn run_turns(&mut self) -> Result<u8> {
        let mut code = 0;
        for turn in 0.. {
            let messages = self.next_messages()?;
            if messages.is_empty() {
                break;
            }
            code = u8::from(!self.run_turn(&messages, turn)?);
        }
        Ok(code)
    }

    /// Waits for messages. One turn answers all that are queued; there are none when the input has ended.
    fn next_messages(&mut self) -> Result<Vec<UserMessage>> {
        while self.queued_messages.is_empty() && !self.has_input_ended {
            let event = self.input.next();
            match self.handle(event) {
                // No turn is running that could be interrupted.
                Ok(()) | Err(Stop::Interrupted) => {}
                Err(stop) => return Err(stop),
            }
        }
        Ok(self.queued_messages.drain(..).collect())
    }

    /// Returns whether the turn succeeded.
    fn run_turn(&mut self, messages: &[UserMessage], turn: u64) -> Result<bool> {
        let started_at = Instant::now();
        self.message_count = 0;
        self.last_text.clear();
        for message in messages {
            self.write_receipt(message, "started")?;
        }
        let cwd = self.cwd.to_string_lossy();
        let options = &self.arguments;
        let init = self
            .lines
            .init(&cwd, &options.model, &options.permission_mode, options.can_ask);
        self.write(&init)?;
        if self.arguments.replay_messages {
            for message in messages {
                let line = self.lines.replay(message.id.as_deref(), &message.content);
                self.write(&line)?;
            }
        }
        let ran = if turn == 0 {
            self.run_task()
        } else {
            self.report_status()
        };
        let (end, stop) = match ran {
            Ok(()) => (TurnEnd::Completed, None),
            Err(Stop::TaskFailed(reason)) => (TurnEnd::Failed(reason), None),
            Err(Stop::Interrupted) => (TurnEnd::Aborted(self.abort()?), None),
            Err(Stop::Signal) => (TurnEnd::Aborted(self.abort()?), Some(Stop::Signal)),
            Err(stop) => return Err(stop),
        };
        let is_success = matches!(end, TurnEnd::Completed);
        self.write_result(end, turn, started_at.elapsed())?;
        for message in messages {
            self.write_receipt(message, "completed")?;
        }
        stop.map_or(Ok(is_success), Err)
    }

    fn write_result(&mut self, end: TurnEnd, turn: u64, duration: Duration) -> Result {
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let mut body = self.usage.end_turn(&self.arguments.model);
        let mut add = |fields: Value| {
            if let Value::Object(fields) = fields {
                body.extend(fields);
            }
        };
        add(json!({
            "duration_ms": duration_ms, "duration_api_ms": duration_ms, "num_turns": self.message_count,
            "result_index": turn, "queued_turn_count": self.queued_messages.len(),
            "permission_denials": std::mem::take(&mut self.denials),
            "is_error": !matches!(end, TurnEnd::Completed),
        }));
        add(match end {
            TurnEnd::Completed => json!({
                "subtype": "success", "result": self.last_text, "stop_reason": "end_turn",
                "terminal_reason": "completed", "api_error_status": null,
            }),
            TurnEnd::Failed(reason) => json!({
                "subtype": "error_during_execution", "errors": [reason], "stop_reason": "end_turn",
            }),
            TurnEnd::Aborted(reason) => json!({
                "subtype": "error_during_execution", "errors": ["the turn was interrupted"],
                "stop_reason": null, "terminal_reason": reason,
            }),
        });
        let line = self.lines.result(body);
        self.write(&line)
    }

    pub(crate) fn write(&self, line: &Value) -> Result {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{line}")
            .and_then(|()| stdout.flush())
            .map_err(|_| Stop::OutputClosed)
    }

    /// Waits, and handles what arrives meanwhile.
    pub(crate) fn pause(&mut self, pause: Duration) -> Result {
        let deadline = Instant::now() + self.arguments.speed.scale(pause);
        while let Some(event) = self.input.next_until(deadline) {
            self.handle(event)?;
        }
        Ok(())
    }

    pub(crate) fn handle(&mut self, event: InputEvent) -> Result {
        match event {
            InputEvent::UserMessage(message) => {
                self.write_receipt(&message, "queued")?;
                self.queued_messages.push_back(message);
            }
            InputEvent::ControlRequest { id, request } => return self.handle_request(&id, &request),
            InputEvent::ControlResponse { request_id, response } => {
                if self.open_request.as_deref() == Some(&*request_id) {
                    self.answer = Some(response);
                }
            }
            InputEvent::EndOfInput => self.has_input_ended = true,
            InputEvent::Invalid(message) => return Err(Stop::InvalidInput(message)),
            InputEvent::Signal => return Err(Stop::Signal),
        }
        Ok(())
    }

    fn write_receipt(&mut self, message: &UserMessage, state: &str) -> Result {
        let Some(id) = &message.id else { return Ok(()) };
        let line = self.lines.command_lifecycle(id, state);
        self.write(&line)
    }

    fn handle_request(&mut self, id: &str, request: &Value) -> Result {
        let subtype = request["subtype"].as_str().unwrap_or_default();
        match subtype {
            "interrupt" => {
                if let Some(open) = self.open_request.take() {
                    self.write(&cancel_request(&open))?;
                }
                self.write(&control_success(id, &json!({"still_queued": []})))?;
                Err(Stop::Interrupted)
            }
            "end_session" => {
                self.write(&control_success(id, &json!({})))?;
                Err(Stop::SessionEnded)
            }
            "initialize" => {
                let answer = json!({
                    "commands": [], "agents": [], "models": [], "account": {},
                    "pid": std::process::id(), "capabilities": ["interrupt_receipt_v1"],
                });
                self.write(&control_success(id, &answer))
            }
            "set_model" => {
                let model = request["model"].as_str().unwrap_or("demo");
                model.clone_into(&mut self.arguments.model);
                self.write(&control_success(id, &json!({"model": model})))
            }
            "set_permission_mode" => self.set_permission_mode(id, request["mode"].as_str()),
            _ => {
                let error = format!("Unsupported control request subtype: {subtype}");
                self.write(&control_error(id, &error, "unsupported_request"))
            }
        }
    }

    fn set_permission_mode(&mut self, id: &str, mode: Option<&str>) -> Result {
        let Some(mode) = mode.filter(|mode| PERMISSION_MODES.contains(mode)) else {
            let modes = PERMISSION_MODES.join(", ");
            let error = format!("Cannot set permission mode: must be one of {modes}");
            return self.write(&control_error(id, &error, "invalid_mode"));
        };
        mode.clone_into(&mut self.arguments.permission_mode);
        self.write(&control_success(id, &json!({"mode": mode})))?;
        let status = json!({"status": null, "permissionMode": mode});
        let line = self.lines.system("status", status);
        self.write(&line)
    }
}
