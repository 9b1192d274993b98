//! `AcpMapper`: one agent's side of the protocol, as events; and our side, as lines for its input.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use agent_client::CostBasis;
use bytes::Bytes;
use json_lines::{Framed, Value};
use serde_json::json;

use super::permissions::{OpenRequests, PermissionPolicy, Workspace};
use super::prose::{Prose, quotable};
use super::quirks::Quirks;
use super::session_config::SessionConfig;
use super::text::TextBlocks;
use super::tool_calls::ToolCalls;
use super::usage::Account;
use crate::backend::{Command, Mapper};
use crate::backends::json_rpc::{Incoming, JsonRpc};
use crate::backends::wire_line::read_objects;
use crate::emitter::Emitter;
use crate::error::CommandError;
use crate::event::{Denial, MessageState, Severity};
use crate::request::Attachment;
use agent_client::{PermissionMode, SessionChoice};

/// How long an agent may take for the rest of its setup once it has answered `initialize`: it may start tool servers.
const SETUP_LIMIT: Duration = Duration::from_secs(120);

/// What a run asks of the agent.
#[derive(Debug)]
pub(super) struct Setup {
    /// Absolute.
    pub(super) cwd: String,
    pub(super) workspace: Workspace,
    pub(super) prompt: String,
    pub(super) prompt_id: Option<String>,
    pub(super) attachments: Vec<Attachment>,
    pub(super) session: SessionChoice,
    /// Set in the session; `None` if it is on the command line.
    pub(super) model: Option<String>,
    pub(super) policy: PermissionPolicy,
    pub(super) cost_basis: CostBasis,
    pub(super) login_hint: &'static str,
    pub(super) initialize_limit: Duration,
}

/// Maps the output of one process that speaks ACP, and writes the client's side of the conversation.
#[derive(Debug)]
pub struct AcpMapper {
    pub(super) setup: Setup,
    /// Only the agent's lines are known: requests of ours are inferred from the shape of their answers.
    pub(super) is_recording: bool,
    pub(super) stage: Stage,
    pub(super) quirks: &'static Quirks,
    pub(super) agent_version: Option<String>,
    next_id: u64,
    pub(super) sent: HashMap<u64, Sent>,
    pub(super) settings: VecDeque<Setting>,
    /// How the session will be opened that `session/list` is asked for.
    pub(super) resume_method: Option<&'static str>,
    pub(super) session_id: Option<String>,
    /// Whether the agent offers to resume sessions; assumed in a recording without a handshake.
    pub(super) can_resume: bool,
    pub(super) config: SessionConfig,
    /// Whether the session's earlier conversation is being repeated.
    pub(super) is_replaying: bool,
    pub(super) queue: VecDeque<Message>,
    /// What the agent takes in a message besides text: capabilities.
    pub(super) takes: Vec<&'static str>,
    pub(super) turn: Option<Turn>,
    pub(super) turns: u32,
    pub(super) text: TextBlocks,
    pub(super) tools: ToolCalls,
    pub(super) requests: OpenRequests,
    pub(super) account: Account,
    pub(super) user_messages: u32,
    pub(super) prose: Prose,
}

/// How far the conversation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// `initialize` was sent.
    Initializing,
    /// The session is being opened and configured.
    SettingUp,
    /// Prompts can be sent.
    Ready,
    /// The setup failed.
    Failed,
    /// The run was cancelled: nothing more is sent but the answers that the agent waits for.
    Cancelled,
}

/// A request of ours that is not answered yet.
#[derive(Debug)]
pub(super) enum Sent {
    Initialize,
    ListSessions,
    OpenSession {
        /// The session that is continued.
        id: Option<String>,
    },
    Setting {
        setting: Setting,
        /// The command that asked for it; `None` during the setup.
        command_id: Option<String>,
    },
    Prompt,
}

/// A change of the session's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Setting {
    Model(String),
    /// If the agent refuses, the run fails, unless this client can stand in for the mode.
    Mode {
        id: String,
        is_required: bool,
        /// The permission mode that this client answers by once the agent has changed its own.
        answers_by: Option<PermissionMode>,
    },
}

