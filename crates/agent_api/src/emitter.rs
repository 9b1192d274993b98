//! `Emitter`: turns what a mapper found into bounded events. `RunLedger`: what is still open, and what was used.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use agent_client::MicroUsd;
use bytes::Bytes;
use serde_json::Value;

use crate::bounds::{FINAL_TEXT_BYTES, OPEN_REQUESTS, SESSION_ID_BYTES, TEXT_BYTES, bounded, keep_end};
use crate::event::{
    AgentKind, Body, CloseReason, CommandAnswered, Delta, DeltaMode, ErrorInfo, Event, ItemId, MessageState,
    MessageUpdated, Notice, Origin, Outcome, Part, PermissionRequested, Piece, RawRef, RequestClosed,
    RequestId, RunUsage, Severity, TextBlock, ThinkingBlock, ToolFinished, ToolProgressed, ToolStatus,
    TurnStarted, Unknown, UserMessage,
};

/// Turns what a mapper found into events, within all bounds. It also keeps the ledger from which the end of a run is
/// concluded: open calls and requests, how the last turn ended, what was used.
#[derive(Debug)]
pub struct Emitter {
    agent_kind: AgentKind,
    parent: Option<ItemId>,
    raw: Option<RawRef>,
    events: VecDeque<Event>,
    replies: Vec<Bytes>,
    late_replies: VecDeque<LateReply>,
    /// Requests for permission and their ends, if a callback decides.
    permission_events: Option<Vec<PermissionEvent>>,
    answers: Vec<CommandResult>,
    /// The line that is being mapped and where it starts, if events are to carry the agent's own words.
    source: Option<(u64, Bytes)>,
    emitted: u64,
    ledger: RunLedger,
}

/// The answer to a request of the agent that the caller's own code gives: a hook, or a tool. It runs as a task of its
/// own; if the agent withdraws the request, the future is dropped.
#[non_exhaustive]
pub enum LateReply {
    /// Run this.
    Start {
        /// Names the request.
        key: String,
        /// Resolves to bytes for the agent's input, line end included.
        line: Pin<Box<dyn Future<Output = Bytes> + Send>>,
        /// How long it may take.
        timeout: Duration,
        /// The bytes if it takes longer or panics.
        fallback: Bytes,
    },
    /// The agent no longer waits for this one.
    Withdraw(String),
}

impl fmt::Debug for LateReply {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { key, .. } => formatter.debug_tuple("Start").field(key).finish(),
            Self::Withdraw(key) => formatter.debug_tuple("Withdraw").field(key).finish(),
        }
    }
}

/// A request for permission, or its end.
#[derive(Debug)]
pub(crate) enum PermissionEvent {
    Requested(PermissionRequested),
    Closed(RequestId),
}

impl PermissionEvent {
    fn of(body: &Body) -> Option<Self> {
        match body {
            Body::PermissionRequested(asked) => Some(Self::Requested((**asked).clone())),
            Body::RequestClosed(closed) => Some(Self::Closed(closed.request.clone())),
            _ => None,
        }
    }
}

/// The id of a command, and the agent's answer to it.
pub(crate) type CommandResult = (String, Result<Value, String>);

/// The part of a line that an event comes from.
fn vendor_words((start, line): &(u64, Bytes), raw: RawRef) -> Option<Bytes> {
    let from = usize::try_from(raw.offset.checked_sub(*start)?).ok()?;
    let to = from.checked_add(usize::try_from(raw.length).ok()?)?;
    (to <= line.len()).then(|| line.slice(from..to))
}

/// What is known about a run so far.
#[derive(Debug, Default)]
pub(crate) struct RunLedger {
    pub(crate) session_id: Option<String>,
    pub(crate) has_session: bool,
    pub(crate) usage: RunUsage,
    pub(crate) turns: u32,
    /// The turns that have begun and not ended: they may overlap.
    pub(crate) open_turns: BTreeSet<u32>,
    pub(crate) last_turn: Option<(Outcome, Option<ErrorInfo>)>,
    /// The last error that was not part of a turn's end.
    pub(crate) last_error: Option<ErrorInfo>,
    pub(crate) line_errors: u64,
    pub(crate) final_text: Option<String>,
    /// Whether `final_text` is only what was streamed, because the turn's end has none.
    pub(crate) is_degraded: bool,
    pub(crate) session_total: Option<MicroUsd>,
    /// How long the agent waits before it asks its model again; zero once it has written something else.
    pub(crate) announced_pause: Duration,
    opened: u64,
    open_tools: HashMap<ItemId, (u64, Option<ItemId>)>,
    open_requests: HashMap<RequestId, (u64, Option<ItemId>)>,
}

