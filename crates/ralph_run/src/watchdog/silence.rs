//! `SilenceWatch`: finds an agent that says nothing in the middle of a turn. A part of `Watchdog`.

use std::time::Duration;

use agent_api::{Body, Event};
use jiff::{SignedDuration, Timestamp};

use super::finding::Finding;
use super::rules::{SilenceRule, WatchAction};
use crate::budget::friendly_duration;
use crate::record::{Evidence, RunBody, RunEvent, WarningKind};

/// A longer pause between two ticks means that the machine was suspended, and the agent with it.
const MAX_TICK_GAP: SignedDuration = SignedDuration::from_secs(30);

#[derive(Debug, Default)]
pub(super) struct SilenceWatch {
    /// Only while the agent has a turn to work on.
    last: Option<SignOfLife>,
    is_turn_open: bool,
    ticked_at: Option<Timestamp>,
    is_reported: bool,
}

/// The last record that shows that the agent works.
#[derive(Debug, Clone, Copy)]
struct SignOfLife {
    seq: u64,
    /// Moved forward by the time for which the machine was suspended.
    at: Timestamp,
    /// For this long the agent has announced to be silent.
    pause: SignedDuration,
}

/// What the agent waits for while it is silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitingOn {
    Model,
    Call,
    /// An answer of the user is outstanding.
    Person,
}

impl SilenceWatch {
    pub(super) fn on_run(&mut self, body: &RunBody) {
        match body {
            RunBody::AttemptStarted(_) => self.is_turn_open = true,
            RunBody::AttemptEnded(_)
            | RunBody::StopStarted(_)
            | RunBody::BudgetAwaited(_)
            | RunBody::CooldownStarted(_)
            | RunBody::MessageAwaited(_)
            | RunBody::RunEnded(_) => self.is_turn_open = false,
            _ => {}
        }
    }

    pub(super) fn on_event(&mut self, event: &Event) {
        match &event.body {
            Body::TurnStarted(_) => self.is_turn_open = true,
            Body::TurnFinished(_) | Body::Finished(_) if event.parent.is_none() => self.is_turn_open = false,
            _ => {}
        }
    }

    /// Called after every record. What ralph or its user does is not a sign of life, unless the agent has to react to it.
    pub(super) fn note(&mut self, seq: u64, at: Timestamp, event: &RunEvent) {
        let pause = match event {
            RunEvent::Agent(event) => match &event.body {
                Body::RetryScheduled(retry) => retry.delay_ms.unwrap_or(0),
                _ => 0,
            },
            RunEvent::Run(RunBody::AttemptStarted(_) | RunBody::MessageSent(_) | RunBody::Continued(_)) => 0,
            RunEvent::Run(_) | RunEvent::Unknown(_) => return,
        };
        let pause = SignedDuration::from_millis(i64::try_from(pause).unwrap_or(i64::MAX));
        self.last = Some(SignOfLife { seq, at, pause });
        self.is_reported = false;
    }

    /// What an old journal shows: the time between two records. A live run is watched by ticks, which also notice that the
    /// machine was suspended.
    pub(super) fn between(
        &mut self,
        now: Timestamp,
        rule: SilenceRule,
        waiting: WaitingOn,
    ) -> Option<Finding> {
        match self.ticked_at {
            Some(_) => None,
            None => self.check(now, rule, waiting),
        }
    }

    pub(super) fn tick(&mut self, now: Timestamp, rule: SilenceRule, waiting: WaitingOn) -> Option<Finding> {
        let gap = self.ticked_at.map(|before| now.duration_since(before));
        self.ticked_at = Some(now);
        if let (Some(gap), Some(last)) = (gap, &mut self.last)
            && gap > MAX_TICK_GAP
        {
            // A record from within the gap may be from before or after the suspension: the silence starts now.
            last.at = last.at.checked_add(gap).map_or(now, |at| at.min(now));
        }
        self.check(now, rule, waiting)
    }

    fn check(&mut self, now: Timestamp, rule: SilenceRule, waiting: WaitingOn) -> Option<Finding> {
        let limit = match waiting {
            WaitingOn::Model => rule.after,
            WaitingOn::Call => rule.during_call,
            WaitingOn::Person => return None,
        };
        if rule.action == WatchAction::Off || limit.is_zero() || !self.is_turn_open || self.is_reported {
            return None;
        }
        let SignOfLife { seq, at, pause } = self.last?;
        let since = at.checked_add(pause).unwrap_or(Timestamp::MAX);
        let silent = Duration::try_from(now.duration_since(since)).unwrap_or_default();
        if silent < limit {
            return None;
        }
        self.is_reported = true;
        let what = match waiting {
            WaitingOn::Call => " while a tool call is running",
            WaitingOn::Model | WaitingOn::Person => "",
        };
        let message = format!(
            "the agent has been silent for {}{what}",
            friendly_duration(silent)
        );
        let finding = Finding::new(WarningKind::Silence, rule.action, message);
        Some(finding.with([Evidence {
            seq,
            text: "the last sign of life".to_owned(),
        }]))
    }
}
