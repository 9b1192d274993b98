//! `ConversationMachine`: each message is a turn, and in between the run waits for the next one.

use agent_api::{Body, Limit, MessageState, Outcome, SessionChoice, Status, TurnFinished};

use super::effect::{Effect, SpawnPrompt, Timer};
use super::findings::received;
use super::input::{AttemptReport, SendMode};
use super::plan::{ConversationPlan, LimitPolicy, Plan};
use super::queue::QueuedMessage;
use super::state::Work;
use super::stopping::EndCause;
use super::supervisor::{Phase, Process, Supervisor};
use crate::reason::{EndReason, LimitKind};
use crate::record::{MessageAwaited, RunBody};

/// An agent whose process dies is started again by the next message; the second crash in a row ends the run.
const MAX_CRASHES: u32 = 1;

#[derive(Debug)]
pub(super) struct ConversationMachine {
    run: Supervisor,
    plan: ConversationPlan,
    /// No more messages will come: the run ends when all is done.
    closes_when_done: bool,
    /// Crashes in a row, and the last one's message.
    crashes: u32,
    crash_message: Option<String>,
    session_id: Option<String>,
}

impl ConversationMachine {
    pub(super) fn new(mut plan: Plan, conversation: ConversationPlan) -> Self {
        if !conversation.can_resume {
            // The turn is interrupted by ending the process, and with it this conversation.
            plan.limit_policy = LimitPolicy::End;
        }
        Self {
            run: Supervisor::new(plan),
            plan: conversation,
            closes_when_done: false,
            crashes: 0,
            crash_message: None,
            session_id: None,
        }
    }

    fn start_process(&mut self, prompt: SpawnPrompt) {
        if self.run.stops_at_limit() {
            return;
        }
        if self.run.iteration == 0 {
            self.run.begin_iteration();
        }
        let session = match &self.session_id {
            Some(id) => SessionChoice::Resume(id.clone()),
            None => self.run.plan.first_session.clone(),
        };
        self.run.disarm(Timer::Idle);
        self.run.spawn(session, prompt);
    }

    fn start_with(&mut self, message: QueuedMessage) {
        if self.run.budget.exhausted().is_some() {
            // It is sent once the limit is raised.
            self.run.queue.push(message);
            self.run.stops_at_limit();
            return;
        }
        self.run.queue.mark_sent(&message.id);
        self.start_process(SpawnPrompt::Message(message));
    }

    /// There is no process; the next message starts one.
    fn await_message(&mut self) {
        self.run.phase = Phase::Waiting;
        if self.run.stops_at_limit() {
        } else if let Some(message) = self.run.queue.pop() {
            self.start_with(message);
        } else if self.closes_when_done {
            self.end_waiting(None);
        } else {
            let session_id = self.session_id.clone();
            self.run
                .record(RunBody::MessageAwaited(MessageAwaited { session_id }));
            self.arm_idle();
        }
    }

    fn arm_idle(&mut self) {
        self.run.push(Effect::SaveSoon);
        if let Some(timeout) = self.plan.idle_timeout {
            self.run.arm(Timer::Idle, timeout);
        }
    }

    fn on_turn_finished(&mut self, turn: &TurnFinished) {
        if self.run.end_cause.is_some() {
            return;
        }
        self.run.finish_interrupt();
        match turn.outcome {
            Outcome::Succeeded => self.crashes = 0,
            Outcome::LimitReached(limit @ (Limit::Turns | Limit::Budget)) => {
                let kind = match limit {
                    Limit::Turns => LimitKind::Turns,
                    Limit::Budget | Limit::Tokens => LimitKind::Cost,
                };
                let message = turn.error.as_ref().map(|error| error.message.clone());
                self.end_after_exit(EndReason::Limit(kind), message);
            }
            // The user sees what went wrong and decides.
            _ => {}
        }
    }

