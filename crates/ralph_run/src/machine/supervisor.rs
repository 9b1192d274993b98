//! `Supervisor`: what a loop and a conversation have in common: the agent's process, the budget, messages, requests,
//! storage and the end.

use std::time::Duration;

use agent_api::{Body, ErrorClass, ErrorInfo, SessionChoice};
use jiff::Timestamp;

use super::effect::{Effect, SpawnPrompt, Timer};
use super::input::{AttemptReport, Moment, StorageStatus};
use super::plan::Plan;
use super::queue::{MessageQueue, QueuedMessage};
use super::requests::OpenRequests;
use super::stopping::EndCause;
use super::usage_limit::UsageLimit;
use crate::budget::Budget;
use crate::reason::{EndReason, LimitKind};
use crate::record::{AttemptEnded, CooldownCause, MessageSent, RunBody, Totals, Warned, WarningKind};

/// How long the run's files may be impossible to write.
const STORAGE_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Supervisor {
    pub(super) plan: Plan,
    pub(super) phase: Phase,
    /// When the current input happens.
    pub(super) now: Moment,
    pub(super) budget: Budget,
    pub(super) queue: MessageQueue,
    pub(super) requests: OpenRequests,
    /// Why the run is being ended. The first cause counts.
    pub(super) end_cause: Option<EndCause>,
    /// The limit because of which the agent was interrupted, although the run continues or can continue.
    pub(super) cut_off: Option<LimitKind>,
    /// How the run ends if the limit that it waits for is not raised.
    pub(super) unless_raised: Option<EndCause>,
    pub(super) usage_limit: UsageLimit,
    /// Whether the agent's process has used a tool.
    pub(super) has_used_tool: bool,
    /// How long the run's time stood still so far, and since when it does now, in the run's elapsed time.
    pub(super) parked: Duration,
    pub(super) parked_since: Option<Duration>,
    pub(super) iteration: u32,
    pub(super) attempt: u32,
    /// The role of this iteration.
    pub(super) role: Option<String>,
    /// Totals of the iteration that has begun and not ended.
    pub(super) open_iteration: Option<Totals>,
    /// Why the run's files cannot be written.
    storage_problem: Option<String>,
    effects: Vec<Effect>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    New,
    Running(Process),
    /// The verify command with this index.
    Verifying(usize),
    /// The pause before the next iteration, or before the same one is repeated.
    Cooling(CooldownCause),
    /// A limit is reached, and the run waits for a higher one.
    AwaitingRaise,
    /// A message, which starts a process.
    Waiting,
    Ended,
}

/// What the agent's process is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Process {
    Busy,
    /// The turn was interrupted, by a person or by the watchdog; the run continues.
    Interrupting,
    Idle,
    /// Its input is closed: it takes no more messages and will exit.
    Draining,
}

impl Supervisor {
    pub(super) fn new(plan: Plan) -> Self {
        let mut limits = plan.limits;
        if plan.as_loop().is_none_or(|plan| plan.is_once) {
            limits.iterations = None;
        }
        let mut budget = Budget::new(limits, plan.spent_before);
        budget.account_mut().set_requested_model(plan.model.as_deref());
        Self {
            plan,
            phase: Phase::New,
            now: Moment {
                at: Timestamp::UNIX_EPOCH,
                elapsed: Duration::ZERO,
                random: 0,
            },
            budget,
            queue: MessageQueue::default(),
            requests: OpenRequests::default(),
            end_cause: None,
            cut_off: None,
            unless_raised: None,
            usage_limit: UsageLimit::default(),
            has_used_tool: false,
            parked: Duration::ZERO,
            parked_since: None,
            iteration: 0,
            attempt: 0,
            role: None,
            open_iteration: None,
            storage_problem: None,
            effects: Vec::new(),
        }
    }

    pub(super) fn set_now(&mut self, now: Moment) {
        self.now = now;
        self.budget.set_runtime(self.worked());
    }

    pub(super) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(super) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    pub(super) fn record(&mut self, body: RunBody) {
        self.push(Effect::Record(Box::new(body)));
    }

    pub(super) fn warn(&mut self, kind: WarningKind, message: impl Into<String>) {
        let message = message.into();
        self.record(RunBody::Warned(Warned::new(kind, message)));
    }

    pub(super) fn arm(&mut self, timer: Timer, after: Duration) {
        self.push(Effect::Arm(timer, after));
    }

