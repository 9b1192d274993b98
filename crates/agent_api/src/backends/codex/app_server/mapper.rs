//! `AppServerMapper`: the handshake, notifications to events, commands to requests.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use bytes::Bytes;
use json_lines::{Framed, Value};
use serde_json::{Map, json};

use super::approvals::{Approvals, deny};
use super::errors::{UNKNOWN_SESSION, response_error, turn_error};
use super::notifications::is_known;
use super::reports::{map_error, map_rate_limit, map_status};
use super::requests::{FIRST_FREE, INITIALIZE, LIST_THREADS, OPEN_THREAD};
use super::threads::ThreadSettings;
use super::usage::ThreadUsage;
use crate::backend::{Command, Mapper};
use crate::backends::codex::items::{Items, PARAGRAPH, plan};
use crate::backends::json_rpc::{Incoming, JsonRpc};
use crate::backends::wire_line::read_objects;
use crate::emitter::Emitter;
use crate::error::CommandError;
use crate::event::{
    Body, ErrorClass, ErrorInfo, ItemId, MessageState, Outcome, Part, SessionStarted, SessionUpdated,
    Severity, ToolStatus, TurnFinished,
};

/// How long the handshake may take. A resumed thread is read from disk, which takes a few seconds at most.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(60);

/// Maps what `codex app-server` writes, and writes the requests of a conversation.
#[derive(Debug)]
pub struct AppServerMapper {
    pub(super) stage: Stage,
    pub(super) settings: ThreadSettings,
    /// Messages that wait for the thread: id and text. The prompt is the first.
    pub(super) queued: Vec<(Option<String>, serde_json::Value)>,
    thread: Option<String>,
    pub(super) model: Option<String>,
    /// Changes of model and access that the next turn applies.
    pub(super) next_turn: Map<String, serde_json::Value>,
    next_id: u64,
    pending: HashMap<u64, Pending>,
    /// Interrupts that wait until Codex names the turn that they are for.
    pub(super) held_interrupts: Vec<String>,
    /// Turns that were promised in a response and have not begun.
    expected_turns: HashSet<String>,
    begun_turns: HashSet<String>,
    pub(super) active_turn: Option<String>,
    /// Messages that the model got in the current turn.
    turn_messages: Vec<String>,
    turns: u32,
    pub(super) items: Items,
    pub(super) approvals: Approvals,
    usage: ThreadUsage,
    /// The call that started a subagent, by the subagent's thread.
    subagents: HashMap<String, ItemId>,
}

/// How far the handshake is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Initializing,
    Listing,
    Opening,
    Ready,
    Failed,
    /// Nothing is asked: responses are recognised by their shape.
    Recorded,
}

/// A request of ours that has no response yet.
#[derive(Debug)]
pub(super) enum Pending {
    /// The message, and the settings that go with it.
    Turn {
        message: Option<String>,
        settings: Map<String, serde_json::Value>,
    },
    Interrupt {
        command_id: Option<String>,
    },
    /// The reason for a denial, as a message to the model.
    Reason,
    /// Asks which commands still run, to end these calls.
    RunningCommands(HashSet<ItemId>),
    EndCommand,
}

impl AppServerMapper {
    pub(super) fn new(
        settings: ThreadSettings,
        prompt: serde_json::Value,
        prompt_id: Option<String>,
    ) -> Self {
        Self {
            stage: Stage::Initializing,
            settings,
            queued: vec![(prompt_id, prompt)],
            thread: None,
            model: None,
            next_turn: Map::new(),
            next_id: FIRST_FREE,
            pending: HashMap::new(),
            held_interrupts: Vec::new(),
            expected_turns: HashSet::new(),
            begun_turns: HashSet::new(),
            active_turn: None,
            turn_messages: Vec::new(),
            turns: 0,
            items: Items::default(),
            approvals: Approvals::default(),
            usage: ThreadUsage::default(),
            subagents: HashMap::new(),
        }
    }

