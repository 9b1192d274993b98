//! `render_status()`: the line at the bottom of the terminal; `render_heartbeat()`: the same for a pipe, once a minute.

use agent_api::{ContextUse, MicroUsd};
use jiff::Timestamp;
use ralph_run::model::{RunModel, RunState, WaitingFor};
use ralph_run::short_run_id;

use super::figures::{format_cents, format_duration};
use super::one_line::{one_line, width};
use super::tool_line::in_workspace;
use super::visible::escape_hidden;

const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/// A subject that would be shorter is left out.
const MIN_SUBJECT_COLUMNS: usize = 8;
/// A model that wrote nothing for this long is reported as silent.
const SILENCE_SECONDS: u64 = 10;

/// Where the user types messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Typing {
    /// In the line below the status line.
    Here,
    /// In another terminal, with `ralph send`.
    Elsewhere,
}

/// `⠋ iteration 2/50 · 1m 23s · $0.12 of $10.00 · context 34% · Bash 12s: cargo test`, at most `columns` wide. Where
/// that is too wide, what the run is doing counts more than the figures.
pub(super) fn render_status(run: &RunModel, now: Timestamp, columns: usize, typing: Typing) -> String {
    let elapsed = elapsed_seconds(run, now);
    let mut activity = Activity::of(run, now);
    let waits_for_message = matches!(
        run.state(),
        RunState::Waiting {
            what: WaitingFor::Message
        }
    );
    if waits_for_message && typing == Typing::Here {
        activity = Activity {
            head: "type a message".to_owned(),
            subject: None,
        };
    }
    // One step per second: faster ones cost power and say nothing more.
    let frame = usize::try_from(elapsed.unwrap_or(0)).unwrap_or(0) % SPINNER.len();
    let (iteration, cost) = (describe_iteration(run), describe_cost(run));
    let short_iteration = iteration
        .as_deref()
        .map(|text| text.trim_start_matches("iteration "));
    let short_cost = cost.as_deref().and_then(|text| text.split(" of ").next());
    let (context, clock) = (describe_context(run), elapsed.map(show_seconds));
    let (iteration, cost, context) = (iteration.as_deref(), cost.as_deref(), context.as_deref());
    let subject_columns = activity.subject.as_ref().map_or(0, |_| MIN_SUBJECT_COLUMNS + 2);
    let mut status = String::new();
    for figures in [
        [iteration, clock.as_deref(), cost, context],
        [short_iteration, clock.as_deref(), cost, context],
        [short_iteration, clock.as_deref(), short_cost, context],
        [short_iteration, clock.as_deref(), short_cost, None],
        [None, clock.as_deref(), None, None],
    ] {
        let parts = figures.into_iter().flatten().chain([activity.head.as_str()]);
        status = format!("{} {}", SPINNER[frame], parts.collect::<Vec<&str>>().join(" · "));
        if width(&status) + subject_columns <= columns {
            break;
        }
    }
    if let Some(subject) = activity.subject {
        let room = columns.saturating_sub(width(&status) + 2);
        if room >= MIN_SUBJECT_COLUMNS {
            status.push_str(": ");
            status.push_str(&one_line(&subject, room));
        }
    }
    one_line(&status, columns)
}

/// `still running: iteration 2, 3m 00s, Bash 2m 10s: cargo test`.
pub(super) fn render_heartbeat(run: &RunModel, now: Timestamp, columns: usize) -> String {
    let activity = Activity::of(run, now);
    let parts = describe_iteration(run)
        .into_iter()
        .chain(elapsed_seconds(run, now).map(show_seconds))
        .chain([activity.head]);
    let mut text = format!("still running: {}", parts.collect::<Vec<String>>().join(", "));
    if let Some(subject) = activity.subject {
        text.push_str(": ");
        text.push_str(&subject);
    }
    one_line(&text, columns)
}