    /// The agent has done all it was asked to.
    fn on_idle(&mut self) {
        let is_ending = self.run.phase == Phase::Running(Process::Draining);
        // A message that was sent since may still be on its way.
        if !self.run.is_running() || is_ending || self.run.queue.has_in_flight() {
            return;
        }
        if self.run.end_cause.is_some() || self.run.cut_off.is_some() {
            self.run.drain();
            return;
        }
        self.run.finish_interrupt();
        if let Some(message) = self.run.queue.pop() {
            self.run.say(message);
        } else if self.closes_when_done {
            self.end_after_exit(EndReason::Completed, None);
        } else {
            self.run.phase = Phase::Running(Process::Idle);
            self.arm_idle();
        }
    }

    fn on_idle_timeout(&mut self) {
        if self.run.end_cause.is_some() {
            return;
        }
        let message = Some("no message came within the idle timeout".to_owned());
        match self.run.phase {
            Phase::Waiting => self.end_waiting(message),
            Phase::Running(Process::Idle) => self.end_after_exit(EndReason::Completed, message),
            _ => {}
        }
    }

    /// Closes the agent's input and ends the run when it has exited.
    fn end_after_exit(&mut self, reason: EndReason, message: Option<String>) {
        self.run.end_cause = Some(EndCause { reason, message });
        self.run.record_stop(reason);
        self.run.disarm(Timer::Idle);
        self.run.drain();
    }

    /// Ends a run without a process. A run whose agent crashed is not completed by that.
    fn end_waiting(&mut self, message: Option<String>) {
        self.run.disarm(Timer::Idle);
        if self.crashes > 0 {
            let message = self.crash_message.take().or(message);
            self.run.end(EndReason::Crashed, message);
        } else {
            self.run.end(EndReason::Completed, message);
        }
    }

    /// Whether a turn is running or about to start.
    fn is_busy(&self) -> bool {
        self.run.is_running() && self.run.phase != Phase::Running(Process::Idle)
    }

    fn on_session_id(&mut self, id: Option<&String>) {
        if let Some(id) = id {
            self.session_id = Some(id.clone());
        }
    }
}

impl Work for ConversationMachine {
    fn run(&self) -> &Supervisor {
        &self.run
    }

    fn run_mut(&mut self) -> &mut Supervisor {
        &mut self.run
    }

    fn begin(&mut self) {
        if self.plan.has_prompt {
            self.start_process(SpawnPrompt::Task);
        } else {
            self.await_message();
        }
    }

    fn on_event(&mut self, body: &Body) {
        match body {
            Body::TurnStarted(_) => {
                self.run.queue.mark_all_received();
                if self.run.phase == Phase::Running(Process::Idle) {
                    self.run.phase = Phase::Running(Process::Busy);
                    self.run.disarm(Timer::Idle);
                }
            }
            Body::TurnFinished(turn) => {
                self.run.queue.mark_all_received();
                self.run.push(Effect::SaveSoon);
                self.on_turn_finished(turn);
            }
            Body::StatusChanged(changed) if changed.status == Status::Idle => self.on_idle(),
            Body::SessionStarted(session) => self.on_session_id(session.session_id.as_ref()),
            Body::SessionUpdated(session) => self.on_session_id(session.session_id.as_ref()),
            Body::MessageUpdated(message) if message.state != MessageState::Queued => {
                self.run.queue.mark_received(&message.message_id);
            }
            // A refused message is answered under its own id.
            Body::CommandAnswered(answered) if answered.error.is_some() => {
                self.run.queue.mark_received(&answered.command_id);
            }
            _ => {}
        }
    }

    fn on_spawn_failed(&mut self, message: String) {
        self.run.budget.account_mut().end_attempt(Default::default());
        if self.run.end_cause.is_some() {
            self.run.end_by_cause();
        } else {
            self.run.end(EndReason::BackendUnavailable, Some(message));
        }
    }