    /// For a recording of what the agent wrote.
    #[must_use]
    pub fn recorded() -> Self {
        Self {
            stage: Stage::Recorded,
            queued: Vec::new(),
            ..Self::new(ThreadSettings::recorded(), serde_json::Value::Null, None)
        }
    }

    fn map_object(&mut self, object: &Value, events: &mut Emitter) {
        match Incoming::sort(object) {
            Incoming::Request { id, method, params } => self.map_request(method, id, params, events),
            Incoming::Notification { method, params } => self.map_notification(method, params, events),
            Incoming::Answer { id, outcome } => self.map_response(id.as_u64(), outcome, events),
            Incoming::Other => events.unknown(object.text("type")),
        }
    }

    /// A request of the agent's. Each gets an answer, because the agent waits for it.
    fn map_request(&mut self, method: &str, id: &Value, params: &Value, events: &mut Emitter) {
        self.enter_thread(params, events);
        let too_many = (!events.can_ask()).then_some("too many requests wait for an answer");
        let is_served = match self.settings.reason_to_deny(method).or(too_many) {
            None => self.approvals.ask(method, id, params, &self.items, events),
            Some(reason) => deny(method, id, params, reason, &mut self.items, events),
        };
        if !is_served {
            events.notice(Severity::Warning, "unsupported_request", method);
            events.reply(JsonRpc::Unversioned.method_not_found(id, method));
        }
    }

    fn map_response(&mut self, id: Option<u64>, outcome: Result<&Value, &Value>, events: &mut Emitter) {
        let error = outcome.err();
        let result = outcome.unwrap_or(&Value::Null);
        match (self.stage, id) {
            (Stage::Initializing, Some(INITIALIZE))
            | (Stage::Listing, Some(LIST_THREADS))
            | (Stage::Opening, Some(OPEN_THREAD)) => match error {
                Some(error) => {
                    let error = self.settings.explain(response_error(error));
                    self.fail_start(error, events);
                }
                None => self.advance(result, events),
            },
            (Stage::Recorded, _) => {
                match error {
                    Some(error) => events.error(response_error(error)),
                    None if result.get("thread").is_some() => self.start_session(result, events),
                    None => events.framing("response"),
                };
            }
            _ => match id.and_then(|id| self.pending.remove(&id)) {
                Some(pending) => self.settle(pending, result, error, events),
                None => {
                    let text = "app-server answered a request that was not made";
                    events.notice(Severity::Warning, "unexpected_response", text);
                }
            },
        }
    }

    /// The next step of the handshake.
    fn advance(&mut self, result: &Value, events: &mut Emitter) {
        let mut last = None;
        if self.stage == Stage::Initializing {
            events.framing("initialize");
            events.reply(JsonRpc::Unversioned.notification("initialized", &serde_json::Value::Null));
            if let Some(params) = self.settings.list_params() {
                self.stage = Stage::Listing;
                return events.reply(JsonRpc::Unversioned.request(LIST_THREADS, "thread/list", &params));
            }
        } else if self.stage == Stage::Listing {
            events.framing("thread/list");
            last = result.list("data").first().and_then(|thread| thread.text("id"));
            if last.is_none() {
                let message = "there is no earlier session in this directory: start a new one";
                let error = ErrorInfo::new(ErrorClass::InvalidRequest, UNKNOWN_SESSION, message);
                return self.fail_start(error, events);
            }
        } else {
            self.stage = Stage::Ready;
            self.start_session(result, events);
            for (id, input) in std::mem::take(&mut self.queued) {
                let line = self.turn_request(id, input);
                events.reply(line);
            }
            return;
        }
        self.stage = Stage::Opening;
        let (method, params) = self.settings.open_request(last);
        events.reply(JsonRpc::Unversioned.request(OPEN_THREAD, method, &params));
    }

