//! `conclude`: what the end of a run means for its agent. Used by the driver when it records that end.

use ralph_run::{EndReason, LimitKind, Open};
use serde::{Deserialize, Serialize};

use crate::state::ActiveRun;

/// What the end of a run means for its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// The work is over: it is done, or a person ended it, or a limit of the run did.
    Finished,
    /// The run was cut off. Its session is resumed; that it was cut off counts as a failure.
    Interrupted,
    /// The work failed and is tried again. Counts as a failure.
    Failed,
    /// The work failed for a reason that only a person can remove.
    NeedsPerson,
    /// It was paused; its session is resumed when the agent is active again.
    Paused,
    /// It was stopped on request; the work is given up.
    Stopped,
    /// The account's usage limit was reached; its session is resumed after the reset.
    UsageLimit,
    /// The agent's limit for the day was reached; its session is resumed on the next day.
    DailyLimit,
}

impl RunOutcome {
    /// Whether the work that the run was for is over.
    pub fn closes_work(self) -> bool {
        match self {
            Self::Finished | Self::Stopped => true,
            Self::Interrupted
            | Self::Failed
            | Self::NeedsPerson
            | Self::Paused
            | Self::UsageLimit
            | Self::DailyLimit => false,
        }
    }

    /// Whether the next run continues the session of this one.
    pub fn keeps_session(self) -> bool {
        match self {
            Self::Interrupted | Self::Paused | Self::UsageLimit | Self::DailyLimit => true,
            Self::Finished | Self::Failed | Self::NeedsPerson | Self::Stopped => false,
        }
    }

    /// Whether the failure that was counted before the start stands.
    pub fn is_failure(self) -> bool {
        match self {
            Self::Interrupted | Self::Failed | Self::NeedsPerson => true,
            Self::Finished | Self::Paused | Self::Stopped | Self::UsageLimit | Self::DailyLimit => false,
        }
    }
}

/// Decides from the reason of the end and from what the reconciler had asked for.
pub fn conclude(
    reason: Option<&Open<EndReason>>,
    run: &ActiveRun,
    is_conversation: bool,
    is_daily_limit_reached: bool,
) -> RunOutcome {
    let Some(Open::Known(reason)) = reason else {
        return RunOutcome::Interrupted;
    };
    let is_asked_to_end = run.pause_iteration.is_some() || run.stop_requested_at.is_some();
    let reason = match reason {
        // A conversation that is asked to end counts as complete.
        EndReason::Completed if is_conversation && is_asked_to_end => &EndReason::Stopped,
        other => other,
    };
    match reason {
        EndReason::Completed => RunOutcome::Finished,
        // A stop that follows a request to pause is the end of the pause.
        EndReason::Stopped | EndReason::Interrupted | EndReason::Terminated
            if run.pause_iteration.is_some() =>
        {
            match is_daily_limit_reached {
                true => RunOutcome::DailyLimit,
                false => RunOutcome::Paused,
            }
        }
        EndReason::Stopped | EndReason::Interrupted | EndReason::Terminated
            if run.stop_requested_at.is_some() =>
        {
            RunOutcome::Stopped
        }
        EndReason::Stopped | EndReason::Interrupted => RunOutcome::Finished,
        EndReason::Limit(LimitKind::Usage) => RunOutcome::UsageLimit,
        EndReason::Limit(LimitKind::Cost) if is_daily_limit_reached => RunOutcome::DailyLimit,
        EndReason::Limit(_) => RunOutcome::Finished,
        EndReason::Terminated
        | EndReason::HungUp
        | EndReason::OutputClosed
        | EndReason::Crashed
        | EndReason::StorageFailed
        | EndReason::Lost => RunOutcome::Interrupted,
        EndReason::AgentError | EndReason::VerifyFailed | EndReason::NoResult | EndReason::Watchdog => {
            RunOutcome::Failed
        }
        EndReason::Denied
        | EndReason::NotLoggedIn
        | EndReason::ModelNotFound
        | EndReason::NoCredit
        | EndReason::PromptTooLong
        | EndReason::BackendUnavailable => RunOutcome::NeedsPerson,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use ralph_run::{EndReason, LimitKind, Open};

    use super::RunOutcome;
    use crate::state::ActiveRun;

    /// Of a loop.
    fn conclude(
        reason: Option<&Open<EndReason>>,
        run: &ActiveRun,
        is_daily_limit_reached: bool,
    ) -> RunOutcome {
        super::conclude(reason, run, false, is_daily_limit_reached)
    }

    #[test]
    fn a_stop_means_what_it_was_asked_for() {
        let stopped = Open::Known(EndReason::Stopped);
        let mut run = ActiveRun::new("r", 1, Timestamp::UNIX_EPOCH);
        assert_eq!(conclude(Some(&stopped), &run, false), RunOutcome::Finished);
        run.stop_requested_at = Some(Timestamp::UNIX_EPOCH);
        assert_eq!(conclude(Some(&stopped), &run, false), RunOutcome::Stopped);
        run.pause_iteration = Some(1);
        assert_eq!(conclude(Some(&stopped), &run, false), RunOutcome::Paused);
        assert_eq!(conclude(Some(&stopped), &run, true), RunOutcome::DailyLimit);
        let done = Open::Known(EndReason::Completed);
        assert_eq!(conclude(Some(&done), &run, false), RunOutcome::Finished);
    }

    #[test]
    fn a_conversation_that_completes_on_request_was_paused_or_stopped() {
        let done = Open::Known(EndReason::Completed);
        let of_conversation = |run: &ActiveRun| super::conclude(Some(&done), run, true, false);
        let mut run = ActiveRun::new("r", 1, Timestamp::UNIX_EPOCH);
        assert_eq!(of_conversation(&run), RunOutcome::Finished);
        run.stop_requested_at = Some(Timestamp::UNIX_EPOCH);
        assert_eq!(of_conversation(&run), RunOutcome::Stopped);
        run.pause_iteration = Some(1);
        assert_eq!(of_conversation(&run), RunOutcome::Paused);
    }

    #[test]
    fn a_runner_that_died_is_resumed_and_an_unknown_end_counts_as_such() {
        let run = ActiveRun::new("r", 1, Timestamp::UNIX_EPOCH);
        for reason in [EndReason::Lost, EndReason::Crashed, EndReason::Terminated] {
            let outcome = conclude(Some(&Open::Known(reason)), &run, false);
            assert_eq!(outcome, RunOutcome::Interrupted);
            assert!(outcome.keeps_session() && outcome.is_failure() && !outcome.closes_work());
        }
        assert_eq!(conclude(None, &run, false), RunOutcome::Interrupted);
    }

    #[test]
    fn limits_of_the_account_and_of_the_day_are_no_failures() {
        let run = ActiveRun::new("r", 1, Timestamp::UNIX_EPOCH);
        let usage = Open::Known(EndReason::Limit(LimitKind::Usage));
        let cost = Open::Known(EndReason::Limit(LimitKind::Cost));
        assert_eq!(conclude(Some(&usage), &run, false), RunOutcome::UsageLimit);
        assert_eq!(conclude(Some(&cost), &run, true), RunOutcome::DailyLimit);
        assert_eq!(conclude(Some(&cost), &run, false), RunOutcome::Finished);
        assert!(!RunOutcome::UsageLimit.is_failure() && !RunOutcome::DailyLimit.is_failure());
    }
}
