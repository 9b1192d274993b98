//! The part of `Transcript` that folds events of the agent.

use agent_api::{
    Body, CloseReason, Delta, ErrorClass, ErrorInfo, Event, ItemDiscarded, ItemId, Notice, Outcome, Part,
    Piece, PlanUpdated, RequestClosed, RequestId, Retry, Severity, TextBlock, ThinkingBlock, ToolFinished,
    ToolKind, ToolStarted, ToolState, ToolStatus,
};
use jiff::{SignedDuration, Timestamp};
use run_view::{
    Answer, CallEnd, EARLIER_CALL, RequestKind, describe_answer, describe_denial, describe_discard,
    describe_error, describe_notice, describe_rate_limit, describe_retry, describe_session, describe_task,
    describe_tool, escape_hidden,
};

use super::cell::{
    Ask, CellKind, NoticeCell, RequestCell, RequestState, TodoCell, ToolCell, ToolEnd, Wait, WaitCell,
};
use super::fold::Transcript;
use super::live_output;
use super::text_body::Arrival;
use crate::theme::Role;

impl Transcript {
    pub(super) fn agent_event(&mut self, event: &Event) {
        if !matches!(event.body, Body::ItemDiscarded(_) | Body::Delta(_)) {
            self.has_noted_discard = false;
        }
        match &event.body {
            Body::Delta(delta) => self.delta(event, delta, Arrival::Recorded),
            Body::TextBlock(block) => self.text_block(event, block),
            Body::ThinkingBlock(block) => self.thinking_block(event, block),
            Body::ItemDiscarded(discarded) => self.discard(discarded),
            Body::ToolStarted(tool) => self.tool_started(event, tool),
            Body::ToolFinished(finished) => self.tool_finished(event, finished),
            Body::PlanUpdated(plan) => self.plan_updated(event, plan),
            Body::PermissionRequested(asked) => {
                let ask = Ask::Permission(asked.clone());
                self.request(event, &asked.request, ask);
            }
            Body::QuestionAsked(asked) => {
                let ask = Ask::Question(asked.questions.clone());
                self.request(event, &asked.request, ask);
            }
            Body::PlanProposed(asked) => {
                let ask = Ask::Plan(asked.plan.clone());
                self.request(event, &asked.request, ask);
            }
            Body::RequestClosed(closed) => self.request_closed(closed),
            Body::PermissionDenied(denial) => {
                self.notice_of(event, Role::Bad, "Denied", describe_denial(denial));
            }
            Body::RetryScheduled(retry) => self.retry(event, retry),
            Body::RateLimit(limit) => {
                if let Some(text) = describe_rate_limit(limit) {
                    self.notice_of(event, Role::Warning, "Warning", text);
                }
            }
            Body::Error(error) => self.error(error),
            Body::TurnFinished(turn) => self.outcome_error(Some(turn.outcome), turn.error.as_ref()),
            Body::SessionStarted(session) => {
                self.notice_of(event, Role::Faint, "Session", describe_session(session));
            }
            Body::TaskUpdated(task) => {
                if let Some(text) = describe_task(task)
                    && self.ended_tasks.insert(task.task_id.clone())
                {
                    self.notice_of(event, Role::Faint, "Task", text);
                }
            }
            Body::Notice(notice) => self.agent_notice(event, notice),
            Body::Finished(finished) => {
                self.end_attempt();
                self.outcome_error(Some(finished.outcome), finished.error.as_ref());
            }
            // Figures and states are in the header; the prompt is in its iteration.
            Body::TurnStarted(_)
            | Body::SessionUpdated(_)
            | Body::UserMessage(_)
            | Body::ToolProgressed(_)
            | Body::MessageUpdated(_)
            | Body::CommandAnswered(_)
            | Body::Usage(_)
            | Body::StatusChanged(_)
            | Body::Unknown(_) => {}
            // A kind that a newer version of the agent's interface adds.
            _ => {}
        }
    }