    fn fail_start(&mut self, error: ErrorInfo, events: &mut Emitter) {
        self.stage = Stage::Failed;
        self.drop_unsent(events);
        self.fail_turn(error, events);
    }

    /// Nothing is written any more: what still waits gets its last event.
    fn drop_unsent(&mut self, events: &mut Emitter) {
        for (message, _) in std::mem::take(&mut self.queued) {
            if let Some(message_id) = message {
                events.message_updated(message_id, MessageState::Cancelled);
            }
        }
        self.refuse_held_interrupts("the session ended before a turn began", events);
    }

    fn refuse_held_interrupts(&mut self, why: &str, events: &mut Emitter) {
        for command_id in std::mem::take(&mut self.held_interrupts) {
            events.command_answered(command_id, Some(why.to_owned()));
        }
    }

    fn fail_turn(&mut self, error: ErrorInfo, events: &mut Emitter) {
        self.turns += 1;
        events.emit(Body::TurnFinished(Box::new(TurnFinished {
            error: Some(error),
            ..TurnFinished::new(self.turns, Outcome::Failed)
        })));
    }

    fn start_session(&mut self, result: &Value, events: &mut Emitter) {
        let thread = result.get("thread").unwrap_or(&Value::Null);
        let text = |value: &Value, key| value.text(key).map(str::to_owned);
        if self.thread.is_some() {
            return events.framing("thread/started");
        }
        self.thread = text(thread, "id");
        self.model = text(result, "model").or_else(|| text(thread, "model"));
        events.emit(Body::SessionStarted(Box::new(SessionStarted {
            session_id: self.thread.clone(),
            model: self.model.clone(),
            cwd: text(result, "cwd").or_else(|| text(thread, "cwd")),
            agent_version: text(thread, "cliVersion"),
            permission_mode: text(result, "approvalPolicy"),
            ..SessionStarted::default()
        })));
    }

    /// A message. While a turn runs, Codex adds it to that turn.
    pub(super) fn turn_request(&mut self, message: Option<String>, input: serde_json::Value) -> Bytes {
        let settings = std::mem::take(&mut self.next_turn);
        let mut params = settings.clone();
        params.insert("threadId".to_owned(), json!(self.thread));
        params.insert("input".to_owned(), input);
        if let Some(message) = &message {
            params.insert("clientUserMessageId".to_owned(), message.as_str().into());
        }
        self.send("turn/start", &params.into(), Pending::Turn { message, settings })
    }

    /// Whether a turn was asked for that Codex has not named yet.
    pub(super) fn awaits_turn(&self) -> bool {
        let is_turn = |pending: &Pending| matches!(pending, Pending::Turn { .. });
        self.deadline().is_some() || self.pending.values().any(is_turn)
    }

    pub(super) fn interrupt_request(&mut self, command_id: Option<String>) -> Option<Bytes> {
        let turn = self.active_turn.as_ref().or(self.expected_turns.iter().next())?;
        let params = json!({ "threadId": self.thread, "turnId": turn });
        Some(self.send("turn/interrupt", &params, Pending::Interrupt { command_id }))
    }

    pub(super) fn send(&mut self, method: &str, params: &serde_json::Value, pending: Pending) -> Bytes {
        let id = self.next_id;
        self.next_id += 1;
        self.pending.insert(id, pending);
        JsonRpc::Unversioned.request(id, method, params)
    }