fn describe_iteration(run: &RunModel) -> Option<String> {
    let max = run.started().map_or(0, |started| started.max_iterations);
    match (run.iteration(), max) {
        (0, _) | (_, 1) => None,
        (number, 0) => Some(format!("iteration {number}")),
        (number, max) => Some(format!("iteration {number}/{max}")),
    }
}

/// The time that the run counts, up to now.
fn elapsed_seconds(run: &RunModel, now: Timestamp) -> Option<u64> {
    let since = seconds_between(run.last_at()?, now);
    Some(run.totals().duration_ms / 1_000 + since)
}

fn describe_cost(run: &RunModel) -> Option<String> {
    let totals = run.totals();
    let about = if totals.is_estimate && totals.cost.is_some() {
        "~"
    } else {
        ""
    };
    let cost = totals.cost.unwrap_or_default();
    let limit = run.started().and_then(|started| started.max_cost);
    match limit.filter(|limit| *limit > MicroUsd::ZERO) {
        Some(limit) => {
            // The limit is the task's.
            let before = run.started().and_then(|started| started.spent_before);
            let spent = cost + before.unwrap_or_default();
            Some(format!(
                "{about}{} of {}",
                format_cents(spent),
                format_cents(limit)
            ))
        }
        None => totals.cost.map(|cost| format!("{about}{}", format_cents(cost))),
    }
}

fn describe_context(run: &RunModel) -> Option<String> {
    match run.context()? {
        ContextUse {
            used,
            size: Some(size @ 1..),
        } => Some(format!("context {}%", used.saturating_mul(100) / size)),
        ContextUse { .. } => None,
    }
}

/// What the run is doing, with its time first: the subject may be cut.
struct Activity {
    head: String,
    subject: Option<String>,
}

impl Activity {
    fn of(run: &RunModel, now: Timestamp) -> Self {
        let since = run.state_since().map_or(0, |since| seconds_between(since, now));
        let left = run.waits_until().map(|until| seconds_between(now, until));
        let left = left
            .map(|left| format!(", {} left", show_seconds(left)))
            .unwrap_or_default();
        let (head, subject) = match run.state() {
            RunState::Tool { name, subject } => {
                let workspace = run.started().map_or("", |started| started.workspace.as_str());
                let subject = subject
                    .as_deref()
                    .map(|subject| escape_hidden(in_workspace(subject, workspace)));
                (format!("{name} {}", show_seconds(since)), subject)
            }
            RunState::Thinking | RunState::Responding if run.retry().is_some() => {
                (describe_retry(run, now), None)
            }
            RunState::Thinking | RunState::Responding => (describe_model(run, now), None),
            RunState::Verifying => {
                let head = format!("verifying {}", show_seconds(since));
                (head, run.verifying().map(str::to_owned))
            }
            RunState::Cooling { until } => (
                format!("next iteration in {}", show_seconds(seconds_between(now, *until))),
                None,
            ),
            RunState::Waiting { what } => match what {
                WaitingFor::Message => {
                    let id = run.started().map_or("", |started| started.run_id.as_str());
                    let command = format!("ralph send {} TEXT", short_run_id(id));
                    ("waiting for a message".to_owned(), Some(command))
                }
                WaitingFor::Permission | WaitingFor::Question | WaitingFor::Plan => {
                    (format!("waiting for {what} {}", show_seconds(since)), None)
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
        left => format!("retry{number} in {}", show_seconds(left)),
    }
}

fn describe_model(run: &RunModel, now: Timestamp) -> String {
    let silent = run.last_at().map_or(0, |last| seconds_between(last, now));
    match silent {
        0..SILENCE_SECONDS => run.state().to_string(),
        _ => format!("{}, no output for {}", run.state(), show_seconds(silent)),
    }
}

fn show_seconds(seconds: u64) -> String {
    format_duration(seconds.saturating_mul(1_000))
}

/// A clock that was set back shows no negative time.
fn seconds_between(earlier: Timestamp, later: Timestamp) -> u64 {
    u64::try_from(later.duration_since(earlier).as_secs()).unwrap_or(0)
}
