//! `LoopMachine`: the same prompt again and again, until the work is done and verified or something ends the run.

use std::time::Duration;

use agent_api::{Body, ErrorClass, Limit, Outcome, SessionChoice, Status};

use super::effect::{Effect, SpawnPrompt, Timer};
use super::input::{AttemptReport, SendMode};
use super::plan::{DenialPolicy, LoopPlan, Plan};
use super::queue::QueuedMessage;
use super::state::Work;
use super::supervisor::{Phase, Process, Supervisor};
use crate::reason::{EndReason, LimitKind};
use crate::record::IterationOutcome;

/// An iteration whose agent crashes is tried once more, in a new session and with the same prompt.
const MAX_ATTEMPTS: u32 = 2;

/// An agent that updates itself is missing for a moment: the next try waits at least this long.
const SPAWN_RETRY_DELAY: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct LoopMachine {
    run: Supervisor,
    plan: LoopPlan,
    /// Failed iterations in a row.
    failures: u32,
    last_failure: Option<String>,
    /// Whether the agent could be started before.
    has_started: bool,
}

impl LoopMachine {
    pub(super) fn new(plan: Plan, loop_plan: LoopPlan) -> Self {
        Self {
            run: Supervisor::new(plan),
            plan: loop_plan,
            failures: 0,
            last_failure: None,
            has_started: false,
        }
    }

    fn start_iteration(&mut self) {
        if self.is_last_iteration() {
            self.run.end(EndReason::Limit(LimitKind::Iterations), None);
            return;
        }
        if self.run.end_if_exhausted() {
            return;
        }
        self.run.begin_iteration();
        if let Some(timeout) = self.plan.iteration_timeout {
            self.run.arm(Timer::Iteration, timeout);
        }
        let session = match self.run.iteration {
            1 => self.run.plan.first_session.clone(),
            _ => SessionChoice::New,
        };
        self.start_attempt(session);
    }

    fn start_attempt(&mut self, session: SessionChoice) {
        if self.run.end_if_exhausted() {
            return;
        }
        let last_failure = self.last_failure.clone();
        self.run.spawn(session, SpawnPrompt::Iteration { last_failure });
    }

    fn is_last_iteration(&self) -> bool {
        self.plan.max_iterations > 0 && self.run.iteration >= self.plan.max_iterations
    }

    fn is_promised(&self, report: &AttemptReport) -> bool {
        let text = report.final_text.as_deref().unwrap_or_default();
        last_line(text) == Some(self.plan.promise.trim())
    }

    fn judge(&mut self, report: &AttemptReport) {
        let message = report.error.as_ref().map(|error| error.message.clone());
        let is_resumed = self.run.iteration == 1 && self.run.plan.first_session != SessionChoice::New;
        if is_resumed && report.session_id.is_none() && report.outcome == Outcome::Failed {
            // The next iteration would start without the session that was asked for.
            self.run.end(EndReason::AgentError, message);
            return;
        }
        match report.outcome {
            Outcome::Succeeded => {
                self.failures = 0;
                if self.plan.is_once || self.is_promised(report) {
                    self.verify_from(0);
                } else {
                    self.next_iteration(IterationOutcome::Continues, None, self.plan.cooldown);
                }
            }
            Outcome::LimitReached(limit) => {
                let kind = match limit {
                    Limit::Turns => LimitKind::Turns,
                    Limit::Budget => LimitKind::Cost,
                    Limit::Tokens => LimitKind::Tokens,
                };
                self.run.end(EndReason::Limit(kind), message);
            }
            Outcome::Interrupted | Outcome::Cancelled => self.run.end(EndReason::Interrupted, message),
            Outcome::TimedOut => {
                self.run
                    .end(EndReason::Limit(LimitKind::IterationTimeout), message);
            }
            Outcome::Crashed | Outcome::Lost => {
                self.on_failure(EndReason::Crashed, message, self.plan.cooldown);
            }
            Outcome::NoResult => self.on_failure(EndReason::NoResult, message, self.plan.cooldown),
            // Failed, refused or stalled, or an outcome that is new in `agent_api`.
            _ => match report.error.as_ref().map(|error| error.class) {
                Some(ErrorClass::Auth) => self.run.end(EndReason::NotLoggedIn, message),
                Some(ErrorClass::ModelNotFound) => self.run.end(EndReason::ModelNotFound, message),
                _ => self.on_failure(EndReason::AgentError, message, self.plan.cooldown),
            },
        }
    }

    fn on_failure(&mut self, reason: EndReason, message: Option<String>, pause: Duration) {
        self.failures += 1;
        let limit = self.plan.max_consecutive_failures;
        let is_too_often = limit > 0 && self.failures >= limit;
        if self.plan.is_once || is_too_often || self.is_last_iteration() {
            self.run.end(reason, message);
        } else {
            let failure = message.unwrap_or_else(|| reason.describe().to_owned());
            self.next_iteration(IterationOutcome::Failed, Some(failure), pause);
        }
    }

    /// The agent says that the work is done: its word is checked.
    fn verify_from(&mut self, index: usize) {
        if index >= self.plan.verify.len() {
            self.run.end(EndReason::Completed, None);
            return;
        }
        self.run.phase = Phase::Verifying(index);
        if index == 0 {
            self.run.push(Effect::SaveSoon);
        }
        self.run.push(Effect::Verify { index });
    }

    /// Ends this iteration; the prompt of the next one says what went wrong.
    fn next_iteration(&mut self, outcome: IterationOutcome, failure: Option<String>, pause: Duration) {
        self.last_failure.clone_from(&failure);
        self.run.close_iteration(outcome, failure);
        if pause.is_zero() || self.is_last_iteration() {
            self.start_iteration();
        } else {
            self.run.phase = Phase::Cooling;
            self.run.arm(Timer::Cooldown, pause);
        }
    }