    /// The response to a request of ours.
    fn settle(&mut self, pending: Pending, result: &Value, error: Option<&Value>, events: &mut Emitter) {
        match (pending, error.map(response_error)) {
            (Pending::Turn { .. }, None) => {
                let turn = result.get("turn").and_then(|turn| turn.text("id"));
                if let Some(turn) = turn.filter(|turn| !self.begun_turns.contains(*turn)) {
                    self.expected_turns.insert(turn.to_owned());
                }
                events.framing("turn/start");
                self.send_held_interrupts(events);
            }
            (Pending::Turn { message, settings }, Some(error)) => {
                // The settings have not been applied, unless there are newer ones.
                for (name, value) in settings {
                    self.next_turn.entry(name).or_insert(value);
                }
                if let Some(message_id) = message {
                    events.message_updated(message_id, MessageState::Cancelled);
                }
                match self.active_turn {
                    Some(_) => events.error(error),
                    None => self.fail_turn(error, events),
                }
                self.send_held_interrupts(events);
            }
            (Pending::Interrupt { command_id }, error) => match command_id {
                Some(id) => events.command_answered(id, error.map(|error| error.message)),
                None => events.framing("turn/interrupt"),
            },
            (Pending::Reason, None) => events.framing("turn/steer"),
            (Pending::Reason, Some(error)) => {
                let message = format!("the reason for the denial did not reach Codex: {}", error.message);
                events.notice(Severity::Warning, "reason_not_told", message);
            }
            (Pending::RunningCommands(calls), None) => self.end_commands(&calls, result, events),
            (Pending::EndCommand, None) => events.framing("thread/backgroundTerminals/terminate"),
            (Pending::RunningCommands(_) | Pending::EndCommand, Some(error)) => {
                let message = format!(
                    "the turn has ended, but Codex may still run its command: {}",
                    error.message
                );
                events.notice(Severity::Warning, "command_may_run", message);
            }
        }
    }

    fn send_held_interrupts(&mut self, events: &mut Emitter) {
        let has_turn = self.active_turn.is_some() || !self.expected_turns.is_empty();
        if !has_turn && self.awaits_turn() {
            return;
        }
        if !has_turn {
            return self.refuse_held_interrupts("no turn is running", events);
        }
        for command_id in std::mem::take(&mut self.held_interrupts) {
            if let Some(line) = self.interrupt_request(Some(command_id)) {
                events.reply(line);
            }
        }
    }

    /// Ends commands that Codex lets run on after their turn was interrupted.
    fn end_commands(&mut self, calls: &HashSet<ItemId>, running: &Value, events: &mut Emitter) {
        events.framing("thread/backgroundTerminals/list");
        for command in running.list("data") {
            let is_cut = command
                .text("itemId")
                .is_some_and(|item| calls.contains(&ItemId::new(item)));
            if let Some(process) = command.text("processId").filter(|_| is_cut) {
                let params = json!({ "threadId": self.thread, "processId": process });
                let line = self.send(
                    "thread/backgroundTerminals/terminate",
                    &params,
                    Pending::EndCommand,
                );
                events.reply(line);
            }
        }
    }

    /// Puts the events of a subagent's thread below the call that started it. Says whether it is one.
    fn enter_thread(&mut self, params: &Value, events: &mut Emitter) -> bool {
        let thread = params
            .text("threadId")
            .filter(|id| self.thread.as_deref() != Some(id));
        let Some(thread) = thread.filter(|_| self.thread.is_some()) else {
            return false;
        };
        let parent = self.subagents.get(thread).cloned();
        events.within(Some(parent.unwrap_or_else(|| ItemId::new(thread))));
        true
    }

