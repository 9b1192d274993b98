//! The machine and its inputs.

use std::collections::HashSet;

use agent_api::{Body, ItemId, MessageState, RequestId, Status};

use super::effect::{Effect, Finality, Timer};
use super::input::{Input, RunCommand, SendMode, Signal};
use super::plan::{DenialPolicy, Plan};
use super::queue::{MessagePlace, Queue, QueuedMessage};
use crate::reason::{EndReason, LimitKind};
use crate::record::{MessageSent, RunBody, Totals};

/// The loop. One input at a time; all effects of one are carried out, in order, before the next.
#[derive(Debug)]
pub struct Machine {
    pub(super) plan: Plan,
    pub(super) phase: Phase,
    pub(super) iteration: u32,
    pub(super) attempt: u32,
    /// Failed iterations in a row.
    pub(super) failures: u32,
    /// Why we end the run, once we do.
    pub(super) cause: Option<(EndReason, Option<String>)>,
    /// The agent's input was ended: it hears nothing more.
    pub(super) is_draining: bool,
    pub(super) last_failure: Option<String>,
    /// An iteration has begun and not ended.
    pub(super) has_open_iteration: bool,
    /// Messages for after the turn.
    pub(super) queue: Queue,
    /// Messages that the agent was given and has not shown any sign of.
    pub(super) in_flight: HashSet<String>,
    /// The agent of a session is there and waits for a message.
    pub(super) is_idle: bool,
    /// The turn of a session is being ended.
    pub(super) is_interrupting: bool,
    /// A session ends when all is done.
    pub(super) closes_when_done: bool,
    /// How often in a row a session's process died, and what was said of it.
    pub(super) crashes: u32,
    pub(super) crash: Option<String>,
    /// The agent's conversation.
    pub(super) session_id: Option<String>,
    pub(super) asks: HashSet<RequestId>,
    /// Calls that a person denied: they are no denials.
    pub(super) denied_by_person: HashSet<ItemId>,
    /// Which call a request is about.
    pub(super) asked_items: Vec<(RequestId, ItemId)>,
    pub(super) run_totals: Totals,
    pub(super) iteration_totals: Totals,
}

/// What the machine waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    New,
    /// The agent's process.
    Running,
    /// A verify command.
    Verifying(usize),
    /// The pause between iterations.
    Cooling,
    /// A message, which starts a process.
    Waiting,
    Ended,
}

