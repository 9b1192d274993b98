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
//! | `A request parent` | asks for permission, likewise |
//! | `!` | the mapping has a bug |
//!
//! Any other line is text. Commands are JSON: `{"say":"text"}`, `{"answer":"request"}`.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_api::{
    AgentKind, Backend, BackendConfig, Body, CloseReason, Command, CommandError, Emitter, Encoded, Error,
    ErrorClass, ErrorInfo, ExitTrust, Found, Input, InterruptBy, ItemId, Launch, LaunchInput, Mapper,
    Outcome, PermissionRequested, Piece, Profile, RawRef, RequestClosed, RequestId, RunRequest,
    SessionStarted, TextBlock, ToolFinished, ToolKind, ToolStarted, ToolState, ToolStatus, TurnFinished,
    TurnStarted, capability,
};
use agent_process::{Framed, Limits, SpawnSpec, StdoutMode};
use bytes::Bytes;
use serde_json::json;
use test_support::script::ScriptedAgent;

/// How long an agent that is done may take to leave. The tests' clock reaches it, their patience does not.
pub(crate) const EXIT_AFTER_IDLE: Duration = Duration::from_secs(1_000);

pub(crate) struct LineAgent {
    profile: Profile,
    config: BackendConfig,
    args: Vec<OsString>,
    /// How many lines were mapped so far.
    pub(crate) lines: Arc<AtomicUsize>,
}

impl LineAgent {
    pub(crate) fn new(agent: &ScriptedAgent) -> Self {
        Self {
            profile: Profile {
                kind: AgentKind::built_in("line_agent"),
                display_name: "Line agent",
                program: "line_agent",
                version_args: &[],
                version_word: None,
                tested_versions: None,
                install_hint: "it is part of the tests",
                login_hint: "",
                capabilities: &[
                    capability::RUN,
                    capability::EVENTS,
                    capability::CANCEL,
                    capability::SEND,
                    capability::ANSWER,
                    capability::SESSION_HANDLE,
                ],
                extension_keys: &[],
                transport: StdoutMode::Pipe,
                interrupt_by: InterruptBy::Signal,
                limits: Limits::default,
                exit_after_idle: EXIT_AFTER_IDLE,
                inactivity_limit: None,
                exit_trust: ExitTrust::NeedsResult,
                stderr_classes: &[],
                environment: &[],
            },
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

    fn launch(&self, request: &RunRequest, found: &Found) -> Result<Launch, Error> {
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
        Ok(Launch {
            spec,
            input,
            mapper: Box::new(LineMapper {
                lines: self.lines.clone(),
                texts: 0,
                turns: 0,
                is_idle: false,
            }),
            keep_alive: None,
            notes: Vec::new(),
        })
    }
}

struct LineMapper {
    lines: Arc<AtomicUsize>,
    texts: u32,
    turns: u32,
    is_idle: bool,
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
            Some("B") => {
                events.within(parent);
                events.emit(Body::ToolStarted(Box::new(ToolStarted {
                    item: ItemId::new(id),
                    name: "tool".into(),
                    kind: ToolKind::Other,
                    subject: None,
                    input: None,
                    mcp_server: None,
                    state: ToolState::Running,
                })));
            }
            Some("E") => events.emit(Body::ToolFinished(Box::new(ToolFinished {
                item: ItemId::new(id),
                status: ToolStatus::Completed,
                output: String::new(),
                output_bytes: None,
                attachments: Vec::new(),
                exit_code: None,
                changes: Vec::new(),
            }))),
            Some("A") => {
                events.within(parent);
                events.emit(Body::PermissionRequested(Box::new(PermissionRequested {
                    request: RequestId::new(id),
                    item: None,
                    tool: "tool".into(),
                    kind: ToolKind::Other,
                    subject: None,
                    description: None,
                    input: None,
                    suggestions: None,
                })));
            }
            Some("!") => panic!("a bug in the mapping"),
            Some("T") => self.say(text.strip_prefix("T ").unwrap_or_default(), events),
            _ => self.say(&text, events),
        }
    }

    fn is_idle(&self) -> bool {
        self.is_idle
    }

    fn encode(&mut self, command: &Command, events: &mut Emitter) -> Result<Encoded, CommandError> {
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
                return Err(CommandError::Unsayable {
                    what: "it has no word for that".into(),
                });
            }
        };
        Ok(Encoded::Line(line(&value)))
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
        events.emit(Body::TurnFinished(Box::new(TurnFinished {
            number: self.turns,
            outcome,
            text: None,
            error,
            stop_reason: None,
            duration_ms: None,
            api_duration_ms: None,
            steps: None,
            denials: Vec::new(),
            structured_output: None,
        })));
    }
}

fn line(value: &serde_json::Value) -> Bytes {
    Bytes::from(format!("{value}\n"))
}