    fn on_denied(&mut self, tool: &str) {
        if self.plan.denials == DenialPolicy::Fail {
            let message = format!(
                "`{tool}` was denied: choose another `--permission-mode`, allow the tool (`--allowed-tools`, if the \
                 agent has tool lists), or set `denials: continue`"
            );
            self.run.interrupt_for(EndReason::Denied, Some(message));
        }
    }

    /// The agent has done all it was asked to.
    fn on_idle(&mut self) {
        if !self.run.is_running() {
            return;
        }
        let next = match self.run.end_cause {
            None => self.run.queue.pop(),
            Some(_) => None,
        };
        match next {
            Some(message) => self.run.say(message),
            None => self.run.drain(),
        }
    }
}

impl Work for LoopMachine {
    fn run(&self) -> &Supervisor {
        &self.run
    }

    fn run_mut(&mut self) -> &mut Supervisor {
        &mut self.run
    }

    fn begin(&mut self) {
        self.start_iteration();
    }

    fn on_event(&mut self, body: &Body) {
        match body {
            Body::TurnFinished(turn) => {
                self.run.push(Effect::SaveSoon);
                let denied = turn
                    .denials
                    .iter()
                    .find(|denial| !self.run.requests.is_denied_by_user(denial.item.as_ref()));
                if let Some(denial) = denied {
                    self.on_denied(&denial.tool);
                }
            }
            Body::PermissionDenied(denial) if !self.run.requests.is_denied_by_user(denial.item.as_ref()) => {
                self.on_denied(&denial.tool);
            }
            Body::StatusChanged(changed) if changed.status == Status::Idle => self.on_idle(),
            _ => {}
        }
    }

    /// A first start that fails ends the run: the agent is not installed, or cannot do what was asked. Later it is a
    /// failed iteration, because the program may just be replaced by a newer version.
    fn on_spawn_failed(&mut self, message: String) {
        self.run.budget.account_mut().end_attempt(Default::default());
        if self.run.end_cause.is_some() {
            self.run.end_by_cause();
        } else if self.has_started {
            let pause = self.plan.cooldown.max(SPAWN_RETRY_DELAY);
            self.on_failure(EndReason::BackendUnavailable, Some(message), pause);
        } else {
            self.run.end(EndReason::BackendUnavailable, Some(message));
        }
    }

    fn on_attempt_ended(&mut self, report: &AttemptReport) {
        self.has_started = true;
        let is_done = report.outcome.is_success() && (self.plan.is_once || self.is_promised(report));
        // A limit that was crossed by the very answer that completes the work does not undo it.
        if is_done {
            self.run.end_cause.take_if(|cause| cause.is_budget_limit());
        }
        let has_crashed = matches!(
            report.outcome,
            Outcome::Crashed | Outcome::NoResult | Outcome::Lost
        );
        let is_exhausted = self.run.budget.exhausted().is_some();
        let will_retry =
            has_crashed && self.run.end_cause.is_none() && !is_exhausted && self.run.attempt < MAX_ATTEMPTS;
        self.run.close_attempt(report, will_retry);
        if self.run.end_cause.is_some() {
            self.run.end_by_cause();
        } else if is_exhausted && !is_done {
            self.run.end_if_exhausted();
        } else if will_retry {
            self.start_attempt(SessionChoice::New);
        } else {
            self.judge(report);
        }
    }

    fn on_verified(&mut self, is_ok: bool, summary: String) {
        let Phase::Verifying(index) = self.run.phase else {
            return;
        };
        if self.run.end_cause.is_some() {
            self.run.end_by_cause();
        } else if is_ok {
            self.verify_from(index + 1);
        } else if self.run.budget.exhausted().is_some() {
            self.run
                .close_iteration(IterationOutcome::VerifyFailed, Some(summary));
            self.run.end_if_exhausted();
        } else if self.plan.is_once || self.is_last_iteration() {
            self.run.end(EndReason::VerifyFailed, Some(summary));
        } else {
            // Not a failure of the agent: the next iteration's prompt says what is wrong.
            self.failures = 0;
            self.next_iteration(IterationOutcome::VerifyFailed, Some(summary), self.plan.cooldown);
        }
    }

    fn on_timer(&mut self, timer: Timer) {
        match timer {
            Timer::Iteration if self.run.is_running() => {
                self.run
                    .interrupt_for(EndReason::Limit(LimitKind::IterationTimeout), None);
            }
            Timer::Cooldown if self.run.phase == Phase::Cooling => self.start_iteration(),
            timer => self.run.on_timer(timer),
        }
    }

    fn on_message(&mut self, message: QueuedMessage) {
        if message.mode == SendMode::Steer && self.run.is_running() {
            self.run.say(message);
        } else {
            self.run.queue.push(message);
        }
    }

    fn interrupt(&mut self) {
        self.run.interrupt_for(EndReason::Interrupted, None);
    }

    fn on_ctrl_c(&mut self) {
        if self.run.end_cause.is_some() {
            self.run.kill();
        } else {
            self.interrupt();
        }
    }

    fn stop(&mut self) {
        self.run.stop_for(EndReason::Stopped, None);
    }

    /// A loop closes its agent's input itself.
    fn close_input(&mut self) {}

    fn takes_messages(&self) -> bool {
        let is_reachable = self.run.is_running() && self.run.phase != Phase::Running(Process::Draining);
        is_reachable && self.run.end_cause.is_none()
    }
}

/// The last line that is not blank.
fn last_line(text: &str) -> Option<&str> {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty())
}