impl Machine {
    /// A run that has not begun.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            phase: Phase::New,
            iteration: 0,
            attempt: 0,
            failures: 0,
            cause: None,
            is_draining: false,
            last_failure: None,
            has_open_iteration: false,
            queue: Queue::default(),
            in_flight: HashSet::new(),
            is_idle: false,
            is_interrupting: false,
            closes_when_done: false,
            crashes: 0,
            crash: None,
            session_id: None,
            asks: HashSet::new(),
            denied_by_person: HashSet::new(),
            asked_items: Vec::new(),
            run_totals: Totals::default(),
            iteration_totals: Totals::default(),
        }
    }

    /// What follows from an input.
    pub fn step(&mut self, input: Input<'_>) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.phase == Phase::Ended {
            return effects;
        }
        match input {
            Input::Begin => {
                if let Some(limit) = self.plan.max_runtime {
                    effects.push(Effect::Arm(Timer::Runtime, limit));
                }
                match self.plan.session {
                    Some(session) => self.begin_session(session, &mut effects),
                    None => self.start_iteration(&mut effects),
                }
            }
            Input::Event(event) => self.on_event(&event.body, &mut effects),
            Input::NotStarted(failure) => {
                self.end(failure.reason, Some(failure.message), &mut effects);
            }
            Input::AttemptEnded(report) => self.on_attempt_ended(report, &mut effects),
            Input::Verified { is_ok, summary } => self.on_verified(is_ok, summary, &mut effects),
            Input::Timer(timer) => self.on_timer(timer, &mut effects),
            Input::Limit(limit) => self.interrupt_for(EndReason::Limit(limit), None, &mut effects),
            Input::Command(command) => self.on_command(command, &mut effects),
            Input::Signal(signal) => self.on_signal(signal, &mut effects),
            Input::OutputClosed => self.stop_for(EndReason::OutputClosed, None, &mut effects),
            Input::StorageFailed => self.stop_for(EndReason::StorageFailed, None, &mut effects),
        }
        effects
    }

    /// Whether the run is over.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.phase == Phase::Ended
    }

    /// Whether a message would still reach the agent.
    #[must_use]
    pub fn takes_messages(&self) -> bool {
        let is_reachable = match self.phase {
            Phase::Running => !self.is_draining,
            Phase::Waiting => true,
            Phase::New | Phase::Verifying(_) | Phase::Cooling | Phase::Ended => false,
        };
        is_reachable && !self.closes_when_done && self.cause.is_none()
    }

    /// Whether a session has nothing to do and waits for a message.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.is_idle || self.phase == Phase::Waiting
    }

    /// Which prompt of the loop, and which process of it.
    #[must_use]
    pub fn position(&self) -> (u32, u32) {
        (self.iteration, self.attempt)
    }

    /// What the run cost and used so far, by the processes that have ended.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.run_totals
    }

    /// Messages that wait for the end of the turn, in order.
    pub fn queued(&self) -> impl Iterator<Item = &QueuedMessage> {
        self.queue.iter()
    }

    /// Whether no more messages can wait.
    #[must_use]
    pub fn is_queue_full(&self) -> bool {
        self.queue.is_full()
    }

    /// Where a message is.
    #[must_use]
    pub fn place_of(&self, message_id: &str) -> MessagePlace {
        self.queue.place_of(message_id)
    }

    fn on_event(&mut self, body: &Body, effects: &mut Vec<Effect>) {
        match body {
            Body::TurnStarted(_) => {
                self.in_flight.clear();
                if std::mem::take(&mut self.is_idle) {
                    effects.push(Effect::Disarm(Timer::Idle));
                }
                effects.push(Effect::Finality(Finality::Running));
            }
            Body::TurnFinished(turn) => {
                self.in_flight.clear();
                effects.push(Effect::Finality(Finality::ResultSeen));
                if self.plan.session.is_some() {
                    self.on_session_turn_finished(turn, effects);
                    return;
                }
                let denial = turn
                    .denials
                    .iter()
                    .find(|denial| !self.is_persons(denial.item.as_ref()));
                if let Some(denial) = denial {
                    let tool = denial.tool.clone();
                    self.on_denied(&tool, effects);
                }
            }
            Body::PermissionDenied(denial) if !self.is_persons(denial.item.as_ref()) => {
                self.on_denied(&denial.tool, effects);
            }
            Body::StatusChanged(changed) if changed.status == Status::Idle => self.on_idle(effects),
            Body::SessionStarted(session) => self.on_session_id(session.session_id.as_ref()),
            Body::SessionUpdated(session) => self.on_session_id(session.session_id.as_ref()),
            Body::MessageUpdated(message) if message.state != MessageState::Queued => {
                self.in_flight.remove(&message.message_id);
            }
            // Messages are answered under their own ids where they are refused.
            Body::CommandAnswered(answered) if answered.error.is_some() => {
                self.in_flight.remove(&answered.command_id);
            }
            Body::PermissionRequested(asked) => self.on_asked(&asked.request, asked.item.as_ref(), effects),
            Body::QuestionAsked(asked) => self.on_asked(&asked.request, asked.item.as_ref(), effects),
            Body::PlanProposed(asked) => self.on_asked(&asked.request, asked.item.as_ref(), effects),
            Body::RequestClosed(closed) => self.on_closed(&closed.request, effects),
            _ => {}
        }
    }

    fn on_session_id(&mut self, id: Option<&String>) {
        if let Some(id) = id {
            self.session_id = Some(id.clone());
        }
    }

    /// All that the agent was asked is done.
    fn on_idle(&mut self, effects: &mut Vec<Effect>) {
        if self.plan.session.is_some() {
            self.on_session_idle(effects);
            return;
        }
        if self.phase != Phase::Running {
            return;
        }
        let next = if self.cause.is_none() {
            self.queue.pop()
        } else {
            None
        };
        match next {
            Some(message) => self.say(message, effects),
            None => {
                self.is_draining = true;
                effects.push(Effect::Finality(Finality::Draining));
                effects.push(Effect::CloseInput);
            }
        }
    }

    /// Gives the agent a message, which can be changed no more.
    pub(super) fn say(&mut self, message: QueuedMessage, effects: &mut Vec<Effect>) {
        let QueuedMessage { id, text, .. } = message;
        self.queue.note_sent(&id);
        self.in_flight.insert(id.clone());
        if std::mem::take(&mut self.is_idle) {
            effects.push(Effect::Disarm(Timer::Idle));
            effects.push(Effect::Finality(Finality::Running));
        }
        effects.push(Effect::Record(Box::new(RunBody::MessageSent(MessageSent {
            message_id: id.clone(),
        }))));
        effects.push(Effect::Say { id, text });
    }

    fn on_denied(&mut self, tool: &str, effects: &mut Vec<Effect>) {
        if self.plan.session.is_none() && self.plan.denials == DenialPolicy::Fail {
            let message = format!(
                "`{tool}` was not allowed: allow it (`--allowed-tools`), choose another `--permission-mode`, or set `denials: continue`"
            );
            self.interrupt_for(EndReason::Denied, Some(message), effects);
        }
    }

    fn on_command(&mut self, command: RunCommand, effects: &mut Vec<Effect>) {
        match command {
            RunCommand::Send { id, text, mode } => {
                let message = QueuedMessage { id, text, mode };
                if self.plan.session.is_some() && self.is_idle() {
                    self.on_session_message(message, effects);
                } else if mode == SendMode::Steer && self.phase == Phase::Running {
                    self.say(message, effects);
                } else {
                    self.queue.push(message);
                }
            }
            RunCommand::EditMessage { id, text } => self.queue.edit(&id, text),
            RunCommand::WithdrawMessage { id } => self.queue.withdraw(&id),
            RunCommand::Answer { request, answer } => self.on_answer(request, answer, effects),
            RunCommand::CloseInput if self.plan.session.is_some() => self.close_session(effects),
            // A loop ends its agent's input by itself.
            RunCommand::CloseInput => {}
            RunCommand::Interrupt if self.plan.session.is_some() => self.interrupt_turn(effects),
            RunCommand::Interrupt => self.interrupt_for(EndReason::Interrupted, None, effects),
            RunCommand::Stop if self.plan.session.is_some() => self.stop_session(effects),
            RunCommand::Stop => self.stop_for(EndReason::Stopped, None, effects),
            RunCommand::Kill => {
                self.stop_for(EndReason::Stopped, None, effects);
                self.kill(effects);
            }
            RunCommand::SetModel(model) => effects.push(Effect::SetModel(model)),
            RunCommand::SetPermissionMode(mode) => effects.push(Effect::SetPermissionMode(mode)),
        }
    }

    fn on_signal(&mut self, signal: Signal, effects: &mut Vec<Effect>) {
        match signal {
            Signal::Interrupt if self.plan.session.is_some() => self.on_session_ctrl_c(effects),
            // The second time, or after anything else that ends the run already.
            Signal::Interrupt if self.cause.is_some() => self.kill(effects),
            Signal::Interrupt => self.interrupt_for(EndReason::Interrupted, None, effects),
            Signal::Terminate => self.stop_for(EndReason::Terminated, None, effects),
            Signal::HangUp => self.stop_for(EndReason::HungUp, None, effects),
        }
    }

    fn on_timer(&mut self, timer: Timer, effects: &mut Vec<Effect>) {
        match timer {
            Timer::Runtime => self.interrupt_for(EndReason::Limit(LimitKind::Runtime), None, effects),
            Timer::Iteration if self.phase == Phase::Running => {
                self.interrupt_for(EndReason::Limit(LimitKind::IterationTimeout), None, effects);
            }
            Timer::Iteration => {}
            Timer::Cooldown if self.phase == Phase::Cooling => self.start_iteration(effects),
            Timer::Cooldown => {}
            Timer::Grace if self.phase == Phase::Running => effects.push(Effect::Stop),
            Timer::Grace => {}
            Timer::Ask(request) => self.on_unanswered(request, effects),
            Timer::Idle => self.on_idle_for_long(effects),
        }
    }
}