    pub(super) fn delta(&mut self, event: &Event, delta: &Delta, arrival: Arrival) {
        match delta.part {
            Part::Text | Part::Thinking => {
                if delta.text.is_empty() && !self.texts.contains_key(&(delta.item.clone(), delta.part)) {
                    return;
                }
                self.has_noted_discard = false;
                let index = self.text_cell(event, &delta.item, delta.part);
                self.change(index, |kind| {
                    if let CellKind::Text(text) | CellKind::Thinking(text) = kind {
                        text.body.push_delta(delta, arrival);
                    }
                });
            }
            Part::ToolOutput => {
                if let Some(index) = self.calls.get(&delta.item) {
                    self.change(*index, |kind| {
                        if let CellKind::Tool(tool) = kind
                            && tool.end.is_none()
                        {
                            tool.live_output.push_delta(delta, arrival);
                            live_output::bound(&mut tool.live_output);
                        }
                    });
                }
            }
            // Arguments are shown when they are complete.
            Part::ToolInput => {}
        }
    }

    fn text_block(&mut self, event: &Event, block: &TextBlock) {
        self.block(event, &block.item, Part::Text, (block.piece, &block.text));
        if block.is_aborted
            && let Some(index) = self.texts.get(&(block.item.clone(), Part::Text))
        {
            self.change(*index, |kind| {
                if let CellKind::Text(text) = kind {
                    text.is_aborted = true;
                }
            });
        }
    }

    fn thinking_block(&mut self, event: &Event, block: &ThinkingBlock) {
        self.block(event, &block.item, Part::Thinking, (block.piece, &block.text));
        if block.is_redacted {
            let index = self.text_cell(event, &block.item, Part::Thinking);
            self.change(index, |kind| {
                if let CellKind::Thinking(text) = kind {
                    text.is_withheld = true;
                }
            });
        }
    }

    fn block(&mut self, event: &Event, item: &ItemId, part: Part, (piece, text): (Piece, &str)) {
        let is_known = self.texts.contains_key(&(item.clone(), part));
        if !is_known && piece.is_last && text.trim().is_empty() {
            return;
        }
        let index = self.text_cell(event, item, part);
        self.change(index, |kind| {
            if let CellKind::Text(cell) | CellKind::Thinking(cell) = kind {
                cell.body.push_block(piece, text);
            }
        });
        // The deltas began live, before there was a record of it.
        self.set_raw(index, event);
    }

    fn discard(&mut self, discarded: &ItemDiscarded) {
        let item = &discarded.item;
        let texts = [Part::Text, Part::Thinking].map(|part| self.texts.remove(&(item.clone(), part)));
        let call = self.calls.remove(item);
        self.quiet_calls.remove(item);
        for index in texts.into_iter().flatten().chain(call) {
            let note = describe_discard(discarded.reason);
            let is_first = !std::mem::replace(&mut self.has_noted_discard, true);
            self.change(index, |kind| {
                *kind = match is_first {
                    true => CellKind::Notice(NoticeCell {
                        role: Role::Faint,
                        label: "",
                        text: note.to_owned(),
                    }),
                    false => CellKind::Gone,
                };
            });
        }
    }

    fn tool_started(&mut self, event: &Event, tool: &ToolStarted) {
        let at = self.stamp.at;
        let label = escape_hidden(&describe_tool(tool, &self.workspace));
        if let Some(index) = self.calls.get(&tool.item) {
            let (index, state) = (*index, tool.state);
            self.change(index, |kind| {
                if let CellKind::Tool(call) = kind {
                    // A call counts from when its arguments were complete.
                    if state == ToolState::Running
                        && call.input.is_none()
                        && call.live_output.as_str().is_empty()
                    {
                        call.started_at = at;
                    }
                    call.label = label;
                    call.kind = tool.kind;
                    call.input = tool.input.clone().or(call.input.take());
                }
            });
            return;
        }
        if tool.kind == ToolKind::Plan && tool.subject.is_none() {
            // Its cell is that of the to-do list.
            self.quiet_calls.insert(tool.item.clone(), (tool.clone(), at));
            return;
        }
        let cell = ToolCell::new(tool, label, at);
        let index = self.push_event(event, CellKind::Tool(Box::new(cell)));
        self.calls.insert(tool.item.clone(), index);
    }

