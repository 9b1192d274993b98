//! `state_word()`: a run's state in one word, for lists.

use ralph_run::model::RunState;
use ralph_run::{EndReason, Open};

/// A run's state in one word.
#[must_use]
pub fn state_word(state: &RunState) -> &'static str {
    match state {
        RunState::Starting => "starting",
        RunState::Thinking | RunState::Responding | RunState::Tool { .. } => "running",
        RunState::Verifying => "verifying",
        RunState::Waiting { .. } => "waiting",
        RunState::Cooling { .. } => "paused",
        RunState::Stopping => "stopping",
        RunState::Ended { reason } => match reason {
            Open::Unknown(_) => "ended",
            Open::Known(EndReason::Lost) => "lost",
            Open::Known(EndReason::Completed) => "completed",
            Open::Known(EndReason::Limit(_)) => "limit",
            Open::Known(EndReason::Interrupted) => "interrupted",
            Open::Known(reason) if reason.is_failure() => "failed",
            Open::Known(_) => "stopped",
        },
    }
}
