//! A backend as somebody else would add it: an agent that speaks in short lines.
//!
//! | line | meaning |
//! |---|---|
//! | `I id` | the session has started |
//! | `S` | a turn starts |
//! | `F` / `X` | the turn has succeeded / failed |
//! | `T text` | text |
//! | `N count` | so many texts at once |
//! | `B item parent` | a tool starts, within another one if `parent` is given |
//! | `E item` | a tool ends |
//! | `G count` | `count` background tasks are open from now on |
//! | `A request parent` | asks for permission, likewise |
//! | `R bytes` | asks for something that the mapping answers by itself, with so many bytes |
//! | `P seconds` | the model is asked again after this long |
//! | `W` | the agent owes an answer within [`ANSWER_LIMIT`]; without one the conversation is over |
//! | `C` | understands `{"cancel":true}` |
//! | `!` | the mapping has a bug |
//!
//! Any other line is text. Commands are JSON: `{"say":"text"}`, `{"answer":"request"}`.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_api::{
    AgentKind, Backend, BackendConfig, Body, CloseReason, Command, CommandError, Emitter, Error, ErrorClass,
    ErrorInfo, ExitTrust, Input, InstalledAgent, ItemId, Launch, LaunchInput, Mapper, Outcome,
    PermissionRequested, Piece, Profile, RawRef, RequestClosed, RequestId, Retry, RunRequest, SessionStarted,
    TextBlock, ToolFinished, ToolKind, ToolStarted, ToolStatus, TurnFinished, TurnStarted, capability,
};
use agent_process::SpawnSpec;
use bytes::Bytes;
use json_lines::Framed;
use serde_json::json;
use test_support::script::ScriptedAgent;

/// How long an agent that is done may take to leave. The tests' clock reaches it, their patience does not.
pub(crate) const EXIT_AFTER_IDLE: Duration = Duration::from_secs(1_000);

/// How long after its start the agent may take to answer.
pub(crate) const ANSWER_LIMIT: Duration = Duration::from_secs(300);

pub(crate) struct LineAgent {
    profile: Profile,
    config: BackendConfig,
    args: Vec<OsString>,
    /// How many lines were mapped so far.
    pub(crate) lines: Arc<AtomicUsize>,
}

impl LineAgent {
    pub(crate) fn new(agent: &ScriptedAgent) -> Self {
        let mut profile = Profile::new(AgentKind::built_in("line_agent"), "line_agent");
        profile.display_name = "Line agent";
        profile.install_hint = "it is part of the tests";
        profile.capabilities = &[capability::SEND, capability::ANSWER, capability::SESSION_HANDLE];
        profile.exit_after_idle = EXIT_AFTER_IDLE;
        profile.exit_trust = ExitTrust::NeedsResult;
        Self {
            profile,
            config: BackendConfig {
                program: Some(agent.program.clone()),
                ..BackendConfig::default()
            },
            args: agent.arguments.clone(),
            lines: Arc::default(),
        }
    }
}

impl Backend for LineAgent {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn config(&self) -> &BackendConfig {
        &self.config
    }

    fn launch(&self, request: &RunRequest, found: &InstalledAgent) -> Result<Launch, Error> {
        let mut spec = SpawnSpec::new(&found.program);
        spec.args.clone_from(&self.args);
        spec.env = request.options.environment.policy();
        let input = match request.input {
            Input::PromptOnly => LaunchInput::Nothing,
            Input::Messages(close) => LaunchInput::Messages {
                first: vec![line(&json!({"say": request.prompt}))],
                close,
            },
        };
        let mapper = LineMapper {
            lines: self.lines.clone(),
            texts: 0,
            turns: 0,
            is_idle: false,
            is_over: false,
            owes_answer: false,
            can_cancel: false,
            background_tasks: 0,
        };
        Ok(Launch::new(spec, input, Box::new(mapper)))
    }
}

struct LineMapper {
    lines: Arc<AtomicUsize>,
    texts: u32,
    turns: u32,
    is_idle: bool,
    is_over: bool,
    owes_answer: bool,
    can_cancel: bool,
    background_tasks: usize,
}

