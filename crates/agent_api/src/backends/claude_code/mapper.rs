//! `ClaudeMapper`: maps the events of Claude's stream to events of this crate.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use claude_code::event::{CommandState, RateLimitStatus as WireLimit, StreamBody};
use claude_code::host::Host;
use claude_code::reconcile::{Change, Reconciler};
use claude_code::{
    Capabilities, CostBasis, Dialect, Event as WireEvent, Expansion, Kind, Receipt, ReceiptState, TurnChange,
    TurnTracker,
};
use json_lines::Framed;

use super::commands::INITIALIZE_LIMIT;
use super::dialect_extras::DialectExtras;
use super::items::Items;
use super::permission_requests::PermissionRequests;
use super::usage::Account;
use crate::backend::{Command, Mapper};
use crate::backends::wire_line::read_line;
use crate::emitter::Emitter;
use crate::error::CommandError;
use crate::event::{
    Body, ItemId, MessageState, RateLimit, RateLimitStatus, RawRef, Severity, Tokens, ToolProgressed,
};

/// Maps the output of one process that speaks Claude's dialect.
#[derive(Debug)]
pub struct ClaudeMapper {
    pub(super) setup: MapperSetup,
    reconciler: Reconciler,
    changes: Vec<Change>,
    pub(super) turns: TurnTracker,
    turn_number: u32,
    /// The turns that have begun and not ended, the oldest first: they may overlap.
    open_turns: VecDeque<u32>,
    pub(super) has_session: bool,
    pub(super) session_id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) items: Items,
    pub(super) permission_requests: PermissionRequests,
    pub(super) account: Account,
    /// Messages that were sent and whose turn has not begun.
    pub(super) unanswered: Vec<String>,
    has_receipts: bool,
    /// Control requests whose answer the caller waits for.
    pub(super) requests: Vec<String>,
    /// The caller's hooks and tools.
    pub(super) host: Host,
    /// The first message and those after it, until the CLI knows the hooks and tools.
    pub(super) held_prompt: Option<Bytes>,
    /// The CLI does not take the hooks and tools: nothing was asked of it.
    pub(super) is_refused: bool,
}

/// What a mapping has to know before the first line.
#[derive(Debug, Clone, Copy, Default)]
pub struct MapperSetup {
    /// Who speaks.
    pub dialect: Dialect,
    /// What it writes beyond Claude's own shapes.
    pub extras: DialectExtras,
    /// What an earlier run of the session has cost.
    pub cost_basis: CostBasis,
    /// What a resumed session had used before, as its last run reported it: for a dialect that counts for the whole
    /// session.
    pub earlier_tokens: Option<Tokens>,
    /// What the CLI can do, for what is written to it.
    pub capabilities: Option<Capabilities>,
    /// What `/` and `@` in messages mean.
    pub expansion: Expansion,
    /// Deny permission requests at once, because the run's holder does not answer them. Claude Code itself does not
    /// ask then; others of its dialect do.
    pub denies_requests: bool,
}

impl ClaudeMapper {
    /// For one process.
    #[must_use]
    pub fn new(setup: MapperSetup) -> Self {
        Self {
            setup,
            reconciler: Reconciler::new(),
            changes: Vec::new(),
            turns: TurnTracker::new(),
            turn_number: 0,
            open_turns: VecDeque::new(),
            has_session: false,
            session_id: None,
            model: None,
            items: Items::default(),
            permission_requests: PermissionRequests::default(),
            account: Account::new(&setup),
            unanswered: Vec::new(),
            has_receipts: false,
            requests: Vec::new(),
            host: Host::new(),
            held_prompt: None,
            is_refused: false,
        }
    }

    /// With the caller's hooks and tools, which the CLI must know before it gets its prompt.
    pub(super) fn with_host(mut self, host: &Host, prompt: Bytes) -> Self {
        self.host = host.clone();
        self.held_prompt = Some(prompt);
        self
    }

