//! Ending a run before it is done.

use super::effect::{Effect, Finality, Timer};
use super::state::{Machine, Phase};
use crate::reason::EndReason;
use crate::record::{IterationEnded, IterationOutcome, RunBody, RunEnded, Warned, WarningKind};

impl Machine {
    /// Ends the run after the agent ended its turn in order, if it does so soon.
    pub(super) fn interrupt_for(
        &mut self,
        reason: EndReason,
        message: Option<String>,
        effects: &mut Vec<Effect>,
    ) {
        if !self.is_first_cause(reason, message, effects) || self.phase != Phase::Running {
            return;
        }
        if self.is_idle {
            self.drain(effects);
        } else {
            effects.push(Effect::Interrupt);
            effects.push(Effect::Arm(Timer::Grace, self.plan.interrupt_grace));
        }
    }

    /// Ends the run now; the agent is stopped step by step.
    pub(super) fn stop_for(&mut self, reason: EndReason, message: Option<String>, effects: &mut Vec<Effect>) {
        self.is_first_cause(reason, message, effects);
        if self.phase == Phase::Running {
            // A gentler way may be under way already.
            effects.push(Effect::Disarm(Timer::Grace));
            effects.push(Effect::Stop);
        }
    }

    /// Remembers why; the first reason counts. What does not wait for a process ends at once.
    fn is_first_cause(
        &mut self,
        reason: EndReason,
        message: Option<String>,
        effects: &mut Vec<Effect>,
    ) -> bool {
        if self.cause.is_some() || self.phase == Phase::Ended {
            return false;
        }
        self.cause = Some((reason, message));
        match self.phase {
            Phase::Running | Phase::Ended => {}
            Phase::Verifying(_) => effects.push(Effect::StopVerify),
            Phase::New | Phase::Cooling | Phase::Waiting => self.end_by_cause(effects),
        }
        true
    }

    /// At once, whatever waits.
    pub(super) fn kill(&mut self, effects: &mut Vec<Effect>) {
        match self.phase {
            Phase::Running => effects.push(Effect::Kill),
            Phase::Verifying(_) => effects.push(Effect::StopVerify),
            Phase::New | Phase::Cooling | Phase::Waiting | Phase::Ended => {}
        }
    }

    /// The run is over for the reason that was remembered.
    pub(super) fn end_by_cause(&mut self, effects: &mut Vec<Effect>) {
        if let Some((reason, message)) = self.cause.clone() {
            self.end(reason, message, effects);
        }
    }

    /// The run is over.
    pub(super) fn end(&mut self, reason: EndReason, message: Option<String>, effects: &mut Vec<Effect>) {
        if self.phase == Phase::Ended {
            return;
        }
        if self.has_open_iteration {
            let outcome = match reason {
                EndReason::Completed => IterationOutcome::Completed,
                EndReason::VerifyFailed => IterationOutcome::VerifyFailed,
                EndReason::AgentError
                | EndReason::NotLoggedIn
                | EndReason::ModelNotFound
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
                | EndReason::Lost => IterationOutcome::Ended,
            };
            self.close_iteration(outcome, message.clone(), effects);
        }
        if self.queue.len() > 0 {
            let message = format!("{} queued messages did not reach the agent", self.queue.len());
            effects.push(Effect::Record(Box::new(RunBody::Warned(Warned {
                kind: WarningKind::Degraded,
                message,
            }))));
        }
        self.phase = Phase::Ended;
        effects.push(Effect::Record(Box::new(RunBody::RunEnded(RunEnded {
            reason,
            exit_code: reason.exit_code(),
            message: message.clone(),
            iterations: self.iteration,
            totals: self.run_totals,
        }))));
        effects.push(Effect::Finality(Finality::Ended));
        effects.push(Effect::End { reason, message });
    }

    pub(super) fn close_iteration(
        &mut self,
        outcome: IterationOutcome,
        failure: Option<String>,
        effects: &mut Vec<Effect>,
    ) {
        self.has_open_iteration = false;
        effects.push(Effect::Disarm(Timer::Iteration));
        effects.push(Effect::Record(Box::new(RunBody::IterationEnded(
            IterationEnded {
                number: self.iteration,
                outcome,
                totals: self.iteration_totals,
                failure,
            },
        ))));
    }
}
