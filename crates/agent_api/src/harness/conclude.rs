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
    /// Whether the process was stopped because of its timeout.
    pub(super) is_overdue: bool,
    pub(super) exit: &'a ExitReport,
    pub(super) books: &'a Books,
    pub(super) profile: &'a Profile,
    pub(super) duration_ms: u64,
}

pub(super) fn conclude(facts: &Facts<'_>) -> Finished {
    let Facts {
        exit, books, profile, ..
    } = facts;
    let caused = caused(facts);
    let is_synthetic = caused.is_some() || said(books).is_none();
    let (outcome, error) = caused.or_else(|| said(books)).unwrap_or_else(|| exited(facts));
    let mut usage = books.usage;
    let owes_result = books.last_turn.is_none() && profile.exit_trust == ExitTrust::NeedsResult;
    usage.is_partial |= books.has_open_turn() || owes_result;
    Finished {
        outcome,
        is_synthetic,
        error: error.map(|error| ErrorInfo {
            code: cut_message(error.code),
            message: cut_message(error.message),
            ..error
        }),
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

/// What we caused. A run that was done before we touched it is not undone by our impatience.
fn caused(facts: &Facts<'_>) -> Option<(Outcome, Option<ErrorInfo>)> {
    if facts.was_done {
        return None;
    }
    match (facts.cause, facts.exit.exit) {
        (Some(Cause::Cancelled), _) => Some((Outcome::Cancelled, None)),
        (Some(Cause::Stalled), _) => {
            let error = ended(facts, "stalled", "it was silent for too long");
            Some((Outcome::Stalled, Some(error)))
        }
        (Some(Cause::TimedOut), _) | (_, Exit::TimedOut) => Some(timed_out(facts)),
        (Some(Cause::Lingered) | None, _) => None,
    }
}

/// What the agent said.
fn said(books: &Books) -> Option<(Outcome, Option<ErrorInfo>)> {
    let (outcome, error) = books.last_turn.as_ref().filter(|_| !books.has_open_turn())?;
    let error = error.clone().or_else(|| books.last_error.clone());
    Some((*outcome, error.filter(|_| !outcome.is_success())))
}

/// What its exit says.
fn exited(facts: &Facts<'_>) -> (Outcome, Option<ErrorInfo>) {
    match facts.exit.exit {
        Exit::Lost => (
            Outcome::Lost,
            Some(ended(facts, "lost", "nobody saw how it ended")),
        ),
        Exit::Signal(_) => (
            Outcome::Crashed,
            Some(ended(facts, "crashed", "the process was killed")),
        ),
        Exit::TimedOut => timed_out(facts),
        Exit::Cancelled => (Outcome::Cancelled, None),
        Exit::Code(code) => by_code(facts, code),
    }
}

fn timed_out(facts: &Facts<'_>) -> (Outcome, Option<ErrorInfo>) {
    let error = if facts.is_overdue || facts.cause == Some(Cause::TimedOut) {
        ended(facts, "timed_out", "its time was up")
    } else {
        ended(facts, "lingered", "it closed its output and did not exit")
    };
    (Outcome::TimedOut, Some(error))
}

/// The agent said nothing about its end.
fn by_code(facts: &Facts<'_>, code: i32) -> (Outcome, Option<ErrorInfo>) {
    let books = facts.books;
    match (facts.profile.exit_trust, code) {
        (ExitTrust::Decides, 0) => (Outcome::Succeeded, None),
        (ExitTrust::NeedsResult, 0) => (
            Outcome::NoResult,
            Some(recognised(
                facts,
                "no_result",
                "the process ended without a result",
            )),
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
                    .unwrap_or_else(|| recognised(facts, "not_started", "the agent did not start")),
            ),
        ),
        (ExitTrust::NeedsResult, _) => (
            Outcome::Crashed,
            Some(ended(facts, "crashed", "the process ended in mid-turn")),
        ),
    }
}

/// An error about an agent that did nothing: words on stderr may say why. In the middle of its work they say little.
fn recognised(facts: &Facts<'_>, code: &str, what: &str) -> ErrorInfo {
    let last = last_lines(facts).to_lowercase();
    let mut known = facts.profile.stderr_classes.iter();
    let mut error = ended(facts, code, what);
    if let Some(known) = known.find(|known| last.contains(known.word)) {
        error.class = known.class;
        known.code.clone_into(&mut error.code);
    }
    error
}

/// What it said last on stderr.
fn last_lines(facts: &Facts<'_>) -> String {
    let tail = String::from_utf8_lossy(&facts.exit.stderr_tail);
    let lines: Vec<&str> = tail
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines[lines.len().saturating_sub(STDERR_LINES)..].join("\n")
}

/// An error about the process's end, with what it said on stderr.
fn ended(facts: &Facts<'_>, code: &str, what: &str) -> ErrorInfo {
    let last = last_lines(facts);
    let status = facts.exit.exit;
    let message = if last.is_empty() {
        format!("{what} ({status})")
    } else {
        format!("{what} ({status}): {last}")
    };
    ErrorInfo::new(ErrorClass::Process, code, cut_message(message))
}

#[cfg(test)]
mod tests {
    use agent_process::{Exit, ExitReport, Limits, StdoutMode, StopStep, WaitStatus};
    use bytes::Bytes;
    use std::time::Duration;

    use super::{Cause, Facts, conclude};
    use crate::backend::{ExitTrust, InterruptBy, Profile, StderrClass};
    use crate::bounds::MESSAGE_BYTES;
    use crate::emitter::Books;
    use crate::event::{AgentKind, ErrorClass, ErrorInfo, Finished, Outcome};

    fn profile() -> Profile {
        Profile {
            kind: AgentKind::built_in("some"),
            display_name: "Some",
            program: "some",
            version_args: &[],
            version_word: None,
            tested_versions: None,
            install_hint: "",
            login_hint: "",
            capabilities: &[],
            extension_keys: &[],
            transport: StdoutMode::Pipe,
            interrupt_by: InterruptBy::Signal,
            limits: Limits::default,
            exit_after_idle: Duration::from_secs(5),
            inactivity_limit: None,
            exit_trust: ExitTrust::NeedsResult,
            stderr_classes: &[StderrClass {
                word: "not logged in",
                class: ErrorClass::Auth,
                code: "not_logged_in",
            }],
            environment: &[],
        }
    }

    fn report(exit: Exit) -> ExitReport {
        let (status, stopped_by) = match exit {
            Exit::Code(code) => (Some(WaitStatus::Code(code)), None),
            Exit::Signal(signal) => (Some(WaitStatus::Signal(signal)), None),
            Exit::TimedOut | Exit::Cancelled => (Some(WaitStatus::Signal(2)), Some(StopStep::Interrupt)),
            Exit::Lost => (None, None),
        };
        ExitReport {
            exit,
            status,
            stopped_by,
            survivors_killed: 0,
            survivors_remaining: 0,
            stderr_tail: Bytes::new(),
            stderr_bytes: 0,
            stdout_bytes: 0,
            raw_log_error: None,
            stderr_log_error: None,
            log_truncated: false,
            stdin_cut: false,
        }
    }

    fn finished(cause: Option<Cause>, was_done: bool, exit: &ExitReport, books: &Books) -> Finished {
        conclude(&Facts {
            cause,
            was_done,
            is_overdue: false,
            exit,
            books,
            profile: &profile(),
            duration_ms: 1,
        })
    }

    fn after_turn(outcome: Outcome) -> Books {
        let mut books = Books::default();
        books.has_session = true;
        books.turns = 1;
        books.last_turn = Some((outcome, None));
        books
    }

    #[test]
    fn what_we_caused_comes_before_what_the_agent_said() {
        // A turn has ended, but background work went on.
        let books = after_turn(Outcome::Succeeded);
        for (cause, exit, outcome) in [
            (Some(Cause::Cancelled), Exit::Cancelled, Outcome::Cancelled),
            (Some(Cause::Stalled), Exit::Cancelled, Outcome::Stalled),
            (Some(Cause::TimedOut), Exit::TimedOut, Outcome::TimedOut),
            (None, Exit::TimedOut, Outcome::TimedOut),
        ] {
            let finished = finished(cause, false, &report(exit), &books);
            assert_eq!(finished.outcome, outcome);
            assert!(finished.is_synthetic, "{outcome:?} is our conclusion");
        }
    }

    #[test]
    fn what_was_done_before_we_stopped_it_stays_done() {
        let books = after_turn(Outcome::Succeeded);
        for cause in [Cause::Cancelled, Cause::Stalled, Cause::Lingered, Cause::TimedOut] {
            let finished = finished(Some(cause), true, &report(Exit::Cancelled), &books);
            assert_eq!(finished.outcome, Outcome::Succeeded);
            assert!(!finished.is_synthetic && finished.exit.was_stopped);
            assert!(!finished.usage.is_partial);
        }
    }

    #[test]
    fn an_open_turn_makes_an_earlier_one_worthless() {
        let mut books = after_turn(Outcome::Succeeded);
        books.open_turns.insert(2);
        for (exit, outcome) in [
            (Exit::Code(0), Outcome::NoResult),
            (Exit::Code(1), Outcome::Crashed),
            (Exit::Signal(9), Outcome::Crashed),
            (Exit::Lost, Outcome::Lost),
        ] {
            let finished = finished(None, false, &report(exit), &books);
            assert_eq!(finished.outcome, outcome);
            assert!(finished.is_synthetic && finished.usage.is_partial);
            assert!(finished.error.is_some());
        }
    }

    #[test]
    fn a_failed_turn_without_reason_has_that_of_the_last_error() {
        let mut books = after_turn(Outcome::Failed);
        let error = ErrorInfo::new(ErrorClass::Quota, "quota", "nothing is left");
        books.last_error = Some(error.clone());
        let failed = finished(None, true, &report(Exit::Code(1)), &books);
        assert_eq!(failed.error, Some(error.clone()));
        books.last_turn = Some((Outcome::Succeeded, None));
        let succeeded = finished(None, true, &report(Exit::Code(0)), &books);
        assert_eq!(succeeded.error, None, "it was overcome");
    }

    #[test]
    fn a_refusal_to_start_is_recognised_by_its_words_on_stderr() {
        let mut exit = report(Exit::Code(1));
        exit.stderr_tail = Bytes::from_static(b"warning\n\nError: Not logged in.\n");
        let finished = finished(None, false, &exit, &Books::default());
        assert_eq!(finished.outcome, Outcome::Failed);
        let error = finished.error.unwrap();
        assert_eq!(
            (error.class, error.code.as_str()),
            (ErrorClass::Auth, "not_logged_in")
        );
        assert!(error.message.ends_with(": warning\nError: Not logged in."));
    }

    #[test]
    fn words_on_stderr_do_not_explain_what_happened_in_the_middle_of_the_work() {
        let mut books = after_turn(Outcome::Succeeded);
        books.open_turns.insert(2);
        for (cause, end, code) in [
            (None, Exit::Code(1), "crashed"),
            (None, Exit::Signal(9), "crashed"),
            (Some(Cause::Stalled), Exit::Cancelled, "stalled"),
            (Some(Cause::TimedOut), Exit::TimedOut, "timed_out"),
            (None, Exit::TimedOut, "lingered"),
        ] {
            let mut exit = report(end);
            exit.stderr_tail = Bytes::from_static(b"a tool says: not logged in\n");
            let error = finished(cause, false, &exit, &books).error.unwrap();
            assert_eq!((error.class, error.code.as_str()), (ErrorClass::Process, code));
        }
        let mut exit = report(Exit::Code(0));
        exit.stderr_tail = Bytes::from_static(b"Not logged in\n");
        let error = finished(None, false, &exit, &Books::default()).error.unwrap();
        assert_eq!(error.code, "not_logged_in");
    }

    #[test]
    fn what_is_quoted_of_stderr_is_bounded() {
        let mut exit = report(Exit::Code(1));
        exit.stderr_tail = Bytes::from("é".repeat(MESSAGE_BYTES) + "\n" + &"line\n".repeat(100));
        let error = finished(None, false, &exit, &Books::default()).error.unwrap();
        assert_eq!(error.message.matches("line").count(), 20, "the last lines only");
        exit.stderr_tail = Bytes::from("é".repeat(MESSAGE_BYTES));
        let error = finished(None, false, &exit, &Books::default()).error.unwrap();
        assert!(error.message.len() <= MESSAGE_BYTES && error.message.ends_with("…(truncated)"));
    }

    #[test]
    fn the_end_is_bounded_as_its_event_is() {
        let mut books = after_turn(Outcome::Failed);
        let error = ErrorInfo::new(ErrorClass::Vendor, "x", "y".repeat(MESSAGE_BYTES + 1));
        books.last_turn = Some((Outcome::Failed, Some(error)));
        let error = finished(None, true, &report(Exit::Code(1)), &books)
            .error
            .unwrap();
        assert_eq!(error.message.len(), MESSAGE_BYTES);
    }
}