impl Emitter {
    /// For a run of this kind of agent.
    #[must_use]
    pub fn new(agent_kind: AgentKind) -> Self {
        Self {
            agent_kind,
            parent: None,
            raw: None,
            events: VecDeque::new(),
            replies: Vec::new(),
            late_replies: VecDeque::new(),
            permission_events: None,
            answers: Vec::new(),
            source: None,
            emitted: 0,
            ledger: RunLedger::default(),
        }
    }

    /// What follows comes from this place of the agent's output, and from the main conversation.
    pub fn at(&mut self, raw: Option<RawRef>) {
        self.raw = raw;
        self.parent = None;
    }

    /// What follows belongs to the subagent that this call started.
    pub fn within(&mut self, parent: Option<ItemId>) {
        self.parent = parent;
    }

    /// Something happened.
    pub fn emit(&mut self, body: Body) {
        if let Body::Usage(usage) = &body
            && !usage.is_plausible()
        {
            self.ledger.usage.is_partial = true;
            let message = "the agent reports more tokens or money than a run can use: the report is ignored";
            return self.notice(Severity::Warning, "implausible_usage", message);
        }
        self.emitted += 1;
        self.ledger.note(&body, self.parent.as_ref());
        let Self {
            agent_kind,
            parent,
            raw,
            events,
            source,
            permission_events,
            ..
        } = self;
        let vendor = source.as_ref().and_then(|source| vendor_words(source, (*raw)?));
        let asked = permission_events;
        bounded(body, |body| {
            if let Some(asked) = asked.as_mut() {
                asked.extend(PermissionEvent::of(&body));
            }
            events.push_back(Event {
                agent_kind: agent_kind.clone(),
                parent: parent.clone(),
                raw: *raw,
                vendor: vendor.clone(),
                body,
            });
        });
    }

    /// A piece of an item that is being written.
    pub fn append(&mut self, item: &ItemId, part: Part, text: impl Into<String>) {
        self.emit(Body::Delta(Delta {
            item: item.clone(),
            part,
            mode: DeltaMode::Append,
            text: text.into(),
        }));
    }

    /// A text, complete.
    pub(crate) fn text_block(&mut self, item: ItemId, text: String, is_aborted: bool) {
        let piece = Piece::WHOLE;
        self.emit(Body::TextBlock(TextBlock {
            item,
            text,
            piece,
            is_aborted,
        }));
    }

    /// The model's thinking, complete.
    pub(crate) fn thinking_block(&mut self, item: ItemId, text: String) {
        let (piece, is_redacted) = (Piece::WHOLE, false);
        self.emit(Body::ThinkingBlock(ThinkingBlock {
            item,
            text,
            piece,
            is_redacted,
        }));
    }

    /// What the user said.
    pub(crate) fn user_message(&mut self, item: ItemId, text: String) {
        let (piece, origin) = (Piece::WHOLE, Origin::User);
        self.emit(Body::UserMessage(UserMessage {
            item,
            text,
            piece,
            origin,
        }));
    }

    /// All that an item has so far, in place of what came before.
    pub(crate) fn snapshot(&mut self, item: ItemId, part: Part, text: String) {
        let mode = DeltaMode::Snapshot;
        self.emit(Body::Delta(Delta {
            item,
            part,
            mode,
            text,
        }));
    }

    /// A tool is still running.
    pub(crate) fn tool_progressed(&mut self, item: ItemId) {
        let elapsed_ms = None;
        self.emit(Body::ToolProgressed(ToolProgressed { item, elapsed_ms }));
    }

    /// A turn has begun.
    pub(crate) fn turn_started(&mut self, number: u32) {
        self.emit(Body::TurnStarted(TurnStarted { number }));
    }

    /// A message of the caller's has got this far.
    pub(crate) fn message_updated(&mut self, message_id: impl Into<String>, state: MessageState) {
        let message_id = message_id.into();
        self.emit(Body::MessageUpdated(MessageUpdated { message_id, state }));
    }

    /// A command of the caller's was carried out, or refused with this message.
    pub(crate) fn command_answered(&mut self, command_id: impl Into<String>, error: Option<String>) {
        let command_id = command_id.into();
        self.emit(Body::CommandAnswered(CommandAnswered { command_id, error }));
    }

    /// A request is no longer open.
    pub(crate) fn request_closed(&mut self, request: RequestId, reason: CloseReason) {
        self.emit(Body::RequestClosed(RequestClosed { request, reason }));
    }

