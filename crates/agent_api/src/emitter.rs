//! From a mapping to the stream of events.

use std::collections::{BTreeSet, HashMap, VecDeque};

use bytes::Bytes;
use claude_code::MicroUsd;

use crate::bounds::{FINAL_TEXT_BYTES, SESSION_ID_BYTES, bounded, keep_end};
use crate::event::{
    AgentKind, Body, CloseReason, Delta, DeltaMode, ErrorInfo, Event, ItemId, Outcome, Part, RawRef,
    RequestClosed, RequestId, RunUsage, ToolFinished, ToolStatus,
};

/// Takes what a mapping found out and makes events of it, within all bounds. It also keeps the books that every run
/// needs for an honest end: calls and requests that are still open, how the last turn ended, what was used.
#[derive(Debug)]
pub struct Emitter {
    agent_kind: AgentKind,
    parent: Option<ItemId>,
    raw: Option<RawRef>,
    events: VecDeque<Event>,
    replies: Vec<Bytes>,
    emitted: u64,
    books: Books,
}

/// What is known about a run so far.
#[derive(Debug, Default)]
pub(crate) struct Books {
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
            emitted: 0,
            books: Books::default(),
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
        self.emitted += 1;
        self.books.note(&body, self.parent.as_ref());
        let Self {
            agent_kind,
            parent,
            raw,
            events,
            ..
        } = self;
        bounded(body, |body| {
            events.push_back(Event {
                agent_kind: agent_kind.clone(),
                parent: parent.clone(),
                raw: *raw,
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

    /// An error that ends nothing.
    pub fn error(&mut self, error: ErrorInfo) {
        self.emit(Body::Error(Box::new(error)));
    }

    /// An answer that nobody needs to be asked for: bytes for the agent's input, line end included. Written if it is
    /// still open.
    pub fn reply(&mut self, line: Bytes) {
        self.replies.push(line);
    }

    /// The answers that wait to be written.
    pub fn take_replies(&mut self) -> Vec<Bytes> {
        std::mem::take(&mut self.replies)
    }

    /// What the session has cost so far, earlier runs included, as the agent counts it.
    pub fn note_session_total(&mut self, total: MicroUsd) {
        self.books.session_total = Some(total);
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

    pub(crate) fn books(&self) -> &Books {
        &self.books
    }

    /// Ends what nobody ended: calls are cancelled, requests closed.
    pub(crate) fn close_open_items(&mut self) {
        self.at(None);
        for (item, parent) in in_order(std::mem::take(&mut self.books.open_tools)) {
            self.within(parent);
            self.emit(Body::ToolFinished(Box::new(ToolFinished {
                item,
                status: ToolStatus::Cancelled,
                output: String::new(),
                output_bytes: None,
                attachments: Vec::new(),
                exit_code: None,
                changes: Vec::new(),
            })));
        }
        for (request, parent) in in_order(std::mem::take(&mut self.books.open_requests)) {
            self.within(parent);
            self.emit(Body::RequestClosed(RequestClosed {
                request,
                reason: CloseReason::Ended,
            }));
        }
        self.within(None);
    }
}

fn in_order<T>(open: HashMap<T, (u64, Option<ItemId>)>) -> impl Iterator<Item = (T, Option<ItemId>)> {
    let mut open: Vec<_> = open.into_iter().collect();
    open.sort_unstable_by_key(|(_, (number, _))| *number);
    open.into_iter().map(|(id, (_, parent))| (id, parent))
}

impl Books {
    fn note(&mut self, body: &Body, parent: Option<&ItemId>) {
        match body {
            Body::SessionStarted(session) => {
                self.has_session = true;
                self.know_session(session.session_id.as_ref());
            }
            Body::SessionUpdated(session) => self.know_session(session.session_id.as_ref()),
            Body::TurnStarted(turn) => {
                self.open_turns.insert(turn.number);
            }
            Body::TurnFinished(turn) => {
                self.turns += 1;
                self.open_turns.remove(&turn.number);
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

    pub(crate) fn has_open_requests(&self) -> bool {
        !self.open_requests.is_empty()
    }

    /// An id that is too long to be told is not known.
    fn know_session(&mut self, id: Option<&String>) {
        if let Some(id) = id {
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
