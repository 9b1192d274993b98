//! `LoopMachine`: the same prompt again and again, until the work is done and verified or something ends the run.

use std::time::Duration;

use agent_api::{Body, ErrorClass, Limit, Outcome, SessionChoice, Status};
use jiff::Timestamp;

use super::effect::{Effect, SpawnPrompt, Timer};
use super::input::{AttemptReport, SendMode};
use super::limits::after;
use super::plan::{DenialPolicy, LimitPolicy, LoopPlan, Plan, RolePlan};
use super::queue::QueuedMessage;
use super::role_turns::RoleTurns;
use super::state::Work;
use super::stopping::EndCause;
use super::supervisor::{Phase, Process, Supervisor};
use super::usage_limit::with_jitter;
use crate::budget::friendly_duration;
use crate::reason::{EndReason, LimitKind};
use crate::record::{CooldownCause, CooldownStarted, IterationOutcome};

/// An iteration whose agent crashes is tried once more, in a new session and with the same prompt.
const MAX_CRASHES: u32 = 2;

/// How long to wait after the first, second and later failures in a row that may pass by themselves.
const BACKOFFS: [Duration; 3] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(120),
];

/// An agent that updates itself is missing for a moment: the next try waits at least this long.
const SPAWN_RETRY_DELAY: Duration = BACKOFFS[0];

/// What precedes the next iteration.
#[derive(Debug, Clone, Copy)]
struct Pause {
    cause: CooldownCause,
    duration: Duration,
}

#[derive(Debug)]
pub(super) struct LoopMachine {
    run: Supervisor,
    plan: LoopPlan,
    /// Failed iterations in a row.
    failures: u32,
    /// Those among them that may pass by themselves.
    backoffs: u32,
    /// Crashes in this iteration.
    crashes: u32,
    last_failure: Option<String>,
    /// Whether the agent could be started before.
    has_started: bool,
    turns: RoleTurns,
    /// What the watchdog tells the agent once the interrupted turn has ended. If the process ends first, the next
    /// iteration gets it.
    advice: Option<QueuedMessage>,
    /// What the watchdog tells the next iteration.
    next_advice: Option<String>,
}

impl LoopMachine {
    pub(super) fn new(plan: Plan, loop_plan: LoopPlan) -> Self {
        Self {
            run: Supervisor::new(plan),
            turns: RoleTurns::new(loop_plan.roles.clone()),
            plan: loop_plan,
            failures: 0,
            backoffs: 0,
            crashes: 0,
            last_failure: None,
            has_started: false,
            advice: None,
            next_advice: None,
        }
    }

    fn start_iteration(&mut self) {
        if self.run.stops_at_limit() {
            return;
        }
        self.run.begin_iteration();
        self.crashes = 0;
        self.repeat_iteration();
    }

    /// The first attempt, or another one after a wait for a usage limit.
    fn repeat_iteration(&mut self) {
        if let Some(timeout) = self.plan.iteration_timeout {
            self.run.arm(Timer::Iteration, timeout);
        }
        let session = match self.run.iteration {
            1 => self.run.plan.first_session.clone(),
            _ => self.turns.session(),
        };
        if let Some(RolePlan { name, model, .. }) = self.turns.current() {
            self.run.role = Some(name.clone());
            self.run
                .budget
                .account_mut()
                .set_requested_model(model.as_deref());
        }
        self.start_attempt(session);
    }

    fn start_attempt(&mut self, session: SessionChoice) {
        if self.run.stops_at_limit() {
            return;
        }
        // Further attempts of the iteration are told as well.
        self.last_failure = join(self.last_failure.take(), self.next_advice.take());
        let prompt = SpawnPrompt::Iteration {
            last_failure: self.last_failure.clone(),
            handover: self.turns.handover(),
        };
        self.run.spawn(session, prompt);
    }

    fn is_last_iteration(&self) -> bool {
        self.run.budget.is_last_iteration(self.run.iteration)
    }

    fn is_promised(&self, report: &AttemptReport) -> bool {
        let text = report.final_text.as_deref().unwrap_or_default();
        last_line(text) == Some(self.plan.promise.trim())
    }

