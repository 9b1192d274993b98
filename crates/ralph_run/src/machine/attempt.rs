//! What follows from how a process ended.

use agent_api::{ErrorClass, Limit, Outcome, SessionChoice};

use super::effect::{Effect, Timer};
use super::input::AttemptReport;
use super::state::{Machine, Phase};
use crate::reason::{EndReason, LimitKind};
use crate::record::{AttemptEnded, IterationOutcome, RunBody};

/// A run whose agent crashes is tried once more, in a new session and with the same prompt.
const MOST_ATTEMPTS: u32 = 2;

impl Machine {
    pub(super) fn on_attempt_ended(&mut self, report: AttemptReport, effects: &mut Vec<Effect>) {
        if self.phase != Phase::Running {
            return;
        }
        effects.push(Effect::Disarm(Timer::Grace));
        for request in self.asks.drain() {
            effects.push(Effect::Disarm(Timer::Ask(request)));
        }
        self.iteration_totals = self.iteration_totals + report.totals;
        self.run_totals = self.run_totals + report.totals;
        let has_crashed = matches!(
            report.outcome,
            Outcome::Crashed | Outcome::NoResult | Outcome::Lost
        );
        let will_retry = has_crashed
            && self.plan.session.is_none()
            && self.cause.is_none()
            && self.attempt < MOST_ATTEMPTS;
        effects.push(Effect::Record(Box::new(RunBody::AttemptEnded(Box::new(
            AttemptEnded {
                outcome: report.outcome,
                error: report.error.clone(),
                exit: report.exit,
                totals: report.totals,
                is_degraded: report.is_degraded,
                session_id: report.session_id.clone(),
                will_retry,
            },
        )))));
        if self.plan.session.is_some() {
            self.on_session_process_ended(&report, effects);
            return;
        }
        if self.is_done_within_limits(&report) {
            self.cause = None;
        }
        if self.cause.is_some() {
            self.end_by_cause(effects);
        } else if will_retry {
            self.start_attempt(SessionChoice::New, None, effects);
        } else {
            self.judge(&report, effects);
        }
    }

    /// A limit that was reached by the very answer that completes the work does not undo it.
    fn is_done_within_limits(&self, report: &AttemptReport) -> bool {
        let is_limit = matches!(
            self.cause,
            Some((
                EndReason::Limit(LimitKind::Cost | LimitKind::Tokens | LimitKind::Turns),
                _
            ))
        );
        is_limit && report.outcome.is_success() && self.is_promised(report)
    }

    fn is_promised(&self, report: &AttemptReport) -> bool {
        let text = report.final_text.as_deref().unwrap_or_default();
        last_line(text) == Some(self.plan.promise.trim())
    }

    fn judge(&mut self, report: &AttemptReport, effects: &mut Vec<Effect>) {
        let message = report.error.as_ref().map(|error| error.message.clone());
        let is_resumed = self.iteration == 1 && self.plan.first_session != SessionChoice::New;
        if is_resumed && report.session_id.is_none() && report.outcome == Outcome::Failed {
            // The next iteration would start without the conversation that was asked for.
            self.end(EndReason::AgentError, message, effects);
            return;
        }
        match report.outcome {
            Outcome::Succeeded => self.on_success(report, effects),
            Outcome::LimitReached(limit) => {
                let kind = match limit {
                    Limit::Turns => LimitKind::Turns,
                    Limit::Budget => LimitKind::Cost,
                    Limit::Tokens => LimitKind::Tokens,
                };
                self.end(EndReason::Limit(kind), message, effects);
            }
            Outcome::Interrupted | Outcome::Cancelled => self.end(EndReason::Interrupted, message, effects),
            Outcome::TimedOut => self.end(EndReason::Limit(LimitKind::IterationTimeout), message, effects),
            Outcome::Failed | Outcome::Refused | Outcome::Stalled => {
                match report.error.as_ref().map(|error| error.class) {
                    Some(ErrorClass::Auth) => self.end(EndReason::NotLoggedIn, message, effects),
                    Some(ErrorClass::ModelNotFound) => self.end(EndReason::ModelNotFound, message, effects),
                    _ => self.on_failure(EndReason::AgentError, message, effects),
                }
            }
            Outcome::Crashed | Outcome::Lost => self.on_failure(EndReason::Crashed, message, effects),
            Outcome::NoResult => self.on_failure(EndReason::NoResult, message, effects),
        }
    }

    fn on_success(&mut self, report: &AttemptReport, effects: &mut Vec<Effect>) {
        self.failures = 0;
        if self.plan.is_once || self.is_promised(report) {
            self.verify_from(0, effects);
        } else {
            self.next_iteration(IterationOutcome::Continues, None, effects);
        }
    }

    fn on_failure(&mut self, reason: EndReason, message: Option<String>, effects: &mut Vec<Effect>) {
        self.failures += 1;
        let limit = self.plan.max_consecutive_failures;
        let is_too_often = limit > 0 && self.failures >= limit;
        if self.plan.is_once || is_too_often || self.is_last_iteration() {
            self.end(reason, message, effects);
        } else {
            let failure = message.unwrap_or_else(|| reason.describe().to_owned());
            self.next_iteration(IterationOutcome::Failed, Some(failure), effects);
        }
    }
}

/// The last line that says something.
fn last_line(text: &str) -> Option<&str> {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty())
}
