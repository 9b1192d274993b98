//! From one iteration to the next.

use agent_api::SessionChoice;

use super::effect::{Effect, Finality, Timer};
use super::queue::QueuedMessage;
use super::state::{Machine, Phase};
use crate::reason::{EndReason, LimitKind};
use crate::record::{IterationOutcome, Totals};

impl Machine {
    pub(super) fn start_iteration(&mut self, effects: &mut Vec<Effect>) {
        let limit = self.plan.max_iterations;
        if limit > 0 && self.iteration >= limit {
            self.end(EndReason::Limit(LimitKind::Iterations), None, effects);
            return;
        }
        self.iteration += 1;
        self.attempt = 0;
        self.has_open_iteration = true;
        self.iteration_totals = Totals::default();
        if let Some(limit) = self.plan.iteration_timeout {
            effects.push(Effect::Arm(Timer::Iteration, limit));
        }
        let session = if self.iteration == 1 {
            self.plan.first_session.clone()
        } else {
            SessionChoice::New
        };
        self.start_attempt(session, None, effects);
    }

    pub(super) fn start_attempt(
        &mut self,
        session: SessionChoice,
        message: Option<QueuedMessage>,
        effects: &mut Vec<Effect>,
    ) {
        self.attempt += 1;
        self.phase = Phase::Running;
        self.is_draining = false;
        self.asks.clear();
        self.asked_items.clear();
        effects.push(Effect::Finality(Finality::Starting));
        effects.push(Effect::Spawn {
            iteration: self.iteration,
            attempt: self.attempt,
            session,
            last_failure: self.last_failure.clone(),
            message,
        });
    }

    /// The agent says that the work is done: that is verified, not believed.
    pub(super) fn verify_from(&mut self, index: usize, effects: &mut Vec<Effect>) {
        if index < self.plan.verify.len() {
            self.phase = Phase::Verifying(index);
            if index == 0 {
                effects.push(Effect::Finality(Finality::Verifying));
            }
            effects.push(Effect::Verify { index });
        } else {
            self.end(EndReason::Completed, None, effects);
        }
    }

    pub(super) fn on_verified(&mut self, is_ok: bool, summary: String, effects: &mut Vec<Effect>) {
        let Phase::Verifying(index) = self.phase else {
            return;
        };
        if self.cause.is_some() {
            self.end_by_cause(effects);
        } else if is_ok {
            self.verify_from(index + 1, effects);
        } else if self.plan.is_once || self.is_last_iteration() {
            self.end(EndReason::VerifyFailed, Some(summary), effects);
        } else {
            // The agent did what it could: it is told what is wrong, and has not failed.
            self.failures = 0;
            self.next_iteration(IterationOutcome::VerifyFailed, Some(summary), effects);
        }
    }

    pub(super) fn is_last_iteration(&self) -> bool {
        self.plan.max_iterations > 0 && self.iteration >= self.plan.max_iterations
    }

    /// Ends this iteration; the next one starts with what went wrong.
    pub(super) fn next_iteration(
        &mut self,
        outcome: IterationOutcome,
        failure: Option<String>,
        effects: &mut Vec<Effect>,
    ) {
        self.last_failure.clone_from(&failure);
        self.close_iteration(outcome, failure, effects);
        if self.plan.cooldown.is_zero() || self.is_last_iteration() {
            self.start_iteration(effects);
        } else {
            self.phase = Phase::Cooling;
            effects.push(Effect::Finality(Finality::Cooling));
            effects.push(Effect::Arm(Timer::Cooldown, self.plan.cooldown));
        }
    }
}