    fn on_attempt_ended(&mut self, report: &AttemptReport) {
        self.run.close_attempt(report, false);
        self.run.disarm(Timer::Idle);
        if self.run.end_cause.is_some() {
            self.run.end_by_cause();
            return;
        }
        let was_cut_off = self.run.cut_off.take().is_some();
        if self.run.stops_at_limit() {
            return;
        }
        if was_cut_off {
            // The limit was raised while the agent was being interrupted.
            self.await_message();
            return;
        }
        let message = report.error.as_ref().map(|error| error.message.clone());
        let has_crashed = matches!(
            report.outcome,
            Outcome::Crashed | Outcome::NoResult | Outcome::Lost | Outcome::Stalled
        );
        if has_crashed {
            self.crashes += 1;
            self.crash_message.clone_from(&message);
            if self.crashes > MAX_CRASHES || !self.plan.can_resume {
                self.run.end(EndReason::Crashed, message);
                return;
            }
        } else if report.session_id.is_none() {
            // The next message would not change that.
            let reason = self.run.fatal_reason(report.error.as_ref());
            self.run.end(reason.unwrap_or(EndReason::AgentError), message);
            return;
        } else if !self.plan.can_resume {
            let reason = match report.outcome {
                Outcome::Succeeded => EndReason::Completed,
                Outcome::Interrupted | Outcome::Cancelled => EndReason::Interrupted,
                _ => EndReason::AgentError,
            };
            self.run.end(reason, message);
            return;
        }
        self.await_message();
    }

    /// A conversation has no verify commands.
    fn on_verified(&mut self, _is_ok: bool, _summary: String) {}

    fn on_timer(&mut self, timer: Timer) {
        match timer {
            Timer::Idle => self.on_idle_timeout(),
            timer => self.run.on_timer(timer),
        }
    }

    fn on_message(&mut self, message: QueuedMessage) {
        match self.run.phase {
            Phase::Waiting => self.start_with(message),
            Phase::Running(Process::Idle) if self.run.cut_off.is_none() => self.run.say(message),
            Phase::Running(_) if message.mode == SendMode::Steer && self.run.cut_off.is_none() => {
                self.run.say(message);
            }
            _ => self.run.queue.push(message),
        }
    }

    /// Ends the turn; the run continues.
    fn interrupt(&mut self) {
        if self.run.phase == Phase::Running(Process::Busy) && self.run.end_cause.is_none() {
            self.run.interrupt_turn();
        } else if self.run.phase == Phase::AwaitingRaise {
            self.run.interrupt_for(EndReason::Interrupted, None);
        }
    }

    fn interrupt_with(&mut self, message: QueuedMessage) {
        if self.run.phase == Phase::Running(Process::Busy) {
            self.interrupt();
            self.advise_later(message);
        }
    }

    fn advise_later(&mut self, message: QueuedMessage) {
        self.run.record(received(&message));
        self.run.queue.push(message);
    }

    /// Ends the turn; without one, the run.
    fn on_ctrl_c(&mut self) {
        let is_second = self.run.phase == Phase::Running(Process::Interrupting);
        if self.run.end_cause.is_some() || is_second {
            self.run.stop_for(EndReason::Interrupted, None);
            self.run.kill();
        } else if self.is_busy() || self.run.phase == Phase::AwaitingRaise {
            self.interrupt();
        } else {
            self.stop();
        }
    }

    fn stop(&mut self) {
        if self.run.end_cause.is_some() || self.is_busy() || self.run.phase == Phase::AwaitingRaise {
            self.run.stop_for(EndReason::Stopped, None);
        } else if self.run.phase == Phase::Waiting {
            self.end_waiting(None);
        } else {
            self.end_after_exit(EndReason::Completed, None);
        }
    }

    fn close_input(&mut self) {
        self.closes_when_done = true;
        if !self.is_busy() && self.run.end_cause.is_none() {
            self.stop();
        }
    }

    fn takes_messages(&self) -> bool {
        let is_reachable = match self.run.phase {
            Phase::Running(process) => process != Process::Draining,
            Phase::Waiting | Phase::AwaitingRaise => true,
            Phase::New | Phase::Verifying(_) | Phase::Cooling(_) | Phase::Ended => false,
        };
        is_reachable && !self.closes_when_done && self.run.end_cause.is_none()
    }

    fn on_raised(&mut self) {
        // Without an iteration, the prompt was not sent yet.
        match self.run.iteration {
            0 => self.begin(),
            _ => self.await_message(),
        }
    }
}