    fn map_notification(&mut self, method: &str, params: &Value, events: &mut Emitter) {
        let is_subagent = self.enter_thread(params, events);
        let item = params.get("item").unwrap_or(&Value::Null);
        match method {
            "thread/started" if !is_subagent => self.start_session(params, events),
            "turn/started" if !is_subagent => self.start_turn(params, events),
            "turn/completed" if !is_subagent => self.finish_turn(params, events),
            "item/started" => self.start_item(item, events),
            "item/completed" => self.complete_item(item, is_subagent, events),
            "thread/tokenUsage/updated" => {
                let thread = params.text("threadId").unwrap_or_default();
                let report = params.get("tokenUsage").unwrap_or(&Value::Null);
                let is_earlier = !is_subagent && self.turns == 0 && self.active_turn.is_none();
                let usage = self.usage.update(thread, report, is_earlier);
                events.emit(Body::Usage(Box::new(usage)));
            }
            "error" => map_error(params, events),
            "turn/plan/updated" => events.emit(plan(params.list("plan"))),
            "thread/status/changed" if !is_subagent => map_status(params, events),
            "account/rateLimits/updated" => map_rate_limit(params, events),
            "warning" | "guardianWarning" | "configWarning" | "deprecationNotice" => {
                let message = params.text("message").or_else(|| params.text("summary"));
                let message = message.unwrap_or_default();
                events.notice(Severity::Warning, "agent_warning", message);
            }
            "mcpServer/startupStatus/updated" if params.text("error").is_some() => {
                let name = params.text("name").unwrap_or_default();
                let why = params.text("error").unwrap_or_default();
                let message = format!("MCP server `{name}` did not start: {why}");
                events.notice(Severity::Warning, "mcp_server_failed", message);
            }
            "model/rerouted" if !is_subagent => events.emit(Body::SessionUpdated(Box::new(SessionUpdated {
                model: params.text("toModel").map(str::to_owned),
                ..SessionUpdated::default()
            }))),
            "thread/name/updated" if !is_subagent => {
                events.emit(Body::SessionUpdated(Box::new(SessionUpdated {
                    title: params.text("threadName").map(str::to_owned),
                    ..SessionUpdated::default()
                })))
            }
            "thread/compacted" => events.notice(Severity::Info, "compacted", "the context was compacted"),
            "serverRequest/resolved" => {
                let request = params.get("requestId").unwrap_or(&Value::Null);
                if !self.approvals.withdraw(request, events) {
                    events.framing(method);
                }
            }
            _ if self.map_item_update(method, params, events) => {}
            _ if is_known(method) => events.framing(method),
            _ => events.unknown(Some(method)),
        }
    }

    fn start_item(&mut self, item: &Value, events: &mut Emitter) {
        match item.text("clientId") {
            Some(message) => {
                self.turn_messages.push(message.to_owned());
                events.message_updated(message, MessageState::Started);
            }
            None => self.items.update("item/started", id_of(item), item, events),
        }
    }

    /// Maps a notification about a part of an item. Says whether it is one.
    fn map_item_update(&mut self, method: &str, params: &Value, events: &mut Emitter) -> bool {
        let Some(id) = params.text("itemId").map(ItemId::new) else {
            return false;
        };
        let delta = params.text("delta").unwrap_or_default();
        match method {
            "item/agentMessage/delta" | "item/plan/delta" => events.append(&id, Part::Text, delta),
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => {
                events.append(&id, Part::Thinking, delta);
            }
            "item/reasoning/summaryPartAdded" => match params.count("summaryIndex") {
                Some(0) | None => events.framing(method),
                Some(_) => events.append(&id, Part::Thinking, PARAGRAPH),
            },
            "item/commandExecution/outputDelta" | "item/fileChange/outputDelta" => {
                events.append(&id, Part::ToolOutput, delta);
            }
            "item/fileChange/patchUpdated" => {
                let changes = params.get("changes").unwrap_or(&Value::Null);
                self.items.update_changes(&id, changes, events);
            }
            "item/mcpToolCall/progress" | "item/commandExecution/terminalInteraction" => {
                events.tool_progressed(id);
            }
            _ => return false,
        }
        true
    }

    fn complete_item(&mut self, item: &Value, is_subagent: bool, events: &mut Emitter) {
        let id = id_of(item);
        if item.text("tool") == Some("spawnAgent") {
            for thread in item.list("receiverThreadIds").iter().filter_map(Value::as_str) {
                self.subagents.insert(thread.to_owned(), id.clone());
            }
        }
        self.items.complete("item/completed", id, item, events);
        if is_subagent {
            // The last text of a turn is the agent's own.
            self.items.take_last_text();
        }
    }