    /// Maps one event of Claude's stream.
    pub fn map_event(&mut self, wire: &WireEvent, events: &mut Emitter) {
        events.at(Some(RawRef {
            line: wire.line_number(),
            offset: wire.offset(),
            length: wire.raw().len() as u64,
        }));
        if let Some(parent) = wire.parent_tool_use_id()
            && !matches!(wire.kind(), Kind::ToolProgress(_))
        {
            events.within(Some(self.items.call(&parent)));
        }
        let before = events.emitted();
        let change = self.turns.observe(wire);
        if change == TurnChange::TurnStarted && !matches!(wire.kind(), Kind::System(_)) {
            self.begin_turn(events);
        }
        if change != TurnChange::SpuriousResult {
            self.account.apply(wire);
        }
        self.map_kind(wire, change, events);
        if events.emitted() == before {
            events.framing(&framing(wire));
        }
    }

    fn map_kind(&mut self, wire: &WireEvent, change: TurnChange, events: &mut Emitter) {
        match wire.kind() {
            Kind::StreamEvent(stream) => {
                if let StreamBody::ContentBlockStart { index, block } = &stream.body {
                    self.items.open(*index, block, events);
                }
                self.reconcile(wire, events);
                if let Some(usage) = self.account.step(wire, &stream.body) {
                    events.emit(usage);
                }
            }
            Kind::Assistant(assistant) => {
                self.map_assistant(wire, assistant, events);
            }
            Kind::User(user) => self.map_user(wire, user, events),
            Kind::System(system) => self.map_system(wire, system, events),
            Kind::Result(result) => self.map_result(wire, change, result, events),
            Kind::RateLimit(limit) => {
                if let Some(info) = &limit.info {
                    events.emit(Body::RateLimit(Box::new(RateLimit {
                        status: match &info.status {
                            Some(WireLimit::Allowed) => RateLimitStatus::Allowed,
                            Some(WireLimit::AllowedWarning) => RateLimitStatus::Warning,
                            Some(WireLimit::Rejected) => RateLimitStatus::Rejected,
                            _ => RateLimitStatus::Unknown,
                        },
                        window: info.limit.as_ref().map(|limit| limit.as_str().to_owned()),
                        used_percent: info.utilization.map(|used| used * 100.0),
                        resets_at: info.resets_at_unix_seconds,
                    })));
                }
            }
            Kind::ControlRequest(request) => self.map_request(request, events),
            Kind::ControlResponse(response) => self.map_response(response, events),
            Kind::ControlCancelRequest(cancel) => self.map_withdrawal(cancel, events),
            Kind::CommandLifecycle(lifecycle) => {
                self.has_receipts = true;
                let id = lifecycle.command_uuid.as_deref().unwrap_or_default();
                let state = match &lifecycle.state {
                    Some(CommandState::Queued) => Some(MessageState::Queued),
                    Some(CommandState::Started) => Some(MessageState::Started),
                    Some(CommandState::Completed) => Some(MessageState::Completed),
                    Some(CommandState::Cancelled) => Some(MessageState::Cancelled),
                    _ => None,
                };
                if let Some(state) = state {
                    if state != MessageState::Queued {
                        self.unanswered.retain(|known| known != id);
                    }
                    events.message_updated(id.to_owned(), state);
                }
            }
            Kind::ToolProgress(progress) => {
                let call = wire.parent_tool_use_id();
                let call = call.as_deref().or(progress.tool_use_id.as_deref());
                events.emit(Body::ToolProgressed(ToolProgressed {
                    item: ItemId::new(call.unwrap_or_default()),
                    elapsed_ms: progress
                        .elapsed_time_seconds
                        .map(|seconds| (seconds * 1000.0) as u64),
                }));
            }
            Kind::ToolUseSummary(summary) => {
                let text = summary.summary.as_deref().unwrap_or_default();
                events.notice(Severity::Info, "tool_summary", text);
            }
            // `new_conversation_id` is not a session id. The next `init` names the new session.
            Kind::ConversationReset(_) => events.notice(
                Severity::Info,
                "conversation_reset",
                "the conversation was cleared",
            ),
            Kind::Attachment(_)
            | Kind::KeepAlive
            | Kind::AuthStatus
            | Kind::PromptSuggestion
            | Kind::ActiveGoal => {}
            _ => events.unknown(Some(wire.type_name().as_deref().unwrap_or_default())),
        }
    }

