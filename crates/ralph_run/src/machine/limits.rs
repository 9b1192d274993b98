//! The limits of a run: what happens when one is reached, and how it is raised. A part of `Supervisor`.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::effect::{Effect, Timer};
use super::plan::LimitPolicy;
use super::stopping::EndCause;
use super::supervisor::{Phase, Process, Supervisor};
use crate::reason::{EndReason, LimitKind};
use crate::record::{BudgetAwaited, LimitRaised, RunBody};

impl Supervisor {
    /// How long the run has worked: the time that it waited for a usage limit or for a higher limit does not count.
    pub(super) fn worked(&self) -> Duration {
        let waiting = self
            .parked_since
            .map_or(Duration::ZERO, |since| self.now.elapsed.saturating_sub(since));
        self.now.elapsed.saturating_sub(self.parked + waiting)
    }

    /// The run's time stands still until [`Supervisor::unpark`].
    pub(super) fn park(&mut self) {
        if self.parked_since.is_none() {
            self.parked_since = Some(self.now.elapsed);
            self.disarm(Timer::Runtime);
        }
    }

    pub(super) fn unpark(&mut self) {
        if let Some(since) = self.parked_since.take() {
            self.parked += self.now.elapsed.saturating_sub(since);
            self.arm_runtime();
        }
    }

    /// Arms the timer for the time at which the time limit warns or is reached.
    pub(super) fn arm_runtime(&mut self) {
        if let Some(after) = self.budget.time_to_runtime_level()
            && self.parked_since.is_none()
        {
            self.arm(Timer::Runtime, after);
        }
    }

    pub(super) fn on_runtime_timer(&mut self) {
        self.check_limits();
        self.arm_runtime();
    }

    pub(super) fn warn_near_limits(&mut self) {
        for warned in self.budget.take_warnings() {
            self.record(RunBody::Warned(warned));
        }
    }

    /// Called after every event, and when the time limit may be reached.
    pub(super) fn check_limits(&mut self) {
        self.warn_near_limits();
        let Some(limit) = self.budget.exhausted() else {
            return;
        };
        match self.plan.limit_policy {
            LimitPolicy::End => {
                let message = self.budget.describe(limit);
                self.interrupt_for(EndReason::Limit(limit), message);
            }
            LimitPolicy::Ask => self.cut_off(limit),
        }
    }

    /// Ends the run, or waits for a higher limit, if one is exhausted. Called before everything that leads to a spawn.
    pub(super) fn stops_at_limit(&mut self) -> bool {
        self.warn_near_limits();
        let Some(limit) = self.budget.exhausted() else {
            return false;
        };
        let message = self.budget.describe(limit);
        self.end_or_ask(EndCause {
            reason: EndReason::Limit(limit),
            message,
        });
        true
    }

    /// Ends the run, unless somebody can raise the limit that is exhausted.
    pub(super) fn end_or_ask(&mut self, otherwise: EndCause) {
        match (self.plan.limit_policy, self.budget.exhausted()) {
            (LimitPolicy::Ask, Some(limit)) => self.await_raise(limit, otherwise),
            (LimitPolicy::Ask, None) | (LimitPolicy::End, _) => self.end(otherwise.reason, otherwise.message),
        }
    }

    /// Interrupts the agent because of a limit that does not end the run. What follows is decided when its process has
    /// ended. A verify command is not interrupted.
    pub(super) fn cut_off(&mut self, limit: LimitKind) {
        if self.end_cause.is_some() || self.cut_off.is_some() {
            return;
        }
        match self.phase {
            // It exits already, or ends its turn.
            Phase::Running(Process::Draining) => {}
            Phase::Running(Process::Interrupting) => self.cut_off = Some(limit),
            Phase::Running(Process::Idle) => {
                self.cut_off = Some(limit);
                self.disarm(Timer::Idle);
                self.drain();
            }
            Phase::Running(Process::Busy) => {
                self.cut_off = Some(limit);
                self.push(Effect::Interrupt);
                self.arm(Timer::Grace, self.plan.interrupt_grace);
            }
            Phase::New | Phase::Cooling(_) | Phase::Waiting => {
                self.disarm(Timer::Cooldown);
                self.disarm(Timer::Idle);
                self.stops_at_limit();
            }
            Phase::Verifying(_) | Phase::AwaitingRaise | Phase::Ended => {}
        }
    }

    fn await_raise(&mut self, limit: LimitKind, otherwise: EndCause) {
        self.phase = Phase::AwaitingRaise;
        self.unless_raised = Some(otherwise);
        self.park();
        let timeout = self.plan.ask_timeout;
        let until = timeout.and_then(|timeout| after(self.now.at, timeout));
        let name = EndReason::Limit(limit).describe();
        let message = match self.budget.figures(limit) {
            Some(figures) => format!("{name}: {figures}"),
            None => name.to_owned(),
        };
        self.record(RunBody::BudgetAwaited(BudgetAwaited {
            limit: limit.into(),
            message,
            limit_value: self.budget.limit_value(limit),
            until,
        }));
        self.push(Effect::SaveSoon);
        match (until, timeout) {
            (Some(until), _) => self.push(Effect::ArmAt(Timer::Raise, until)),
            // A time that no clock can show.
            (None, Some(timeout)) => self.arm(Timer::Raise, timeout),
            (None, None) => {}
        }
    }

    pub(super) fn on_raise_timeout(&mut self) {
        if self.phase == Phase::AwaitingRaise
            && let Some(EndCause { reason, message }) = self.unless_raised.take()
        {
            self.end(reason, message);
        }
    }

    /// Raises limits. Returns whether a run that waited for that can continue.
    pub(super) fn raise(&mut self, amounts: impl IntoIterator<Item = (LimitKind, u64)>) -> bool {
        for (limit, amount) in amounts {
            if let Some(to) = self.budget.raise(limit, amount) {
                self.record(RunBody::LimitRaised(LimitRaised {
                    limit: limit.into(),
                    to,
                }));
            }
        }
        self.push(Effect::SaveSoon);
        self.arm_runtime();
        self.warn_near_limits();
        if self.phase != Phase::AwaitingRaise {
            return false;
        }
        match (self.budget.exhausted(), self.unless_raised.take()) {
            // It was not enough, or another limit is exhausted, too.
            (Some(limit), Some(otherwise)) => {
                self.await_raise(limit, otherwise);
                false
            }
            (Some(_), None) => false,
            (None, _) => {
                self.disarm(Timer::Raise);
                self.unpark();
                true
            }
        }
    }
}

/// A moment that is this much later; `None` if no clock can show it.
pub(super) fn after(at: Timestamp, duration: Duration) -> Option<Timestamp> {
    at.checked_add(SignedDuration::try_from(duration).ok()?).ok()
}