/// A prompt.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) id: Option<String>,
    pub(super) text: String,
    pub(super) attachments: Vec<Attachment>,
}

impl Message {
    /// Its blocks: the text, then what goes with it.
    fn blocks(&self) -> Vec<serde_json::Value> {
        let uri = |name: &str| format!("attachment:///{name}");
        let block = |attachment: &Attachment| match attachment {
            Attachment::Image { media_type, base64 } => {
                json!({"type": "image", "mimeType": media_type, "data": base64})
            }
            Attachment::Text { name, text } => json!({"type": "resource",
                "resource": {"uri": uri(name), "mimeType": "text/plain", "text": text}}),
            Attachment::Document {
                name,
                media_type,
                base64,
            } => json!({"type": "resource",
                "resource": {"uri": uri(name), "mimeType": media_type, "blob": base64}}),
        };
        let text = (!self.text.trim().is_empty()).then(|| json!({"type": "text", "text": self.text}));
        text.into_iter()
            .chain(self.attachments.iter().map(block))
            .collect()
    }
}

/// The prompt that the agent is working on.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) number: u32,
    pub(super) message_id: Option<String>,
    pub(super) is_cancelled: bool,
    /// Interrupts that are answered when the turn has ended.
    pub(super) interrupts: Vec<String>,
    pub(super) denials: Vec<Denial>,
    pub(super) has_tools: bool,
}

impl AcpMapper {
    pub(super) fn new(setup: Setup) -> Self {
        let prompt = Message {
            id: setup.prompt_id.clone(),
            text: setup.prompt.clone(),
            attachments: setup.attachments.clone(),
        };
        Self {
            account: Account::new(setup.cost_basis),
            setup,
            is_recording: false,
            stage: Stage::Initializing,
            quirks: Quirks::of(""),
            agent_version: None,
            next_id: 1,
            sent: HashMap::new(),
            settings: VecDeque::new(),
            resume_method: None,
            session_id: None,
            can_resume: true,
            config: SessionConfig::default(),
            is_replaying: false,
            queue: VecDeque::from([prompt]),
            takes: Vec::new(),
            turn: None,
            turns: 0,
            text: TextBlocks::default(),
            tools: ToolCalls::default(),
            requests: OpenRequests::default(),
            user_messages: 0,
            prose: Prose::default(),
        }
    }

    /// For the recorded output of an agent, without what was said to it.
    pub(super) fn for_recording() -> Self {
        let setup = Setup {
            cwd: String::new(),
            workspace: Workspace::default(),
            prompt: String::new(),
            prompt_id: None,
            attachments: Vec::new(),
            session: SessionChoice::New,
            model: None,
            policy: PermissionPolicy {
                mode: None,
                can_ask: true,
            },
            cost_basis: CostBasis::NewSession,
            login_hint: "",
            initialize_limit: Duration::ZERO,
        };
        let mut mapper = Self::new(setup);
        mapper.is_recording = true;
        mapper.queue.clear();
        mapper
    }