    pub(super) fn reconcile(&mut self, wire: &WireEvent, events: &mut Emitter) {
        let mut changes = std::mem::take(&mut self.changes);
        self.reconciler.apply_to(wire, &mut changes);
        let is_aborted = matches!(wire.kind(), Kind::Assistant(assistant) if assistant.is_aborted);
        for change in changes.drain(..) {
            self.map_change(change, is_aborted, events);
        }
        self.changes = changes;
    }

    /// What a line changes, for one that is not shown as it is.
    pub(super) fn changes_of(&mut self, wire: &WireEvent) -> Vec<Change> {
        self.reconciler.apply(wire)
    }

    pub(super) fn begin_turn(&mut self, events: &mut Emitter) {
        self.turn_number += 1;
        self.open_turns.push_back(self.turn_number);
        if !self.has_receipts {
            // Old versions say nothing about single messages.
            self.unanswered.clear();
        }
        events.turn_started(self.turn_number);
    }

    /// The number of the turn that a result ends. One may come without any turn, for example when there is nothing to
    /// resume.
    pub(super) fn end_turn(&mut self, events: &mut Emitter) -> u32 {
        if self.open_turns.is_empty() {
            self.begin_turn(events);
        }
        if !self.has_receipts {
            // A message that was sent meanwhile may have joined this turn, and nothing would ever say so.
            self.unanswered.clear();
        }
        self.open_turns.pop_front().unwrap_or(self.turn_number)
    }

    pub(super) fn note_receipt(&mut self, wire: &WireEvent, events: &mut Emitter) {
        if let Some(receipt) = Receipt::from_event(wire)
            && receipt.state == ReceiptState::Replayed
        {
            let message_id = receipt.message.to_string();
            self.unanswered.retain(|known| *known != message_id);
            events.message_updated(message_id, MessageState::Started);
        }
    }
}

impl Mapper for ClaudeMapper {
    fn map_line(&mut self, line: Framed, events: &mut Emitter) {
        read_line(line, events, |wire: &WireEvent, events| {
            self.map_event(wire, events)
        });
    }

    fn is_idle(&self) -> bool {
        self.is_refused || self.turns.is_idle() && self.unanswered.is_empty()
    }

    fn is_over(&self) -> bool {
        self.is_refused
    }

    fn background_tasks(&self) -> usize {
        let is_between_turns = self.turns.is_between_turns() && self.unanswered.is_empty();
        if is_between_turns {
            self.turns.open_tasks()
        } else {
            0
        }
    }

    fn map_end(&mut self, events: &mut Emitter) {
        if self.held_prompt.is_some() {
            events.at(None);
            self.cancel_messages(events);
        }
    }

    fn deadline(&self) -> Option<Duration> {
        self.held_prompt.is_some().then_some(INITIALIZE_LIMIT)
    }

    fn deadline_passed(&mut self, events: &mut Emitter) {
        self.give_up_initialize(events);
    }

    fn encode(&mut self, command: &Command, events: &mut Emitter) -> Result<Option<Bytes>, CommandError> {
        self.write_command(command, events)
    }
}

/// The name of a line that changes nothing for a view.
fn framing(wire: &WireEvent) -> Cow<'_, str> {
    let Kind::StreamEvent(stream) = wire.kind() else {
        return wire.type_name().unwrap_or_default();
    };
    Cow::Borrowed(match &stream.body {
        StreamBody::MessageStart { .. } => "message_start",
        StreamBody::ContentBlockStart { .. } => "content_block_start",
        StreamBody::ContentBlockDelta { .. } => "content_block_delta",
        StreamBody::ContentBlockStop { .. } => "content_block_stop",
        StreamBody::MessageDelta { .. } => "message_delta",
        StreamBody::MessageStop => "message_stop",
        StreamBody::Ping => "ping",
        _ => "stream_event",
    })
}