impl Mapper for LineMapper {
    fn map_line(&mut self, framed: Framed, events: &mut Emitter) {
        self.lines.fetch_add(1, Ordering::Relaxed);
        let Framed::Line(line) = framed else {
            panic!("no script of these tests writes such a line");
        };
        events.at(Some(RawRef {
            line: line.number,
            offset: line.offset,
            length: line.bytes.len() as u64,
        }));
        let text = String::from_utf8_lossy(&line.bytes);
        let mut words = text.split(' ');
        let word = words.next();
        let id = words.next().unwrap_or_default();
        let parent = words.next().map(ItemId::new);
        match word {
            Some("I") => events.emit(Body::SessionStarted(Box::new(SessionStarted {
                session_id: Some(id.to_owned()),
                ..SessionStarted::default()
            }))),
            Some("S") => {
                self.turns += 1;
                self.is_idle = false;
                events.emit(Body::TurnStarted(TurnStarted { number: self.turns }));
            }
            Some("F") => self.finish(Outcome::Succeeded, None, events),
            Some("X") => {
                let error = ErrorInfo::new(ErrorClass::Vendor, "said_so", "the model gave up");
                self.finish(Outcome::Failed, Some(error), events);
            }
            Some("N") => {
                for _ in 0..id.parse().unwrap_or(0) {
                    self.say("one of many", events);
                }
            }
            Some("P") => {
                let error = ErrorInfo::new(ErrorClass::RateLimit, "rate_limit", "too many requests");
                let mut retry = Retry::new(error);
                retry.delay_ms = id.parse().ok().map(|seconds: u64| seconds * 1_000);
                events.emit(Body::RetryScheduled(Box::new(retry)));
            }
            Some("B") => {
                events.within(parent);
                events.emit(Body::ToolStarted(Box::new(ToolStarted::new(
                    ItemId::new(id),
                    "tool",
                    ToolKind::Other,
                ))));
            }
            Some("E") => events.emit(Body::ToolFinished(Box::new(ToolFinished::new(
                ItemId::new(id),
                ToolStatus::Completed,
            )))),
            Some("A") => {
                events.within(parent);
                let asked = PermissionRequested::new(RequestId::new(id), "tool", ToolKind::Other);
                events.emit(Body::PermissionRequested(Box::new(asked)));
            }
            Some("G") => {
                self.background_tasks = id.parse().unwrap_or(0);
                self.say("background", events);
            }
            Some("R") => {
                let padding = "x".repeat(id.parse().unwrap_or(0));
                events.reply(self::line(&json!({"reply": padding})));
                self.say("asked", events);
            }
            Some("W") => self.owes_answer = true,
            Some("C") => self.can_cancel = true,
            Some("!") => panic!("a bug in the mapping"),
            Some("T") => self.say(text.strip_prefix("T ").unwrap_or_default(), events),
            _ => self.say(&text, events),
        }
    }

    fn is_idle(&self) -> bool {
        self.is_idle && self.background_tasks == 0
    }

    fn background_tasks(&self) -> usize {
        if self.is_idle { self.background_tasks } else { 0 }
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn deadline(&self) -> Option<Duration> {
        self.owes_answer.then_some(ANSWER_LIMIT)
    }

    fn deadline_passed(&mut self, events: &mut Emitter) {
        self.is_over = true;
        let error = ErrorInfo::new(ErrorClass::Process, "no_answer", "the agent did not answer");
        self.finish(Outcome::Failed, Some(error), events);
    }

    fn encode_cancel(&mut self, _: &mut Emitter) -> Option<Bytes> {
        self.can_cancel.then(|| line(&json!({"cancel": true})))
    }

    fn encode(&mut self, command: &Command, events: &mut Emitter) -> Result<Option<Bytes>, CommandError> {
        let value = match command {
            Command::Send { text, .. } => {
                self.is_idle = false;
                json!({"say": text})
            }
            Command::Answer { request, .. } => {
                events.emit(Body::RequestClosed(RequestClosed {
                    request: request.clone(),
                    reason: CloseReason::Answered,
                }));
                json!({"answer": request.as_str()})
            }
            _ => {
                return Err(CommandError::NotExpressible {
                    what: "it has no word for that".into(),
                });
            }
        };
        Ok(Some(line(&value)))
    }
}

impl LineMapper {
    fn say(&mut self, text: &str, events: &mut Emitter) {
        self.texts += 1;
        events.emit(Body::TextBlock(TextBlock {
            item: ItemId::new(&format!("text-{}", self.texts)),
            text: text.to_owned(),
            piece: Piece::WHOLE,
            is_aborted: false,
        }));
    }

    fn finish(&mut self, outcome: Outcome, error: Option<ErrorInfo>, events: &mut Emitter) {
        self.is_idle = true;
        let mut finished = TurnFinished::new(self.turns, outcome);
        finished.error = error;
        events.emit(Body::TurnFinished(Box::new(finished)));
    }
}

fn line(value: &serde_json::Value) -> Bytes {
    Bytes::from(format!("{value}\n"))
}
