//! A conversation instead of a loop: each message is a turn, and in between the run waits.

use agent_api::{ErrorClass, Limit, Outcome, SessionChoice, TurnFinished};

use super::effect::{Effect, Finality, Timer};
use super::input::AttemptReport;
use super::plan::SessionPlan;
use super::queue::QueuedMessage;
use super::state::{Machine, Phase};
use crate::reason::{EndReason, LimitKind};
use crate::record::{MessageAwaited, RunBody};

/// An agent whose process dies is started once more; the second time in a row is enough.
const MOST_CRASHES: u32 = 1;

impl Machine {
    pub(super) fn begin_session(&mut self, session: SessionPlan, effects: &mut Vec<Effect>) {
        if session.has_prompt {
            self.start_process(None, effects);
        } else {
            self.await_message(effects);
        }
    }

    /// Starts the agent with a message, or with the run's prompt.
    fn start_process(&mut self, message: Option<QueuedMessage>, effects: &mut Vec<Effect>) {
        if self.iteration == 0 {
            self.iteration = 1;
            self.has_open_iteration = true;
        }
        let session = match &self.session_id {
            Some(id) => SessionChoice::Resume(id.clone()),
            None => self.plan.first_session.clone(),
        };
        effects.push(Effect::Disarm(Timer::Idle));
        self.start_attempt(session, message, effects);
    }

    /// There is no process, and the next message starts one.
    fn await_message(&mut self, effects: &mut Vec<Effect>) {
        if let Some(message) = self.queue.pop() {
            self.start_process(Some(message), effects);
            return;
        }
        self.phase = Phase::Waiting;
        if self.closes_when_done {
            self.end_waiting(None, effects);
            return;
        }
        let session_id = self.session_id.clone();
        effects.push(Effect::Record(Box::new(RunBody::MessageAwaited(
            MessageAwaited { session_id },
        ))));
        self.become_idle(effects);
    }

    fn become_idle(&mut self, effects: &mut Vec<Effect>) {
        effects.push(Effect::Finality(Finality::Idle));
        if let Some(limit) = self.plan.session.and_then(|session| session.idle_timeout) {
            effects.push(Effect::Arm(Timer::Idle, limit));
        }
    }

    /// Somebody says something.
    pub(super) fn on_session_message(&mut self, message: QueuedMessage, effects: &mut Vec<Effect>) {
        if self.phase == Phase::Waiting {
            self.queue.note_sent(&message.id);
            self.start_process(Some(message), effects);
        } else {
            self.say(message, effects);
        }
    }

    pub(super) fn on_session_turn_finished(&mut self, turn: &TurnFinished, effects: &mut Vec<Effect>) {
        if self.cause.is_some() {
            return;
        }
        if std::mem::take(&mut self.is_interrupting) {
            effects.push(Effect::Disarm(Timer::Grace));
        }
        match turn.outcome {
            Outcome::Succeeded => self.crashes = 0,
            Outcome::LimitReached(limit @ (Limit::Turns | Limit::Budget)) => {
                let kind = match limit {
                    Limit::Turns => LimitKind::Turns,
                    Limit::Budget | Limit::Tokens => LimitKind::Cost,
                };
                let message = turn.error.as_ref().map(|error| error.message.clone());
                self.end_in_order(EndReason::Limit(kind), message, effects);
            }
            // A person sees what went wrong and says what to do.
            _ => {}
        }
    }

    /// All that the agent was asked is done.
    pub(super) fn on_session_idle(&mut self, effects: &mut Vec<Effect>) {
        // What was said since may be on its way still.
        if self.phase != Phase::Running || self.is_draining || !self.in_flight.is_empty() {
            return;
        }
        if self.cause.is_some() {
            self.drain(effects);
        } else if let Some(message) = self.queue.pop() {
            self.say(message, effects);
        } else if self.closes_when_done {
            self.end_in_order(EndReason::Completed, None, effects);
        } else {
            self.is_idle = true;
            self.become_idle(effects);
        }
    }

    pub(super) fn on_idle_for_long(&mut self, effects: &mut Vec<Effect>) {
        if self.cause.is_some() {
            return;
        }
        let resumable = match &self.session_id {
            Some(id) if self.can_resume() => {
                format!("; `ralph run --interactive --resume {id}` goes on with it")
            }
            _ => String::new(),
        };
        let message = format!("nobody said anything for too long{resumable}");
        match self.phase {
            Phase::Waiting => self.end_waiting(Some(message), effects),
            Phase::Running if self.is_idle => {
                self.end_in_order(EndReason::Completed, Some(message), effects);
            }
            _ => {}
        }
    }