    fn judge(&mut self, report: &AttemptReport) {
        let message = report.error.as_ref().map(|error| error.message.clone());
        let reset = self.run.usage_limit.reset_of(report, self.run.now.at);
        if let Some(reset) = reset {
            if self.run.has_used_tool {
                // It has worked since the last wait, so `max_wait` counts from here.
                self.run.usage_limit.clear();
            }
            self.run.wait_for_reset(reset);
            return;
        }
        self.run.usage_limit.clear();
        let is_resumed = self.run.iteration == 1 && self.run.plan.first_session != SessionChoice::New;
        if is_resumed && report.session_id.is_none() && report.outcome == Outcome::Failed {
            // The next iteration would start without the session that was asked for.
            self.run.end(EndReason::AgentError, message);
            return;
        }
        match report.outcome {
            Outcome::Succeeded if !has_text(report) => {
                let message = "the agent reported success without a single word".to_owned();
                self.on_failure(EndReason::AgentError, Some(message), self.pause());
            }
            Outcome::Succeeded => {
                self.pass_on(report);
                if self.plan.is_once || self.is_promised(report) {
                    self.verify_from(0);
                } else {
                    self.next_iteration(IterationOutcome::Continues, None, self.pause());
                }
            }
            // Vendors report a context that is full as a limit or as a failure.
            Outcome::LimitReached(limit)
                if report.error.as_ref().map(|error| error.class) != Some(ErrorClass::ContextWindow) =>
            {
                let kind = match limit {
                    Limit::Turns => LimitKind::Turns,
                    Limit::Budget => LimitKind::Cost,
                    Limit::Tokens => LimitKind::Tokens,
                };
                self.run.end(EndReason::Limit(kind), message);
            }
            Outcome::Interrupted | Outcome::Cancelled => self.run.end(EndReason::Interrupted, message),
            Outcome::TimedOut => self.on_iteration_timeout(message),
            Outcome::Crashed | Outcome::Lost => self.on_failure(EndReason::Crashed, message, self.pause()),
            Outcome::NoResult => self.on_failure(EndReason::NoResult, message, self.pause()),
            // Failed, refused or stalled, or an outcome that is new in `agent_api`.
            _ => match self.run.fatal_reason(report.error.as_ref()) {
                Some(reason) => self.run.end(reason, message),
                None => {
                    let is_retryable = report.error.as_ref().is_some_and(|error| error.is_retryable);
                    let pause = if is_retryable {
                        self.backoff()
                    } else {
                        self.pause()
                    };
                    self.on_failure(EndReason::AgentError, message, pause);
                }
            },
        }
    }

    /// The pause between iterations that the user wants.
    fn pause(&self) -> Pause {
        Pause {
            cause: CooldownCause::Pause,
            duration: self.plan.cooldown,
        }
    }

    /// The pause after a failure that may pass by itself.
    fn backoff(&mut self) -> Pause {
        let last = BACKOFFS.len() - 1;
        let index = usize::try_from(self.backoffs).unwrap_or(last).min(last);
        self.backoffs = self.backoffs.saturating_add(1);
        self.backoff_for(with_jitter(BACKOFFS[index], self.run.now))
    }

    fn backoff_for(&self, duration: Duration) -> Pause {
        Pause {
            cause: CooldownCause::Backoff,
            duration: duration.max(self.plan.cooldown),
        }
    }

    fn on_failure(&mut self, reason: EndReason, message: Option<String>, pause: Pause) {
        let failure = message.clone().unwrap_or_else(|| reason.describe().to_owned());
        self.fail(
            IterationOutcome::Failed,
            EndCause { reason, message },
            failure,
            pause,
        );
    }

    /// The iteration took too long. It counts as failed.
    fn on_iteration_timeout(&mut self, message: Option<String>) {
        let failure = match self.plan.iteration_timeout {
            Some(timeout) => format!(
                "The iteration took longer than {} and was interrupted.",
                friendly_duration(timeout)
            ),
            None => message.unwrap_or_else(|| "The iteration took too long and was interrupted.".to_owned()),
        };
        let cause = EndCause {
            reason: EndReason::Limit(LimitKind::IterationTimeout),
            message: Some(failure.clone()),
        };
        self.fail(IterationOutcome::TimedOut, cause, failure, self.pause());
    }

    fn fail(&mut self, outcome: IterationOutcome, cause: EndCause, failure: String, pause: Pause) {
        self.failures += 1;
        let limit = self.plan.max_consecutive_failures;
        let is_too_often = limit > 0 && self.failures >= limit;
        if self.plan.is_once || is_too_often {
            self.run.end(cause.reason, cause.message);
        } else if self.is_last_iteration() {
            self.end_last_iteration(outcome, cause, failure);
        } else {
            self.next_iteration(outcome, Some(failure), pause);
        }
    }

