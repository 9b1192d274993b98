//! `Activity`: what a run is doing, with its clock or countdown, and the figures beside it. The status line and the header
//! of the terminal UI show it.

use agent_api::{ContextUse, MicroUsd};
use jiff::Timestamp;
use ralph_run::model::{RunModel, RunState, WaitingFor};

use crate::figures::{format_cents, format_seconds};
use crate::tool_line::in_workspace;
use crate::visible::escape_hidden;

/// A model that wrote nothing for this long is reported as silent.
const SILENCE_SECONDS: u64 = 10;

/// What a run is doing, with its time first: the subject may be cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// Not sanitised: it can have the name of a tool.
    pub head: String,
    /// Safe for a terminal, but it can have several lines.
    pub subject: Option<String>,
}

impl Activity {
    #[must_use]
    pub fn of(run: &RunModel, now: Timestamp) -> Self {
        let since = run.state_since().map_or(0, |since| seconds_between(since, now));
        let left = run.waits_until().map(|until| seconds_between(now, until));
        let left = left
            .map(|left| format!(", {} left", format_seconds(left)))
            .unwrap_or_default();
        let (head, subject) = match run.state() {
            RunState::Tool { name, subject } => {
                let workspace = run.started().map_or("", |started| started.workspace.as_str());
                let subject = subject
                    .as_deref()
                    .map(|subject| escape_hidden(in_workspace(subject, workspace)));
                (format!("{name} {}", format_seconds(since)), subject)
            }
            RunState::Thinking | RunState::Responding if run.retry().is_some() => {
                (describe_retry(run, now), None)
            }
            RunState::Thinking | RunState::Responding => (describe_model(run, now), None),
            RunState::Verifying => {
                let head = format!("verifying {}", format_seconds(since));
                (head, run.verifying().map(escape_hidden))
            }
            RunState::Cooling { until } => (
                format!(
                    "next iteration in {}",
                    format_seconds(seconds_between(now, *until))
                ),
                None,
            ),
            RunState::Waiting { what } => match what {
                WaitingFor::Message => ("waiting for a message".to_owned(), None),
                WaitingFor::Permission | WaitingFor::Question | WaitingFor::Plan => {
                    (format!("waiting for {what} {}", format_seconds(since)), None)
                }
                WaitingFor::Limit { .. } => (format!("waiting for the usage limit{left}"), None),
                WaitingFor::Budget => (format!("waiting for {what}{left}"), None),
            },
            state @ (RunState::Starting | RunState::Stopping | RunState::Ended { .. }) => {
                (state.to_string(), None)
            }
        };
        Self { head, subject }
    }
}

/// `iteration 2/50`.
#[must_use]
pub fn iteration_of_limit(run: &RunModel) -> Option<String> {
    let max = run.started().map_or(0, |started| started.max_iterations);
    match (run.iteration(), max) {
        (0, _) | (_, 1) => None,
        (number, 0) => Some(format!("iteration {number}")),
        (number, max) => Some(format!("iteration {number}/{max}")),
    }
}

/// The time that the run counts, up to now.
#[must_use]
pub fn elapsed_seconds(run: &RunModel, now: Timestamp) -> Option<u64> {
    let since = match run.ended() {
        Some(_) => 0,
        None => seconds_between(run.last_at()?, now),
    };
    Some(run.totals().duration_ms / 1_000 + since)
}

/// `$0.12 of $10.00`, `~$0.12`.
#[must_use]
pub fn cost_of_limit(run: &RunModel) -> Option<String> {
    let totals = run.totals();
    let about = if totals.is_estimate && totals.cost.is_some() {
        "~"
    } else {
        ""
    };
    let limit = run.started().and_then(|started| started.max_cost);
    match limit.filter(|limit| *limit > MicroUsd::ZERO) {
        Some(limit) => {
            let spent = format_cents(run.spent_of_limit());
            Some(format!("{about}{spent} of {}", format_cents(limit)))
        }
        None => totals.cost.map(|cost| format!("{about}{}", format_cents(cost))),
    }
}

/// `context 34%`.
#[must_use]
pub fn context_share(run: &RunModel) -> Option<String> {
    match run.context()? {
        ContextUse {
            used,
            size: Some(size @ 1..),
        } => Some(format!("context {}%", used.saturating_mul(100) / size)),
        ContextUse { .. } => None,
    }
}

/// `retry 2 of 10 in 14s`.
fn describe_retry(run: &RunModel, now: Timestamp) -> String {
    let Some(retry) = run.retry() else {
        return String::new();
    };
    let number = match (retry.attempt, retry.max_attempts) {
        (Some(attempt), Some(max)) => format!(" {attempt} of {max}"),
        (Some(attempt), None) => format!(" {attempt}"),
        (None, _) => String::new(),
    };
    match seconds_between(now, retry.at) {
        0 => format!("retry{number}"),
        left => format!("retry{number} in {}", format_seconds(left)),
    }
}

fn describe_model(run: &RunModel, now: Timestamp) -> String {
    let silent = run.last_at().map_or(0, |last| seconds_between(last, now));
    match silent {
        0..SILENCE_SECONDS => run.state().to_string(),
        _ => format!("{}, no output for {}", run.state(), format_seconds(silent)),
    }
}

/// A clock that was set back shows no negative time.
#[must_use]
pub fn seconds_between(earlier: Timestamp, later: Timestamp) -> u64 {
    u64::try_from(later.duration_since(earlier).as_secs()).unwrap_or(0)
}