    /// Ends the turn; the run goes on.
    pub(super) fn interrupt_turn(&mut self, effects: &mut Vec<Effect>) {
        if self.is_busy() && !self.is_interrupting && self.cause.is_none() {
            self.is_interrupting = true;
            effects.push(Effect::Interrupt);
            effects.push(Effect::Arm(Timer::Grace, self.plan.interrupt_grace));
        }
    }

    /// Ctrl-C: ends the turn, and a session in which there is none.
    pub(super) fn on_session_ctrl_c(&mut self, effects: &mut Vec<Effect>) {
        if self.cause.is_some() || self.is_interrupting {
            self.stop_for(EndReason::Interrupted, None, effects);
            self.kill(effects);
        } else if self.is_busy() {
            self.interrupt_turn(effects);
        } else {
            self.stop_session(effects);
        }
    }

    /// Somebody ends it: in good order where nothing goes on.
    pub(super) fn stop_session(&mut self, effects: &mut Vec<Effect>) {
        if self.cause.is_some() || self.is_busy() {
            self.stop_for(EndReason::Stopped, None, effects);
        } else if self.phase == Phase::Waiting {
            self.end_waiting(None, effects);
        } else {
            self.end_in_order(EndReason::Completed, None, effects);
        }
    }

    /// Nothing more will be said.
    pub(super) fn close_session(&mut self, effects: &mut Vec<Effect>) {
        self.closes_when_done = true;
        if !self.is_busy() && self.cause.is_none() {
            self.stop_session(effects);
        }
    }

    /// The process has ended, and the run has not.
    pub(super) fn on_session_process_ended(&mut self, report: &AttemptReport, effects: &mut Vec<Effect>) {
        effects.push(Effect::Disarm(Timer::Idle));
        self.is_idle = false;
        self.is_interrupting = false;
        self.in_flight.clear();
        if self.cause.is_some() {
            self.end_by_cause(effects);
            return;
        }
        let message = report.error.as_ref().map(|error| error.message.clone());
        let has_crashed = matches!(
            report.outcome,
            Outcome::Crashed | Outcome::NoResult | Outcome::Lost | Outcome::Stalled
        );
        if has_crashed {
            self.crashes += 1;
            self.crash = message.clone();
            if self.crashes > MOST_CRASHES || !self.can_resume() {
                self.end(EndReason::Crashed, message, effects);
                return;
            }
        } else if report.session_id.is_none() {
            // It would not be better with the next message.
            let reason = match report.error.as_ref().map(|error| error.class) {
                Some(ErrorClass::Auth) => EndReason::NotLoggedIn,
                Some(ErrorClass::ModelNotFound) => EndReason::ModelNotFound,
                _ => EndReason::AgentError,
            };
            self.end(reason, message, effects);
            return;
        } else if !self.can_resume() {
            let reason = match report.outcome {
                Outcome::Succeeded => EndReason::Completed,
                Outcome::Interrupted | Outcome::Cancelled => EndReason::Interrupted,
                _ => EndReason::AgentError,
            };
            self.end(reason, message, effects);
            return;
        }
        self.await_message(effects);
    }

    /// Lets the agent leave by itself, and ends the run then.
    fn end_in_order(&mut self, reason: EndReason, message: Option<String>, effects: &mut Vec<Effect>) {
        self.cause = Some((reason, message));
        self.drain(effects);
    }

    pub(super) fn drain(&mut self, effects: &mut Vec<Effect>) {
        self.is_draining = true;
        effects.push(Effect::Disarm(Timer::Idle));
        effects.push(Effect::Finality(Finality::Draining));
        effects.push(Effect::CloseInput);
    }

    /// Ends a run without a process. One whose agent died was not completed by that.
    fn end_waiting(&mut self, message: Option<String>, effects: &mut Vec<Effect>) {
        effects.push(Effect::Disarm(Timer::Idle));
        if self.crashes > 0 {
            let crash = self.crash.take();
            self.end(EndReason::Crashed, crash.or(message), effects);
        } else {
            self.end(EndReason::Completed, message, effects);
        }
    }

    /// Whether a turn goes on, or is about to.
    fn is_busy(&self) -> bool {
        self.phase == Phase::Running && !self.is_idle
    }

    fn can_resume(&self) -> bool {
        self.plan.session.is_some_and(|session| session.can_resume)
    }
}