    pub(super) fn disarm(&mut self, timer: Timer) {
        self.push(Effect::Disarm(timer));
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running(_))
    }

    pub(super) fn begin_iteration(&mut self) {
        self.iteration += 1;
        self.attempt = 0;
        self.open_iteration = Some(Totals::default());
    }

    pub(super) fn spawn(&mut self, session: SessionChoice, prompt: SpawnPrompt) {
        self.attempt += 1;
        self.phase = Phase::Running(Process::Busy);
        self.cut_off = None;
        self.has_used_tool = false;
        self.usage_limit.forget_rejection();
        self.budget.account_mut().start_attempt();
        self.push(Effect::Spawn {
            iteration: self.iteration,
            attempt: self.attempt,
            session,
            prompt,
            role: self.role.clone(),
        });
    }

    /// Follows usage and requests. What else an event means depends on the kind of run.
    pub(super) fn observe(&mut self, body: &Body) {
        self.budget.account_mut().observe(body);
        self.usage_limit.observe(body);
        self.has_used_tool |= matches!(body, Body::ToolStarted(_));
        self.observe_request(body);
    }

    /// The end of the run for an error that another try does not change: a person has to act.
    pub(super) fn fatal_reason(&self, error: Option<&ErrorInfo>) -> Option<EndReason> {
        match error?.class {
            ErrorClass::Auth => Some(EndReason::NotLoggedIn),
            ErrorClass::ModelNotFound => Some(EndReason::ModelNotFound),
            ErrorClass::Quota => Some(EndReason::NoCredit),
            // A conversation that has grown too long starts again with the next iteration.
            ErrorClass::ContextWindow if !self.has_used_tool => Some(EndReason::PromptTooLong),
            _ => None,
        }
    }

    /// Gives the running agent a message; it can no longer be changed.
    pub(super) fn say(&mut self, message: QueuedMessage) {
        let QueuedMessage { id, text, .. } = message;
        self.queue.mark_in_flight(&id);
        if self.phase == Phase::Running(Process::Idle) {
            self.phase = Phase::Running(Process::Busy);
            self.disarm(Timer::Idle);
        }
        self.record(RunBody::MessageSent(MessageSent {
            message_id: id.clone(),
        }));
        self.push(Effect::Say { id, text });
    }

    /// Closes the agent's input: it exits when it is done.
    pub(super) fn drain(&mut self) {
        self.phase = Phase::Running(Process::Draining);
        self.push(Effect::CloseInput);
    }

    /// Books the usage of a process that has ended, and records its end.
    pub(super) fn close_attempt(&mut self, report: &AttemptReport, will_retry: bool) {
        self.disarm(Timer::Grace);
        self.close_requests();
        self.queue.mark_all_received();
        let account = self.budget.account_mut();
        let mut totals = account.attempt().unwrap_or_default();
        totals.duration_ms = u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX);
        account.end_attempt(totals);
        if let Some(iteration) = &mut self.open_iteration {
            *iteration = *iteration + totals;
        }
        self.record(RunBody::AttemptEnded(Box::new(AttemptEnded {
            outcome: report.outcome.into(),
            error: report.error.clone(),
            exit: report.exit,
            totals,
            is_degraded: report.is_degraded,
            session_id: report.session_id.clone(),
            will_retry,
        })));
        self.warn_near_limits();
        if self.plan.is_cost_limit_chosen
            && report.outcome.is_success()
            && let Some(warned) = self.budget.take_unreported_warning()
        {
            self.record(RunBody::Warned(warned));
        }
    }

    /// The last figures of a process that has ended.
    pub(super) fn apply_last_usage(&mut self, report: &AttemptReport) {
        if let Some(usage) = &report.usage {
            self.budget.account_mut().apply_usage(None, usage);
        }
    }

    pub(super) fn on_timer(&mut self, timer: Timer) {
        match timer {
            Timer::Runtime => self.on_runtime_timer(),
            Timer::Raise => self.on_raise_timeout(),
            Timer::Grace if self.is_running() => self.push(Effect::Stop),
            Timer::Ask(request) => self.on_unanswered(request),
            Timer::Storage => {
                if let Some(problem) = self.storage_problem.clone() {
                    self.stop_for(EndReason::StorageFailed, Some(problem));
                }
            }
            // Those of a loop or a conversation, and late ones.
            Timer::Grace | Timer::Iteration | Timer::Cooldown | Timer::Idle => {}
        }
    }

    /// A disk that takes nothing is waited for, because what is to be written waits in memory. What is lost ends the
    /// run at once: trying again would hide it.
    pub(super) fn on_storage(&mut self, status: StorageStatus) {
        match status {
            StorageStatus::Writable => {
                if self.storage_problem.take().is_some() {
                    self.disarm(Timer::Storage);
                    self.warn(
                        WarningKind::Storage,
                        "the journal can be written again; nothing was lost",
                    );
                }
            }
            StorageStatus::Failing(problem) => {
                if self.storage_problem.is_none() {
                    self.warn(WarningKind::Storage, format!("{problem}; retrying"));
                    self.arm(Timer::Storage, STORAGE_TIMEOUT);
                }
                self.storage_problem = Some(problem);
            }
            StorageStatus::Lost(problem) => self.stop_for(EndReason::StorageFailed, Some(problem)),
        }
    }
}
