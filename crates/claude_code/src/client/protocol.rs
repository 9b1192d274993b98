//! `WireProtocol`: runs the CLI in the shared loop. Its items are the CLI's own events, unchanged.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;

use agent_client::{Activity, AgentLink, Callback, CallbackOrder, Protocol, RunEnd};
use bytes::Bytes;
use json_lines::{Framed, LineError, LineErrorCode};
use tokio::sync::oneshot;

use crate::event::{Block, ControlRequest, ControlResponse, Event, Kind, Message};
use crate::host::{Host, HostResponse};
use crate::input::{self, Answer};
use crate::stream::LineEvents;
use crate::turn_tracker::TurnTracker;

/// What an event takes besides its line.
const ITEM_OVERHEAD_BYTES: usize = 256;

type Item = Result<Event, LineError>;

/// Lines to events, with just enough state to know what the CLI is doing.
#[derive(Debug, Default)]
pub(crate) struct WireProtocol {
    items: VecDeque<Item>,
    turns: TurnTracker,
    /// Whether the CLI was given something to do. In a session nothing happens before the first message.
    has_work: bool,
    /// A message was sent to an idle CLI, and its turn has not started yet.
    awaits_turn: bool,
    /// The CLI's requests that wait for an answer, by their id.
    questions: HashSet<String>,
    open_tools: HashSet<String>,
    /// Callers that wait for the CLI's response to a control request, by its id.
    responses: HashMap<String, oneshot::Sender<ControlResponse>>,
    host: Host,
    /// Whether a request without a callback is refused, because no one else can answer it.
    refuses_rest: bool,
    callbacks: VecDeque<CallbackOrder<WireCommand>>,
    last_line: u64,
    end_offset: u64,
}

/// A line for the CLI.
#[derive(Debug)]
pub(crate) struct WireCommand {
    pub(crate) line: Bytes,
    /// Resolved when the CLI's pipe has the line; `None` if no one waits for that.
    pub(crate) written: Option<oneshot::Sender<()>>,
    pub(crate) purpose: Purpose,
}

#[derive(Debug)]
pub(crate) enum Purpose {
    Message,
    /// Answers the request with this id.
    Answer {
        request_id: String,
    },
    /// Asks for a response.
    Request {
        request_id: String,
        response: oneshot::Sender<ControlResponse>,
    },
}

impl WireProtocol {
    /// For one prompt, which the CLI has from the start.
    pub(crate) fn for_prompt(host: Host) -> Self {
        Self {
            has_work: true,
            refuses_rest: true,
            host,
            ..Self::default()
        }
    }

    /// For a conversation.
    pub(crate) fn for_session(host: Host) -> Self {
        Self {
            host,
            ..Self::default()
        }
    }

    /// Has a callback answer the CLI's request, if there is one for it.
    fn call_back(&mut self, request: &ControlRequest) {
        let Some(id) = request.request_id.as_deref() else {
            return;
        };
        self.questions.insert(id.to_owned());
        let answered = |answer: Answer, request_id: String| WireCommand {
            line: input::answer(&request_id, &answer),
            written: None,
            purpose: Purpose::Answer { request_id },
        };
        let refused = || self.refuses_rest.then(HostResponse::unsupported);
        let Some(response) = self.host.respond(&request.body).or_else(refused) else {
            return;
        };
        let (key, fallback) = (id.to_owned(), answered(response.fallback, id.to_owned()));
        let request_id = key.clone();
        self.callbacks.push_back(CallbackOrder::Start(Callback {
            key,
            answer: Box::pin(async move { answered(response.answer.await, request_id) }),
            timeout: response.timeout,
            fallback,
        }));
    }

