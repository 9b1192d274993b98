//! How a run ended, from all that is known. What we caused comes first, then what the agent said, then its exit.

use agent_process::{Exit, ExitReport, WaitStatus};

use crate::backend::{ExitTrust, Profile};
use crate::bounds::cut_message;
use crate::emitter::Books;
use crate::event::{ErrorClass, ErrorInfo, ExitInfo, Finished, Outcome};

/// How many of the last lines on stderr an error quotes.
const STDERR_LINES: usize = 20;

/// Why we stopped the process, if we did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// The holder cancelled.
    Cancelled,
    /// It was silent for too long.
    Stalled,
    /// It did not exit though all was done.
    Lingered,
    /// Its time was up.
    TimedOut,
}

/// All that is known at the end.
pub(super) struct Facts<'a> {
    pub(super) cause: Option<Cause>,
    /// Whether all was done when we began to stop it, or when it exited.
    pub(super) was_done: bool,
    pub(super) exit: &'a ExitReport,
    pub(super) books: &'a Books,
    pub(super) profile: &'a Profile,
    pub(super) duration_ms: u64,
}

pub(super) fn conclude(facts: &Facts<'_>) -> Finished {
    let Facts {
        exit, books, profile, ..
    } = facts;
    let (outcome, error) = outcome(facts);
    let has_said = books.last_turn.is_some() && !books.is_turn_open;
    let mut usage = books.usage;
    usage.is_partial |= books.is_turn_open || (!has_said && profile.exit_trust == ExitTrust::NeedsResult);
    Finished {
        outcome,
        is_synthetic: !has_said,
        error,
        exit: ExitInfo {
            code: match exit.status {
                Some(WaitStatus::Code(code)) => Some(code),
                _ => None,
            },
            signal: match exit.status {
                Some(WaitStatus::Signal(signal)) => Some(signal),
                _ => None,
            },
            was_stopped: exit.stopped_by.is_some(),
            survivors_killed: exit.survivors_killed,
        },
        usage,
        turns: books.turns,
        line_errors: books.line_errors,
        duration_ms: facts.duration_ms,
    }
}

fn outcome(facts: &Facts<'_>) -> (Outcome, Option<ErrorInfo>) {
    let Facts { exit, books, .. } = facts;
    // A run that was done before we touched it is not undone by our impatience.
    if !facts.was_done {
        match (facts.cause, exit.exit) {
            (Some(Cause::Cancelled), _) => return (Outcome::Cancelled, None),
            (Some(Cause::Stalled), _) => {
                return (
                    Outcome::Stalled,
                    Some(ended(facts, "stalled", "it was silent for too long")),
                );
            }
            (Some(Cause::TimedOut), _) | (_, Exit::TimedOut) => {
                return (
                    Outcome::TimedOut,
                    Some(ended(facts, "timed_out", "its time was up")),
                );
            }
            _ => {}
        }
    }
    if let Some((outcome, error)) = &books.last_turn
        && !books.is_turn_open
    {
        let error = error.clone().or_else(|| books.last_error.clone());
        return (*outcome, error.filter(|_| !outcome.is_success()));
    }
    match exit.exit {
        Exit::Lost => (
            Outcome::Lost,
            Some(ended(facts, "lost", "nobody saw how it ended")),
        ),
        Exit::Signal(_) => (
            Outcome::Crashed,
            Some(ended(facts, "crashed", "the process was killed")),
        ),
        Exit::TimedOut => (
            Outcome::TimedOut,
            Some(ended(facts, "timed_out", "its time was up")),
        ),
        Exit::Cancelled => (Outcome::Cancelled, None),
        Exit::Code(code) => by_code(facts, code),
    }
}

/// The agent said nothing about its end.
fn by_code(facts: &Facts<'_>, code: i32) -> (Outcome, Option<ErrorInfo>) {
    let books = facts.books;
    match (facts.profile.exit_trust, code) {
        (ExitTrust::Decides, 0) => (Outcome::Succeeded, None),
        (ExitTrust::NeedsResult, 0) => (
            Outcome::NoResult,
            Some(ended(facts, "no_result", "the process ended without a result")),
        ),
        (ExitTrust::Decides, _) => (
            Outcome::Failed,
            Some(ended(facts, "exit_code", "the command failed")),
        ),
        // It never got as far as a session: it refused, and says why on stderr.
        (ExitTrust::NeedsResult, _) if !books.has_session => (
            Outcome::Failed,
            Some(
                books
                    .last_error
                    .clone()
                    .unwrap_or_else(|| ended(facts, "not_started", "the agent did not start")),
            ),
        ),
        (ExitTrust::NeedsResult, _) => (
            Outcome::Crashed,
            Some(ended(facts, "crashed", "the process ended in mid-turn")),
        ),
    }
}

/// An error about the process's end, with what it said on stderr.
fn ended(facts: &Facts<'_>, code: &str, what: &str) -> ErrorInfo {
    let tail = String::from_utf8_lossy(&facts.exit.stderr_tail);
    let lines: Vec<&str> = tail
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let last = lines[lines.len().saturating_sub(STDERR_LINES)..].join("\n");
    let low = last.to_lowercase();
    let known = facts
        .profile
        .stderr_classes
        .iter()
        .find(|known| low.contains(known.word));
    let status = facts.exit.exit;
    let message = if last.is_empty() {
        format!("{what} ({status})")
    } else {
        format!("{what} ({status}): {last}")
    };
    match known {
        Some(known) => ErrorInfo::new(known.class, known.code, cut_message(message)),
        None => ErrorInfo::new(ErrorClass::Process, code, cut_message(message)),
    }
}