    /// A remark.
    pub(crate) fn notice(&mut self, severity: Severity, code: &str, message: impl Into<String>) {
        self.emit(Body::Notice(Box::new(Notice::new(severity, code, message))));
    }

    /// A line that changes nothing for a reader still has an event.
    pub(crate) fn framing(&mut self, name: &str) {
        self.notice(Severity::Debug, "framing", name);
    }

    /// Something of a type that is not known.
    pub(crate) fn unknown(&mut self, type_name: Option<&str>) {
        let type_name = type_name.unwrap_or("(no type)").to_owned();
        self.emit(Body::Unknown(Unknown { type_name }));
    }

    /// An error that ends nothing.
    pub fn error(&mut self, error: ErrorInfo) {
        self.emit(Body::Error(Box::new(error)));
    }

    /// An answer that needs no decision: bytes for the agent's input, line end included. Written if it is
    /// still open.
    pub fn reply(&mut self, line: Bytes) {
        self.replies.push(line);
    }

    /// An answer that the caller's code gives later: see [`LateReply`].
    pub fn reply_later(&mut self, reply: LateReply) {
        self.late_replies.push_back(reply);
    }

    pub(crate) fn watching_permissions(mut self, is_watching: bool) -> Self {
        self.permission_events = is_watching.then(Vec::new);
        self
    }

