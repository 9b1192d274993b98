//! `Deadlines`: when the loop must act although nothing happens.

use std::time::Duration;

use agent_process::clock;
use tokio::time::Instant;

use super::protocol::Activity;

/// How many times the background grace a task that keeps writing can hold a finished run open.
const MAX_BACKGROUND_GRACES: u32 = 20;

/// An agent that announces a longer silence than this has made a mistake.
const MAX_ANNOUNCED_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);

/// The time limits of a run.
#[derive(Debug, Clone, Default)]
pub struct TimeLimits {
    /// From the start to the exit. The process itself enforces it; the loop only needs to know.
    pub timeout: Option<Duration>,
    /// Silence during a turn.
    pub inactivity: Option<Duration>,
    /// Silence while a tool call is open.
    pub tool_inactivity: Option<Duration>,
    /// Silence while only background tasks are open. Then the agent counts as idle. Tasks that keep writing are waited
    /// for, at most 20 times as long.
    pub background_grace: Option<Duration>,
    /// From the moment when everything is done and the input is closed to the exit.
    pub exit_grace: Option<Duration>,
}

/// The state of a run's deadlines.
#[derive(Debug)]
pub(super) struct Deadlines {
    pub(super) limits: TimeLimits,
    pub(super) started: Instant,
    pub(super) timeout_at: Option<Instant>,
    /// The last output, or the last command.
    pub(super) last_activity: Instant,
    /// Everything is done and the input is closed: the process must exit by then.
    pub(super) exit_at: Option<Instant>,
    /// When the last turn ended, if only background tasks are open since then.
    pub(super) background_since: Option<Instant>,
    /// The background grace has passed since the last turn.
    pub(super) background_expired: bool,
    /// The agent was asked to cancel: signals follow then.
    pub(super) signal_at: Option<Instant>,
    /// The last protocol deadline that has passed: the protocol hears of it once.
    pub(super) passed: Option<Duration>,
}

/// Which deadline has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expired {
    Signal,
    Timeout,
    Exit,
    Protocol,
    Background,
    Silence,
}

/// What decides which deadlines apply.
#[derive(Debug, Clone, Copy)]
pub(super) struct Situation {
    pub(super) activity: Activity,
    pub(super) has_open_tool_call: bool,
    /// Silence that the agent has announced.
    pub(super) announced_pause: Duration,
    /// Whether anyone can answer the agent.
    pub(super) has_controls: bool,
    /// Whether the caller's own code is working on a request of the agent.
    pub(super) has_callbacks: bool,
    pub(super) protocol_deadline: Option<Duration>,
    /// The consumer does not read: the agent's silence is not its own.
    pub(super) is_blocked: bool,
}

impl Deadlines {
    pub(super) fn new(limits: TimeLimits, started: Instant) -> Self {
        let now = clock::now();
        Self {
            timeout_at: limits.timeout.and_then(|timeout| now.checked_add(timeout)),
            limits,
            started,
            last_activity: now,
            exit_at: None,
            background_since: None,
            background_expired: false,
            signal_at: None,
            passed: None,
        }
    }

    /// The consumer did not read for this long, so the agent may not have been able to write the rest of its output.
    pub(super) fn postpone_exit(&mut self, by: Duration) {
        self.exit_at = self.exit_at.and_then(|at| at.checked_add(by));
    }