    /// There is no further iteration to fix what went wrong, unless somebody allows more.
    fn end_last_iteration(&mut self, outcome: IterationOutcome, cause: EndCause, failure: String) {
        match self.run.plan.limit_policy {
            LimitPolicy::End => self.run.end(cause.reason, cause.message),
            LimitPolicy::Ask => {
                self.last_failure = Some(failure.clone());
                self.run.close_iteration(outcome, Some(failure));
                self.run.end_or_ask(cause);
            }
        }
    }

    /// A limit of the run was reached during this iteration, and the agent is not done. What it did counts all the same,
    /// in case the limit is raised.
    fn close_at_limit(&mut self, report: &AttemptReport, cut_off: Option<LimitKind>, advice: Option<String>) {
        if let Some(reason) = self.run.fatal_reason(report.error.as_ref()) {
            let message = report.error.as_ref().map(|error| error.message.clone());
            self.run.end(reason, message);
            return;
        }
        if self.run.plan.limit_policy == LimitPolicy::Ask {
            let (outcome, failure) = match cut_off {
                Some(limit) => (IterationOutcome::Ended, Some(interruption(limit))),
                None if report.outcome.is_success() => {
                    self.pass_on(report);
                    (IterationOutcome::Continues, None)
                }
                None => {
                    let message = report.error.as_ref().map(|error| error.message.clone());
                    (IterationOutcome::Failed, message)
                }
            };
            self.last_failure = join(failure.clone(), advice);
            self.run.close_iteration(outcome, failure);
        }
        self.run.stops_at_limit();
    }

