//! Ending a run before it is done: why (`EndCause`), and how the process or check that still runs is ended.

use super::effect::{Effect, Timer};
use super::supervisor::{Phase, Process, Supervisor};
use crate::reason::{EndReason, LimitKind};
use crate::record::{IterationEnded, IterationOutcome, RunBody, RunEnded, StopStarted, WarningKind};

#[derive(Debug, Clone)]
pub(super) struct EndCause {
    pub(super) reason: EndReason,
    pub(super) message: Option<String>,
}

impl EndCause {
    /// An answer that completes the work counts although it crossed such a limit.
    pub(super) fn is_budget_limit(&self) -> bool {
        matches!(
            self.reason,
            EndReason::Limit(LimitKind::Cost | LimitKind::Tokens | LimitKind::Turns)
        )
    }
}

impl Supervisor {
    /// Ends the run once the agent has ended its turn; after the grace period it is stopped.
    pub(super) fn interrupt_for(&mut self, reason: EndReason, message: Option<String>) {
        if !self.set_end_cause(reason, message) {
            return;
        }
        match self.phase {
            Phase::Running(Process::Idle) => {
                self.disarm(Timer::Idle);
                self.drain();
            }
            Phase::Running(_) => {
                self.push(Effect::Interrupt);
                self.arm(Timer::Grace, self.plan.interrupt_grace);
            }
            Phase::New
            | Phase::Verifying(_)
            | Phase::Cooling(_)
            | Phase::AwaitingRaise
            | Phase::Waiting
            | Phase::Ended => {}
        }
    }

    /// Ends the run now; the agent is stopped step by step.
    pub(super) fn stop_for(&mut self, reason: EndReason, message: Option<String>) {
        self.set_end_cause(reason, message);
        if self.is_running() {
            // An interrupt may be under way already.
            self.disarm(Timer::Grace);
            self.push(Effect::Stop);
        }
    }

    /// The terminal was closed. A write to it may have failed before the signal arrived, for the same reason.
    pub(super) fn hang_up(&mut self) {
        match &mut self.end_cause {
            Some(cause) if cause.reason == EndReason::OutputClosed => cause.reason = EndReason::HungUp,
            _ => self.stop_for(EndReason::HungUp, None),
        }
    }

    /// Sets why the run ends, unless it is ending already. Where no process has to exit first, the run ends at once.
    /// Returns whether this cause was the first.
    fn set_end_cause(&mut self, reason: EndReason, message: Option<String>) -> bool {
        if self.end_cause.is_some() || self.phase == Phase::Ended {
            return false;
        }
        self.end_cause = Some(EndCause { reason, message });
        match self.phase {
            Phase::Ended => {}
            Phase::Running(_) => self.record_stop(reason),
            Phase::Verifying(_) => {
                self.record_stop(reason);
                self.push(Effect::StopVerify);
            }
            Phase::New | Phase::Cooling(_) | Phase::AwaitingRaise | Phase::Waiting => self.end_by_cause(),
        }
        true
    }

    /// Something still runs and has to end first.
    pub(super) fn record_stop(&mut self, reason: EndReason) {
        self.record(RunBody::StopStarted(StopStarted { reason }));
    }

    pub(super) fn kill(&mut self) {
        match self.phase {
            Phase::Running(_) => self.push(Effect::Kill),
            Phase::Verifying(_) => self.push(Effect::KillVerify),
            Phase::New | Phase::Cooling(_) | Phase::AwaitingRaise | Phase::Waiting | Phase::Ended => {}
        }
    }

    pub(super) fn end_by_cause(&mut self) {
        if let Some(EndCause { reason, message }) = self.end_cause.clone() {
            self.end(reason, message);
        }
    }

    pub(super) fn end(&mut self, reason: EndReason, message: Option<String>) {
        if self.phase == Phase::Ended {
            return;
        }
        let outcome = match reason {
            EndReason::Completed => IterationOutcome::Completed,
            EndReason::VerifyFailed => IterationOutcome::VerifyFailed,
            EndReason::AgentError
            | EndReason::NotLoggedIn
            | EndReason::ModelNotFound
            | EndReason::NoCredit
            | EndReason::PromptTooLong
            | EndReason::BackendUnavailable
            | EndReason::Crashed
            | EndReason::NoResult
            | EndReason::Denied => IterationOutcome::Failed,
            EndReason::Limit(_)
            | EndReason::Interrupted
            | EndReason::Stopped
            | EndReason::Terminated
            | EndReason::HungUp
            | EndReason::OutputClosed
            | EndReason::StorageFailed
            | EndReason::Watchdog
            | EndReason::Lost => IterationOutcome::Ended,
        };
        self.close_iteration(outcome, message.clone());
        let unsent = self.queue.len();
        if unsent > 0 {
            let messages = if unsent == 1 {
                "message was"
            } else {
                "messages were"
            };
            self.warn(
                WarningKind::Degraded,
                format!("{unsent} queued {messages} not sent to the agent"),
            );
        }
        self.phase = Phase::Ended;
        self.push(Effect::End(RunEnded {
            reason: reason.into(),
            exit_code: reason.exit_code(),
            message,
            iterations: self.iteration,
            totals: self.budget.account().totals(),
        }));
    }

    /// Records the end of the iteration, if one is open.
    pub(super) fn close_iteration(&mut self, outcome: IterationOutcome, failure: Option<String>) {
        let Some(totals) = self.open_iteration.take() else {
            return;
        };
        self.disarm(Timer::Iteration);
        self.budget.end_iteration();
        self.record(RunBody::IterationEnded(IterationEnded {
            number: self.iteration,
            outcome: outcome.into(),
            totals,
            failure,
        }));
    }
}