    fn tool_finished(&mut self, event: &Event, finished: &ToolFinished) {
        let now = self.stamp.at;
        let quiet = self.quiet_calls.remove(&finished.item);
        let index = match (self.calls.get(&finished.item), quiet) {
            (Some(index), _) => *index,
            (None, Some(_)) if finished.status == ToolStatus::Completed => return,
            (None, Some((tool, at))) => {
                let label = escape_hidden(&describe_tool(&tool, &self.workspace));
                self.push_event(event, CellKind::Tool(Box::new(ToolCell::new(&tool, label, at))))
            }
            // It began before the records that are shown.
            (None, None) => {
                let tool = ToolStarted::new(finished.item.clone(), EARLIER_CALL, ToolKind::Other);
                let cell = ToolCell::new(&tool, tool.name.clone(), now);
                self.push_event(event, CellKind::Tool(Box::new(cell)))
            }
        };
        self.change(index, |kind| {
            if let CellKind::Tool(call) = kind {
                let took = milliseconds(call.started_at, now);
                call.end = Some(ToolEnd {
                    call: CallEnd::new(finished, took),
                    finished: Some(Box::new(finished.clone())),
                });
                if !finished.output.is_empty() {
                    call.live_output = super::text_body::TextBody::default();
                }
            }
        });
    }

    fn plan_updated(&mut self, event: &Event, plan: &PlanUpdated) {
        if let Some(index) = self.newest_todo {
            self.change(index, |kind| {
                if let CellKind::Todo(todo) = kind {
                    todo.is_newest = false;
                }
            });
        }
        let todo = TodoCell {
            plan: plan.clone(),
            is_newest: true,
        };
        self.newest_todo = Some(self.push_event(event, CellKind::Todo(todo)));
    }

    fn request(&mut self, event: &Event, id: &RequestId, ask: Ask) {
        let cell = RequestCell {
            ask,
            answer: Answer::default(),
            state: RequestState::Open,
        };
        let index = self.push_event(event, CellKind::Request(Box::new(cell)));
        self.requests.insert(id.clone(), index);
    }

    fn request_closed(&mut self, closed: &RequestClosed) {
        let Some(index) = self.requests.remove(&closed.request) else {
            return;
        };
        let reason = closed.reason;
        self.change(index, |kind| {
            if let CellKind::Request(request) = kind {
                let asked = request.kind();
                request.state = match describe_answer(asked, reason, &request.answer) {
                    Some(text) => RequestState::Closed {
                        text,
                        is_granted: reason == CloseReason::Answered,
                    },
                    None => RequestState::Ended,
                };
            }
        });
    }

    fn retry(&mut self, event: &Event, retry: &Retry) {
        self.end_wait();
        let delay = retry.delay_ms.and_then(|delay| i64::try_from(delay).ok());
        let until = delay.and_then(|delay| {
            let until = self.stamp.at.checked_add(SignedDuration::from_millis(delay));
            until.ok()
        });
        let text = describe_retry(retry);
        let wait = WaitCell {
            what: Wait::Retry { text, until },
            is_over: false,
        };
        self.wait = Some(self.push_event(event, CellKind::Wait(Box::new(wait))));
    }

    fn agent_notice(&mut self, event: &Event, notice: &Notice) {
        let Some((label, text)) = describe_notice(notice) else {
            return;
        };
        let role = match notice.severity {
            Severity::Debug | Severity::Info => Role::Faint,
            Severity::Warning | Severity::Error => Role::Warning,
        };
        self.notice_of(event, role, label, text.to_owned());
    }

    fn error(&mut self, error: &ErrorInfo) {
        // Unreadable lines are counted and reported once.
        if error.class != ErrorClass::Protocol || error.position.is_none() {
            self.error_text(&describe_error(error));
        }
    }

    /// An interrupt is not an error, even if the agent reports one.
    pub(super) fn outcome_error(&mut self, outcome: Option<Outcome>, error: Option<&ErrorInfo>) {
        let is_interrupt = matches!(outcome, Some(Outcome::Interrupted | Outcome::Cancelled));
        if let Some(error) = error.filter(|_| !is_interrupt) {
            self.error(error);
        }
    }

    /// Once if several events report it.
    pub(super) fn error_text(&mut self, text: &str) {
        if let Some(text) = self.shown_errors.news(text) {
            self.notice(Role::Bad, "Error", text);
        }
    }
}

impl RequestCell {
    pub(crate) fn kind(&self) -> RequestKind {
        match self.ask {
            Ask::Permission(_) => RequestKind::Permission,
            Ask::Question(_) => RequestKind::Question,
            Ask::Plan(_) => RequestKind::Plan,
        }
    }
}

/// A clock that was set back gives 0.
pub(super) fn milliseconds(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.duration_since(from).as_millis()).unwrap_or(0)
}
