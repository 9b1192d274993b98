//! `ActivityTracker`: what the agent is doing, by its events. A part of `RunModel`, which adds open requests.

use agent_api::{Body, Event, ItemId, Part, Status, ToolStarted, ToolState};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::run_state::{RunState, WaitingFor};
use super::text_tail::head_chars;
use crate::open::Open;
use crate::reason::EndReason;
use crate::record::{BudgetAwaited, CooldownCause, RunBody, RunKind};

/// Parallel calls beyond this many push out the oldest.
const MAX_OPEN_CALLS: usize = 64;
const COMMAND_CHARS: usize = 120;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ActivityTracker {
    phase: Phase,
    kind: RunKind,
    is_stopping: bool,
    /// What the model does when it is not waiting for a call.
    is_responding: bool,
    /// Whether the last sign of life came from the model rather than from a call.
    is_model_last: bool,
    /// Calls of the main conversation, newest last. A subagent is shown as the call that started it.
    calls: Vec<OpenCall>,
    /// The agent waits before it asks its model again.
    retry: Option<ScheduledRetry>,
    /// The limit that has to be raised.
    budget: Option<BudgetAwaited>,
    /// The verify command that runs.
    verifying: Option<String>,
}

/// A pause of the agent before it asks its model again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduledRetry {
    pub at: Timestamp,
    pub attempt: Option<u32>,
    pub max_attempts: Option<u32>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    #[default]
    Starting,
    /// The agent is in a turn.
    Turn,
    Verifying,
    Cooling {
        until: Timestamp,
        cause: CooldownCause,
    },
    AwaitingBudget,
    AwaitingMessage,
    Ended(Open<EndReason>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct OpenCall {
    item: ItemId,
    name: String,
    subject: Option<String>,
    #[serde(default)]
    started_at: Option<Timestamp>,
}

impl ActivityTracker {
    /// The state, where `request` is what the oldest open request is about.
    pub(super) fn state(&self, request: Option<WaitingFor>) -> RunState {
        if let Phase::Ended(reason) = &self.phase {
            return RunState::Ended {
                reason: reason.clone(),
            };
        }
        if self.is_stopping {
            return RunState::Stopping;
        }
        if let Some(what) = request {
            return RunState::Waiting { what };
        }
        match &self.phase {
            Phase::Starting | Phase::Ended(_) => RunState::Starting,
            Phase::Turn => self.turn(),
            Phase::Verifying => RunState::Verifying,
            Phase::Cooling { until, cause } => match cause {
                CooldownCause::Pause | CooldownCause::Backoff => RunState::Cooling { until: *until },
                CooldownCause::UsageLimit => RunState::Waiting {
                    what: WaitingFor::Limit { until: *until },
                },
            },
            Phase::AwaitingBudget => RunState::Waiting {
                what: WaitingFor::Budget,
            },
            Phase::AwaitingMessage => RunState::Waiting {
                what: WaitingFor::Message,
            },
        }
    }

    fn turn(&self) -> RunState {
        match self.calls.last().filter(|_| !self.is_model_last) {
            Some(call) => RunState::tool(&call.name, call.subject.as_deref()),
            None if self.is_responding && self.is_model_last => RunState::Responding,
            None => RunState::Thinking,
        }
    }

    /// When the call began that the state shows.
    pub(super) fn call_started_at(&self) -> Option<Timestamp> {
        self.calls.last()?.started_at
    }

    pub(super) fn retry(&self) -> Option<&ScheduledRetry> {
        self.retry.as_ref()
    }

    pub(super) fn budget(&self) -> Option<&BudgetAwaited> {
        self.budget.as_ref()
    }

    pub(super) fn verifying(&self) -> Option<&str> {
        self.verifying.as_deref()
    }

    pub(super) fn on_run(&mut self, body: &RunBody) {
        match body {
            RunBody::RunStarted(started) => {
                self.kind = started.kind.known().copied().unwrap_or_default();
                self.set_phase(Phase::Starting);
            }
            RunBody::IterationStarted(_) | RunBody::AttemptStarted(_) => {
                self.is_stopping = false;
                self.set_phase(Phase::Starting);
            }
            RunBody::AttemptEnded(_) | RunBody::IterationEnded(_) => self.set_phase(Phase::Starting),
            // An answer that crossed a limit and is done is verified after all.
            RunBody::VerifyStarted(started) => {
                self.is_stopping = false;
                self.set_phase(Phase::Verifying);
                self.verifying = Some(head_chars(&started.command, COMMAND_CHARS).to_owned());
            }
            RunBody::VerifyFinished(_) => self.set_phase(Phase::Verifying),
            RunBody::CooldownStarted(cooldown) => self.set_phase(Phase::Cooling {
                until: cooldown.until,
                cause: cooldown.cause,
            }),
            RunBody::BudgetAwaited(awaited) => {
                self.is_stopping = false;
                self.set_phase(Phase::AwaitingBudget);
                self.budget = Some(awaited.clone());
            }
            RunBody::LimitRaised(_) if self.phase == Phase::AwaitingBudget => self.set_phase(Phase::Starting),
            RunBody::MessageAwaited(_) => self.set_phase(Phase::AwaitingMessage),
            RunBody::MessageSent(_) if self.phase == Phase::AwaitingMessage => self.model(false),
            RunBody::StopStarted(_) => self.is_stopping = true,
            RunBody::CommandReceived(received) if received.refused.is_none() => {
                self.is_stopping |= match received.command.as_str() {
                    "stop" | "kill" => true,
                    // It ends a loop, but only the turn of a conversation.
                    "interrupt" => self.kind == RunKind::Loop,
                    _ => false,
                };
            }
            RunBody::RunEnded(ended) => self.set_phase(Phase::Ended(ended.reason.clone())),
            RunBody::CommandReceived(_)
            | RunBody::MessageSent(_)
            | RunBody::Warned(_)
            | RunBody::LimitRaised(_)
            | RunBody::SessionForked(_)
            | RunBody::Suspended(_)
            | RunBody::Continued(_) => {}
        }
    }

    /// A process or a phase of the run ended: with it end its calls.
    fn set_phase(&mut self, phase: Phase) {
        self.phase = phase;
        self.calls.clear();
        self.is_model_last = false;
        self.retry = None;
        self.budget = None;
        self.verifying = None;
    }

    pub(super) fn on_agent(&mut self, event: &Event, at: Timestamp) {
        self.note_retry(event, at);
        match &event.body {
            // A permission request can have shown a subagent's call.
            Body::ToolFinished(finished) => self.remove(&finished.item),
            Body::ItemDiscarded(discarded) => self.remove(&discarded.item),
            Body::PermissionDenied(denial) => {
                if let Some(item) = &denial.item {
                    self.remove(item);
                }
            }
            _ if event.parent.is_some() => {}
            Body::Delta(delta) => self.on_delta(delta.part),
            Body::TurnStarted(_) => {
                self.calls.clear();
                self.model(false);
            }
            Body::TurnFinished(_) => self.calls.clear(),
            Body::ThinkingBlock(_) => self.model(false),
            Body::TextBlock(_) => self.model(true),
            Body::ToolStarted(tool) => self.on_tool_started(tool, at),
            Body::ToolProgressed(progress) => self.focus(&progress.item),
            Body::StatusChanged(changed) => match changed.status {
                // An idle agent of a loop is about to end; that of a conversation waits.
                Status::Idle if self.kind == RunKind::Session => self.set_phase(Phase::AwaitingMessage),
                // While a call is open, it is a subagent that asks its model.
                Status::Requesting | Status::Thinking | Status::Compacting if self.calls.is_empty() => {
                    self.model(false);
                }
                Status::Idle
                | Status::Requesting
                | Status::Thinking
                | Status::Compacting
                | Status::Running
                | Status::Waiting => {}
            },
            _ => {}
        }
    }

    /// A piece of a text of the main conversation.
    pub(super) fn on_delta(&mut self, part: Part) {
        self.retry = None;
        match part {
            Part::Thinking => self.model(false),
            Part::Text | Part::ToolInput => self.model(true),
            Part::ToolOutput => {}
        }
    }

    /// The agent has its answer: the model works with it before it writes.
    pub(super) fn on_request_closed(&mut self) {
        self.is_responding = false;
    }

    /// A request was granted: the call that it is about runs now. Some agents report the call only here.
    pub(super) fn on_granted(
        &mut self,
        item: Option<&ItemId>,
        name: &str,
        subject: Option<&str>,
        at: Timestamp,
    ) {
        let Some(item) = item else { return };
        match self.calls.iter_mut().find(|call| call.item == *item) {
            // The time that it waited is not the call's.
            Some(call) => call.started_at = Some(at),
            None => self.push(item, name, subject, at),
        }
        self.phase = Phase::Turn;
        self.focus(item);
    }

    fn model(&mut self, is_responding: bool) {
        self.phase = Phase::Turn;
        self.is_responding = is_responding;
        self.is_model_last = true;
    }

    fn on_tool_started(&mut self, tool: &ToolStarted, at: Timestamp) {
        if tool.state == ToolState::Preparing {
            return self.model(true);
        }
        self.phase = Phase::Turn;
        match self.calls.iter_mut().find(|call| call.item == tool.item) {
            Some(call) => {
                call.name.clone_from(&tool.name);
                call.subject.clone_from(&tool.subject);
            }
            None => {
                self.push(&tool.item, &tool.name, tool.subject.as_deref(), at);
                self.is_model_last = false;
            }
        }
    }

    fn push(&mut self, item: &ItemId, name: &str, subject: Option<&str>, at: Timestamp) {
        if self.calls.len() == MAX_OPEN_CALLS {
            self.calls.remove(0);
        }
        let RunState::Tool { name, subject } = RunState::tool(name, subject) else {
            return;
        };
        self.calls.push(OpenCall {
            item: item.clone(),
            name,
            subject,
            started_at: Some(at),
        });
    }

    /// Anything that the main conversation does ends a pause.
    fn note_retry(&mut self, event: &Event, at: Timestamp) {
        if let Body::RetryScheduled(retry) = &event.body {
            let delay = SignedDuration::from_millis(i64::try_from(retry.delay_ms.unwrap_or(0)).unwrap_or(0));
            self.retry = at.checked_add(delay).ok().map(|at| ScheduledRetry {
                at,
                attempt: retry.attempt,
                max_attempts: retry.max_attempts,
            });
        } else if matches!(
            event.body,
            Body::Delta(_)
                | Body::TextBlock(_)
                | Body::ThinkingBlock(_)
                | Body::ToolStarted(_)
                | Body::TurnFinished(_)
        ) {
            self.retry = None;
        }
    }

    fn focus(&mut self, item: &ItemId) {
        if let Some(index) = self.calls.iter().position(|call| call.item == *item) {
            let call = self.calls.remove(index);
            self.calls.push(call);
            self.is_model_last = false;
        }
    }

    fn remove(&mut self, item: &ItemId) {
        self.calls.retain(|call| call.item != *item);
    }
}