    fn observe(&mut self, event: &Event) {
        self.turns.observe(event);
        self.awaits_turn &= self.turns.is_between_turns();
        match event.kind() {
            Kind::Assistant(said) => {
                for block in blocks(said.message.as_ref()) {
                    if let Block::ToolUse(tool) = block {
                        self.open_tools.insert(tool.id.to_string());
                    }
                }
            }
            Kind::User(user) => {
                for block in blocks(user.message.as_ref()) {
                    if let Block::ToolResult(result) = block {
                        self.open_tools.remove(&*result.tool_use_id);
                    }
                }
            }
            Kind::Result(_) => {
                self.open_tools.clear();
                self.awaits_turn = false;
            }
            Kind::ControlRequest(request) => self.call_back(request),
            Kind::ControlCancelRequest(cancel) => {
                if let Some(id) = cancel.request_id.as_deref() {
                    self.questions.remove(id);
                    self.callbacks.push_back(CallbackOrder::Withdraw(id.to_owned()));
                }
            }
            Kind::ControlResponse(response) => {
                let waiter = response.request_id().and_then(|id| self.responses.remove(id));
                if let Some(waiter) = waiter {
                    // A caller that gave up in the meantime needs no response.
                    let _ = waiter.send((**response).clone());
                }
            }
            _ => {}
        }
    }
}

fn blocks(message: Option<&Message>) -> &[Block] {
    message.map_or(&[], |message| message.content.blocks())
}

impl Protocol for WireProtocol {
    type Item = Item;
    type Command = WireCommand;
    type Conclusion = RunEnd;

    fn on_line(&mut self, line: Framed, _: &mut AgentLink<'_>) {
        let (number, end) = match &line {
            Framed::Line(line) => (line.number, line.offset + line.bytes.len() as u64),
            Framed::Overlong {
                number,
                offset,
                length_bytes,
            } => (*number, offset + length_bytes),
        };
        (self.last_line, self.end_offset) = (number, end);
        for item in LineEvents::of(line) {
            if let Ok(event) = &item {
                self.observe(event);
            }
            self.items.push_back(item);
        }
    }

    fn on_output_error(&mut self, error: &io::Error) {
        self.items.push_back(Err(LineError {
            code: LineErrorCode::ReadFailed(error.kind()),
            line_number: self.last_line,
            offset: self.end_offset,
            length_bytes: 0,
            column: 1,
        }));
    }

    fn on_end_of_output(&mut self) {
        // No response will come any more.
        self.responses.clear();
    }

    fn on_command(&mut self, command: WireCommand, agent: &mut AgentLink<'_>) {
        let WireCommand {
            line,
            written,
            purpose,
        } = command;
        let is_queued = match written {
            _ if !agent.is_open() => false,
            Some(written) => agent.write_revocable(line, written),
            None => agent.write(line),
        };
        if !is_queued {
            return;
        }
        match purpose {
            Purpose::Message => {
                self.has_work = true;
                self.awaits_turn = self.turns.is_between_turns();
            }
            Purpose::Answer { request_id } => {
                self.questions.remove(&request_id);
            }
            Purpose::Request { request_id, response } => {
                self.responses.retain(|_, waiter| !waiter.is_closed());
                self.responses.insert(request_id, response);
            }
        }
    }

    fn next_callback(&mut self) -> Option<CallbackOrder<WireCommand>> {
        self.callbacks.pop_front()
    }

    fn activity(&self) -> Activity {
        if !self.questions.is_empty() {
            Activity::WaitingForAnswer
        } else if self.awaits_turn {
            Activity::Working
        } else if self.turns.is_idle() || !self.has_work {
            Activity::Idle
        } else if self.turns.is_between_turns() {
            Activity::BackgroundOnly
        } else {
            Activity::Working
        }
    }

    fn has_open_tool_call(&self) -> bool {
        !self.open_tools.is_empty()
    }

    fn next_weight(&self) -> Option<u32> {
        let line_bytes = match self.items.front()? {
            Ok(event) => event.raw().len(),
            Err(_) => 0,
        };
        Some(u32::try_from(line_bytes + ITEM_OVERHEAD_BYTES).unwrap_or(u32::MAX))
    }

    fn next_item(&mut self) -> Option<Item> {
        self.items.pop_front()
    }

    fn conclude(&mut self, end: RunEnd) -> RunEnd {
        self.responses.clear();
        end
    }
}