    /// The iteration has succeeded: the next role takes over.
    fn pass_on(&mut self, report: &AttemptReport) {
        self.failures = 0;
        self.backoffs = 0;
        self.turns.pass_on(report.final_text.as_deref());
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
    fn next_iteration(&mut self, outcome: IterationOutcome, failure: Option<String>, pause: Pause) {
        self.last_failure.clone_from(&failure);
        self.run.close_iteration(outcome, failure);
        if pause.duration.is_zero() || self.is_last_iteration() {
            self.start_iteration();
        } else {
            let until = after(self.run.now.at, pause.duration).unwrap_or(Timestamp::MAX);
            self.run.cool(CooldownStarted {
                until,
                cause: pause.cause,
                is_retry: false,
            });
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
        self.run.finish_interrupt();
        if let Some(advice) = self.advice.take_if(|_| self.run.plan.takes_messages)
            && self.run.end_cause.is_none()
            && self.run.cut_off.is_none()
        {
            self.run.advise(advice);
            return;
        }
        let next = match (&self.run.end_cause, self.run.cut_off) {
            (None, None) => self.run.queue.pop(),
            (Some(_), _) | (_, Some(_)) => None,
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
                self.run.finish_interrupt();
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
            let pause = self.backoff_for(SPAWN_RETRY_DELAY);
            self.on_failure(EndReason::BackendUnavailable, Some(message), pause);
        } else {
            self.run.end(EndReason::BackendUnavailable, Some(message));
        }
    }

    fn on_attempt_ended(&mut self, report: &AttemptReport) {
        self.has_started = true;
        self.turns.note_session(report.session_id.as_ref());
        let is_answered = report.outcome.is_success() && has_text(report);
        let is_done = is_answered && (self.plan.is_once || self.is_promised(report));
        // A limit that was crossed by the very answer that completes the work does not undo it.
        if is_done {
            self.run.end_cause.take_if(|cause| cause.is_budget_limit());
        }
        let is_limited = self.run.usage_limit.reset_of(report, self.run.now.at).is_some();
        let has_crashed = !is_limited
            && matches!(
                report.outcome,
                Outcome::Crashed | Outcome::NoResult | Outcome::Lost
            );
        // An agent that ended its turn by itself was not interrupted after all.
        let cut_off = self.run.cut_off.take().filter(|_| !report.outcome.is_success());
        let is_exhausted = self.run.budget.exhausted().is_some();
        let advice = self.advice.take().map(|advice| advice.text);
        // Neither a success nor a usage limit is the fault that the watchdog has found.
        let (advice, later) = match report.outcome.is_success() || is_limited {
            true => (None, advice.filter(|_| !is_done)),
            false => (advice, None),
        };
        let is_stopped =
            self.run.end_cause.is_some() || cut_off.is_some() || is_exhausted || advice.is_some();
        self.crashes += u32::from(has_crashed);
        let will_retry = has_crashed && !is_stopped && self.crashes < MAX_CRASHES;
        self.run.close_attempt(report, will_retry);
        if self.run.end_cause.is_some() {
            self.run.end_by_cause();
        } else if is_done {
            self.judge(report);
        } else if is_exhausted {
            self.close_at_limit(report, cut_off, advice.or(later));
        } else if cut_off == Some(LimitKind::IterationTimeout) {
            self.run.usage_limit.clear();
            self.on_iteration_timeout(None);
        } else if let Some(limit) = cut_off {
            // It was raised while the agent was being interrupted.
            let failure = interruption(limit);
            self.next_iteration(IterationOutcome::Ended, Some(failure), self.pause());
        } else if let Some(advice) = advice {
            self.on_failure(EndReason::Watchdog, Some(advice), self.pause());
        } else if will_retry {
            self.start_attempt(SessionChoice::New);
        } else {
            self.next_advice = join(self.next_advice.take(), later);
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
            self.last_failure = Some(summary.clone());
            self.run
                .close_iteration(IterationOutcome::VerifyFailed, Some(summary));
            self.run.stops_at_limit();
        } else if self.plan.is_once {
            self.run.end(EndReason::VerifyFailed, Some(summary));
        } else if self.is_last_iteration() {
            let cause = EndCause {
                reason: EndReason::VerifyFailed,
                message: Some(summary.clone()),
            };
            self.end_last_iteration(IterationOutcome::VerifyFailed, cause, summary);
        } else {
            // Not a failure of the agent: the next iteration's prompt says what is wrong.
            self.failures = 0;
            self.next_iteration(IterationOutcome::VerifyFailed, Some(summary), self.pause());
        }
    }

    fn on_timer(&mut self, timer: Timer) {
        match timer {
            Timer::Iteration if self.run.is_running() => self.run.cut_off(LimitKind::IterationTimeout),
            Timer::Cooldown => match self.run.phase {
                Phase::Cooling(CooldownCause::UsageLimit) => {
                    self.run.unpark();
                    self.repeat_iteration();
                }
                Phase::Cooling(CooldownCause::Pause | CooldownCause::Backoff) => self.start_iteration(),
                _ => {}
            },
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

    fn interrupt_with(&mut self, message: QueuedMessage) {
        match (self.run.phase, &mut self.advice) {
            (Phase::Running(Process::Busy), _) => {
                self.run.interrupt_turn();
                self.advice = Some(message);
            }
            // One message has it all.
            (Phase::Running(Process::Interrupting), Some(advice)) => {
                advice.text = format!("{}\n\n{}", advice.text, message.text);
            }
            // The turn has ended meanwhile.
            _ => self.advise_later(message),
        }
    }

    fn advise_later(&mut self, message: QueuedMessage) {
        if self.run.end_cause.is_none() {
            self.next_advice = join(self.next_advice.take(), Some(message.text));
        }
    }

    /// A loop closes its agent's input itself.
    fn close_input(&mut self) {}

    fn takes_messages(&self) -> bool {
        let is_reachable = self.run.is_running() && self.run.phase != Phase::Running(Process::Draining);
        is_reachable && self.run.end_cause.is_none() && self.run.cut_off.is_none()
    }

    fn on_raised(&mut self) {
        self.start_iteration();
    }
}

/// What the next iteration is told about the one that a limit interrupted.
fn interruption(limit: LimitKind) -> String {
    format!(
        "The last iteration was interrupted before it was done ({}). Check what is done already and continue from \
         there.",
        EndReason::Limit(limit).describe()
    )
}

/// Two texts for the next iteration, of which each may be missing.
fn join(failure: Option<String>, advice: Option<String>) -> Option<String> {
    match (failure, advice) {
        (Some(failure), Some(advice)) => Some(format!("{failure}\n\n{advice}")),
        (failure, advice) => failure.or(advice),
    }
}

fn has_text(report: &AttemptReport) -> bool {
    let text = report.final_text.as_deref();
    text.is_some_and(|text| !text.trim().is_empty())
}

/// The last line that is not blank.
fn last_line(text: &str) -> Option<&str> {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty())
}