    /// The first line of the conversation.
    pub(super) fn initialize(&mut self) -> Bytes {
        let capabilities = json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false});
        let client = json!({"name": "agent_api", "title": "ralph", "version": env!("CARGO_PKG_VERSION")});
        let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": client});
        self.request("initialize", &params, Sent::Initialize)
    }

    /// A request of ours, as a line.
    pub(super) fn request(&mut self, method: &str, params: &serde_json::Value, sent: Sent) -> Bytes {
        let id = self.next_id;
        self.next_id += 1;
        self.sent.insert(id, sent);
        JsonRpc::Standard.request(id, method, params)
    }

    fn map_message(&mut self, message: &Value, events: &mut Emitter) {
        let before = events.emitted();
        match Incoming::sort(message) {
            Incoming::Answer { id, outcome } => self.map_answer(id, outcome, events),
            Incoming::Request { id, method, params } => match method {
                "session/request_permission" => self.map_permission(id, params, events),
                _ => {
                    let text =
                        format!("the agent sent the request `{method}`, which this client does not know");
                    events.notice(Severity::Debug, "unsupported_request", text);
                    events.reply(JsonRpc::Standard.method_not_found(id, method));
                }
            },
            Incoming::Notification { method, params } => match method {
                "session/update" => self.map_update(params, events),
                "$/cancel_request" => self.withdraw(params, events),
                _ => events.unknown(Some(method)),
            },
            Incoming::Other => events.unknown(message.text("type")),
        }
        if events.emitted() == before {
            events.framing("a message without news");
        }
    }

    /// Sends the next message, if the agent can take one.
    pub(super) fn next_prompt(&mut self, events: &mut Emitter) -> Option<Bytes> {
        if self.stage != Stage::Ready || self.turn.is_some() {
            return None;
        }
        let message = self.queue.pop_front()?;
        self.begin_turn(message.id.clone(), events);
        let prompt = message.blocks();
        let params = json!({"sessionId": self.session_id, "prompt": prompt});
        Some(self.request("session/prompt", &params, Sent::Prompt))
    }

    /// The lines that cancel the current turn: requests for permission that wait are answered as well.
    pub(super) fn cancel_turn(&mut self, events: &mut Emitter) -> Option<Bytes> {
        self.turn.as_mut()?.is_cancelled = true;
        let mut lines = Vec::new();
        for line in self.close_requests(events) {
            lines.extend_from_slice(&line);
        }
        let params = json!({"sessionId": self.session_id});
        lines.extend_from_slice(&JsonRpc::Standard.notification("session/cancel", &params));
        Some(Bytes::from(lines))
    }

    /// Messages that the agent will never get.
    pub(super) fn drop_queue(&mut self, events: &mut Emitter) {
        let messages = std::mem::take(&mut self.queue);
        for message_id in messages.into_iter().filter_map(|message| message.id) {
            events.message_updated(message_id, MessageState::Cancelled);
        }
    }
}

impl Mapper for AcpMapper {
    fn map_line(&mut self, line: Framed, events: &mut Emitter) {
        let is_starting = self.stage == Stage::Initializing;
        let text = quotable(&line).filter(|_| is_starting);
        let mut has_message = false;
        read_objects(line, events, |message, _, events| {
            has_message = true;
            self.map_message(message, events);
        });
        if has_message {
            self.prose.note_message();
        } else {
            self.prose.note(text);
        }
    }

    fn map_end(&mut self, events: &mut Emitter) {
        events.at(None);
        self.text.complete(self.turn.is_some(), events);
        if self.stage == Stage::Initializing && !self.prose.is_empty() && !self.is_recording {
            self.fail_setup_by_text(events);
        }
        self.drop_queue(events);
    }

    fn is_idle(&self) -> bool {
        match self.stage {
            Stage::Failed => true,
            Stage::Ready | Stage::Cancelled => self.turn.is_none() && self.queue.is_empty(),
            Stage::Initializing | Stage::SettingUp => false,
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Failed | Stage::Cancelled)
    }

    fn deadline(&self) -> Option<Duration> {
        let limit = self.setup.initialize_limit;
        match self.stage {
            Stage::Initializing => Some(self.prose.limit(limit)),
            Stage::SettingUp => limit.checked_add(SETUP_LIMIT),
            Stage::Ready | Stage::Failed | Stage::Cancelled => None,
        }
    }

    fn deadline_passed(&mut self, events: &mut Emitter) {
        self.fail_setup_by_deadline(events);
    }

    fn encode(&mut self, command: &Command, events: &mut Emitter) -> Result<Option<Bytes>, CommandError> {
        self.write_command(command, events)
    }

    fn encode_cancel(&mut self, events: &mut Emitter) -> Option<Bytes> {
        self.stage = Stage::Cancelled;
        self.drop_queue(events);
        self.cancel_turn(events)
    }
}