    fn start_turn(&mut self, params: &Value, events: &mut Emitter) {
        let turn = params.get("turn").and_then(|turn| turn.text("id"));
        let turn = turn.unwrap_or_default().to_owned();
        self.expected_turns.remove(&turn);
        self.begun_turns.insert(turn.clone());
        self.active_turn = Some(turn);
        events.turn_started(self.turns + 1);
    }

    fn finish_turn(&mut self, params: &Value, events: &mut Emitter) {
        let turn = params.get("turn").unwrap_or(&Value::Null);
        self.expected_turns.remove(turn.text("id").unwrap_or_default());
        self.active_turn = None;
        self.turns += 1;
        let outcome = match turn.text("status") {
            Some("completed") => Outcome::Succeeded,
            Some("interrupted") => Outcome::Interrupted,
            _ => Outcome::Failed,
        };
        // A command may outlive its turn.
        let open_calls = match outcome.is_success() {
            true => ToolStatus::Background,
            false => ToolStatus::Cancelled,
        };
        let cut = self.items.end_turn(open_calls, events);
        self.approvals.withdraw_all(events);
        if outcome == Outcome::Interrupted && self.stage == Stage::Ready && !cut.is_empty() {
            let params = json!({ "threadId": self.thread });
            let pending = Pending::RunningCommands(cut);
            let line = self.send("thread/backgroundTerminals/list", &params, pending);
            events.reply(line);
        }
        if !outcome.is_success() {
            events.emit(Body::Usage(Box::new(self.usage.note_missing())));
        }
        let error = turn.get("error").filter(|error| error.is_object());
        events.emit(Body::TurnFinished(Box::new(TurnFinished {
            text: self.items.take_last_text(),
            error: error.map(turn_error),
            stop_reason: turn.text("status").map(str::to_owned),
            duration_ms: turn.count("durationMs"),
            ..TurnFinished::new(self.turns, outcome)
        })));
        for message_id in std::mem::take(&mut self.turn_messages) {
            events.message_updated(message_id, MessageState::Completed);
        }
    }
}

impl Mapper for AppServerMapper {
    fn map_line(&mut self, line: Framed, events: &mut Emitter) {
        read_objects(line, events, |object, _, events| self.map_object(object, events));
    }

    fn map_end(&mut self, events: &mut Emitter) {
        self.drop_unsent(events);
    }

    fn is_idle(&self) -> bool {
        match self.stage {
            Stage::Initializing | Stage::Listing | Stage::Opening => false,
            Stage::Failed => true,
            Stage::Ready | Stage::Recorded => {
                !self.awaits_turn() && self.expected_turns.is_empty() && self.active_turn.is_none()
            }
        }
    }

    fn is_over(&self) -> bool {
        self.stage == Stage::Failed
    }

    fn deadline(&self) -> Option<Duration> {
        match self.stage {
            Stage::Initializing | Stage::Listing | Stage::Opening => Some(HANDSHAKE_LIMIT),
            Stage::Ready | Stage::Failed | Stage::Recorded => None,
        }
    }

    fn deadline_passed(&mut self, events: &mut Emitter) {
        let message = format!(
            "`codex app-server` did not start a session within {} seconds: run `codex` in a terminal to see why",
            HANDSHAKE_LIMIT.as_secs()
        );
        let error = ErrorInfo::new(ErrorClass::Process, "handshake_timeout", message);
        self.fail_start(error, events);
    }

    fn encode_cancel(&mut self, _events: &mut Emitter) -> Option<Bytes> {
        self.interrupt_request(None)
    }

    fn encode(&mut self, command: &Command, events: &mut Emitter) -> Result<Option<Bytes>, CommandError> {
        self.encode_command(command, events)
    }
}

fn id_of(item: &Value) -> ItemId {
    ItemId::new(item.text("id").unwrap_or("(no id)"))
}