    pub(crate) fn take_permission_events(&mut self) -> Vec<PermissionEvent> {
        self.permission_events
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    pub(crate) fn take_late_replies(&mut self) -> VecDeque<LateReply> {
        std::mem::take(&mut self.late_replies)
    }

    /// The agent's own answer to a [`Command::Other`](crate::Command::Other), for the caller that waits for it.
    pub fn answer_command(&mut self, command_id: &str, answer: Result<Value, String>) {
        self.answers.push((command_id.to_owned(), answer));
    }

    pub(crate) fn take_answers(&mut self) -> Vec<CommandResult> {
        std::mem::take(&mut self.answers)
    }

    /// What follows is mapped from this line, and events carry their part of it.
    pub(crate) fn set_source(&mut self, source: Option<(u64, Bytes)>) {
        self.source = source;
    }

    /// The answers that wait to be written.
    pub fn take_replies(&mut self) -> Vec<Bytes> {
        std::mem::take(&mut self.replies)
    }

    /// What the session has cost so far, earlier runs included, as the agent counts it.
    pub fn note_session_total(&mut self, total: MicroUsd) {
        self.ledger.session_total = Some(total);
    }

    /// How often something was emitted: whether a line had any event.
    #[must_use]
    pub fn emitted(&self) -> u64 {
        self.emitted
    }

    /// The next event.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Whether events wait to be taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// How much of the queue to the consumer the next event takes: the agent's own words are not bounded like the rest.
    pub(crate) fn next_weight(&self) -> Option<u32> {
        let event = self.events.front()?;
        let vendor_bytes = event.vendor.as_ref().map_or(0, Bytes::len);
        Some(u32::try_from(1 + vendor_bytes / TEXT_BYTES).unwrap_or(u32::MAX))
    }

    /// Whether the agent may ask for something more. If not, the mapper denies the request.
    pub(crate) fn can_ask(&self) -> bool {
        self.ledger.open_requests.len() < OPEN_REQUESTS
    }

    pub(crate) fn ledger(&self) -> &RunLedger {
        &self.ledger
    }

    /// Ends what is still open: calls are cancelled, requests closed.
    pub(crate) fn close_open_items(&mut self) {
        self.at(None);
        for (item, parent) in in_order(std::mem::take(&mut self.ledger.open_tools)) {
            self.within(parent);
            let cancelled = ToolFinished::new(item, ToolStatus::Cancelled);
            self.emit(Body::ToolFinished(Box::new(cancelled)));
        }
        for (request, parent) in in_order(std::mem::take(&mut self.ledger.open_requests)) {
            self.within(parent);
            self.request_closed(request, CloseReason::Ended);
        }
        self.within(None);
    }
}

/// Entries that were numbered as they came, in that order.
pub(crate) fn in_order<T, V>(open: HashMap<T, (u64, V)>) -> impl Iterator<Item = (T, V)> {
    let mut open: Vec<_> = open.into_iter().collect();
    open.sort_unstable_by_key(|(_, (number, _))| *number);
    open.into_iter().map(|(id, (_, value))| (id, value))
}

impl RunLedger {
    fn note(&mut self, body: &Body, parent: Option<&ItemId>) {
        match body {
            Body::RetryScheduled(retry) => {
                self.announced_pause = Duration::from_millis(retry.delay_ms.unwrap_or(0));
            }
            // Not what the agent was waiting for.
            Body::Notice(_) | Body::RateLimit(_) | Body::StatusChanged(_) => {}
            _ => self.announced_pause = Duration::ZERO,
        }
        match body {
            Body::SessionStarted(session) => {
                self.has_session = true;
                self.know_session(session.session_id.as_ref());
            }
            Body::SessionUpdated(session) => self.know_session(session.session_id.as_ref()),
            Body::TurnStarted(turn) => {
                if self.turns > 0 {
                    // It belongs to a turn before this one.
                    self.last_error = None;
                }
                self.open_turns.insert(turn.number);
            }
            Body::TurnFinished(turn) => {
                self.turns += 1;
                self.open_turns.remove(&turn.number);
                if turn.outcome.is_success() {
                    // It was overcome.
                    self.last_error = None;
                }
                self.last_turn = Some((turn.outcome, turn.error.clone()));
                // An end without a text does not take the answer back.
                if let Some(text) = turn.text.as_ref().filter(|text| !text.trim().is_empty()) {
                    self.keep_text(text);
                    self.is_degraded = false;
                }
            }
            Body::ToolStarted(tool) => {
                let opened = self.next_number();
                self.open_tools
                    .entry(tool.item.clone())
                    .or_insert((opened, parent.cloned()));
            }
            Body::ToolFinished(tool) => {
                self.open_tools.remove(&tool.item);
            }
            Body::ItemDiscarded(discarded) => {
                self.open_tools.remove(&discarded.item);
            }
            Body::PermissionRequested(request) => self.open_request(&request.request, parent),
            Body::QuestionAsked(request) => self.open_request(&request.request, parent),
            Body::PlanProposed(request) => self.open_request(&request.request, parent),
            Body::RequestClosed(closed) => {
                self.open_requests.remove(&closed.request);
            }
            Body::Usage(usage) => self.usage = usage.run,
            Body::Error(error) => {
                self.line_errors += u64::from(error.position.is_some());
                if error.position.is_none() {
                    self.last_error = Some((**error).clone());
                }
            }
            Body::TextBlock(block) if parent.is_none() && block.piece.index > 0 => {
                let mut text = self.final_text.take().unwrap_or_default();
                text.push_str(&block.text);
                self.keep_text(&text);
                self.is_degraded = self.has_open_turn();
            }
            Body::TextBlock(block) if parent.is_none() && !block.text.trim().is_empty() => {
                self.keep_text(&block.text);
                self.is_degraded = self.has_open_turn();
            }
            Body::Delta(_)
            | Body::TextBlock(_)
            | Body::ThinkingBlock(_)
            | Body::UserMessage(_)
            | Body::ToolProgressed(_)
            | Body::PlanUpdated(_)
            | Body::PermissionDenied(_)
            | Body::TaskUpdated(_)
            | Body::MessageUpdated(_)
            | Body::CommandAnswered(_)
            | Body::StatusChanged(_)
            | Body::RetryScheduled(_)
            | Body::RateLimit(_)
            | Body::Notice(_)
            | Body::Unknown(_)
            | Body::Finished(_) => {}
        }
    }

    /// Blocks come often and only the last one counts, so the memory of the one before is used again.
    fn keep_text(&mut self, text: &str) {
        keep_end(self.final_text.get_or_insert_default(), text, FINAL_TEXT_BYTES);
    }

    pub(crate) fn has_open_turn(&self) -> bool {
        !self.open_turns.is_empty()
    }

    pub(crate) fn has_open_tools(&self) -> bool {
        !self.open_tools.is_empty()
    }

    pub(crate) fn has_open_requests(&self) -> bool {
        !self.open_requests.is_empty()
    }

    /// An id that is too long for an event is left out.
    fn know_session(&mut self, id: Option<&String>) {
        if let Some(id) = id {
            if self.session_id.as_ref().is_some_and(|known| known != id) {
                // It is the total of the session before.
                self.session_total = None;
            }
            self.session_id = Some(id.clone()).filter(|id| id.len() <= SESSION_ID_BYTES);
        }
    }

    fn open_request(&mut self, request: &RequestId, parent: Option<&ItemId>) {
        let number = self.next_number();
        self.open_requests
            .insert(request.clone(), (number, parent.cloned()));
    }

    fn next_number(&mut self) -> u64 {
        self.opened += 1;
        self.opened
    }
}