    /// The next deadline.
    pub(super) fn next(&self, situation: Situation) -> Option<(Instant, Expired)> {
        let timeout = self.timeout_at.map(|at| (at, Expired::Timeout));
        if situation.is_blocked {
            return timeout;
        }
        let all = [
            timeout,
            self.exit_at.map(|at| (at, Expired::Exit)),
            self.protocol_at(situation).map(|at| (at, Expired::Protocol)),
            self.background_at(situation).map(|at| (at, Expired::Background)),
            self.silence_at(situation).map(|at| (at, Expired::Silence)),
        ];
        // The first of several at the same time counts.
        all.into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    fn protocol_at(&self, situation: Situation) -> Option<Instant> {
        let deadline = situation.protocol_deadline;
        let deadline = deadline.filter(|deadline| Some(*deadline) != self.passed)?;
        self.started.checked_add(deadline)
    }

    /// Background tasks that still write something are waited for: a subagent at work is one of them. A server that
    /// logs for ever is another, so there is a limit.
    fn background_at(&self, situation: Situation) -> Option<Instant> {
        let applies = situation.activity == Activity::BackgroundOnly && !self.background_expired;
        let grace = self.limits.background_grace.filter(|_| applies)?;
        let since = self.background_since.unwrap_or(self.last_activity);
        let silent_at = self.last_activity.checked_add(grace)?;
        let last_at = since.checked_add(grace.saturating_mul(MAX_BACKGROUND_GRACES));
        Some(last_at.map_or(silent_at, |last_at| silent_at.min(last_at)))
    }

    /// Silence counts only during a turn. An agent that waits for a person or for a message is not stuck.
    fn silence_at(&self, situation: Situation) -> Option<Instant> {
        let counts = match situation.activity {
            Activity::Working => !situation.has_callbacks,
            Activity::WaitingForAnswer => !situation.has_controls,
            Activity::BackgroundOnly | Activity::Idle => false,
        };
        let limit = if situation.has_open_tool_call {
            self.limits.tool_inactivity
        } else {
            self.limits.inactivity
        };
        let pause = situation.announced_pause.min(MAX_ANNOUNCED_PAUSE);
        self.last_activity
            .checked_add(limit.filter(|_| counts)?.saturating_add(pause))
    }
}

#[cfg(test)]
mod tests {
    use super::{Deadlines, Expired, Situation, TimeLimits};
    use crate::run::protocol::Activity;
    use agent_process::clock;
    use std::time::Duration;

    const MINUTE: Duration = Duration::from_secs(60);

    fn deadlines() -> Deadlines {
        let limits = TimeLimits {
            inactivity: Some(6 * MINUTE),
            tool_inactivity: Some(15 * MINUTE),
            background_grace: Some(MINUTE / 2),
            exit_grace: Some(MINUTE / 12),
            ..TimeLimits::default()
        };
        Deadlines::new(limits, clock::now())
    }

    fn situation(activity: Activity) -> Situation {
        Situation {
            activity,
            has_open_tool_call: false,
            announced_pause: Duration::ZERO,
            has_controls: true,
            has_callbacks: false,
            protocol_deadline: None,
            is_blocked: false,
        }
    }

    fn after(deadlines: &Deadlines, situation: Situation) -> Option<(Duration, Expired)> {
        let (at, expired) = deadlines.next(situation)?;
        Some((at - deadlines.last_activity, expired))
    }

    #[test]
    fn silence_counts_only_during_a_turn() {
        let deadlines = deadlines();
        let next = |activity| after(&deadlines, situation(activity));
        assert_eq!(next(Activity::Working), Some((6 * MINUTE, Expired::Silence)));
        assert_eq!(next(Activity::WaitingForAnswer), None);
        assert_eq!(next(Activity::Idle), None);
        assert_eq!(
            next(Activity::BackgroundOnly),
            Some((MINUTE / 2, Expired::Background))
        );
    }

    #[test]
    fn an_announced_pause_is_not_silence_but_has_an_end() {
        let mut working = situation(Activity::Working);
        working.announced_pause = 30 * MINUTE;
        assert_eq!(
            after(&deadlines(), working),
            Some((36 * MINUTE, Expired::Silence))
        );
        working.announced_pause = Duration::MAX;
        let (longest, _) = after(&deadlines(), working).unwrap();
        assert_eq!(longest, 24 * 60 * MINUTE + 6 * MINUTE);
    }

    #[test]
    fn a_tool_call_may_be_silent_for_longer() {
        let mut working = situation(Activity::Working);
        working.has_open_tool_call = true;
        assert_eq!(
            after(&deadlines(), working),
            Some((15 * MINUTE, Expired::Silence))
        );
    }

    #[test]
    fn an_agent_that_waits_for_the_callers_own_code_is_not_silent() {
        let mut working = situation(Activity::Working);
        working.has_callbacks = true;
        assert_eq!(after(&deadlines(), working), None);
    }

    #[test]
    fn the_background_grace_passes_once() {
        let mut deadlines = deadlines();
        deadlines.background_expired = true;
        assert_eq!(after(&deadlines, situation(Activity::BackgroundOnly)), None);
    }

    #[test]
    fn a_request_that_no_one_can_answer_is_silence() {
        let mut alone = situation(Activity::WaitingForAnswer);
        alone.has_controls = false;
        assert_eq!(after(&deadlines(), alone), Some((6 * MINUTE, Expired::Silence)));
    }
}
