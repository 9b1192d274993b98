//! `conclude`: how a run ended. Our own stop comes first, then what the agent reported, then the exit.

use agent_client::StopCause;
use agent_process::{Exit, ExitReport, WaitStatus};

use crate::backend::{ExitTrust, Profile};
use crate::bounds::{cut, cut_message};
use crate::emitter::RunLedger;
use crate::event::{ErrorClass, ErrorInfo, ExitInfo, Finished, Outcome};

/// How many of the last lines on stderr an error quotes.
const STDERR_LINES: usize = 20;
/// How many bytes an error quotes of the first line on stderr.
const FIRST_LINE_BYTES: usize = 400;

const SIGINT: i32 = 2;
const INTERRUPTED_EXIT_CODE: i32 = 128 + SIGINT;

/// What is known at the end of a run.
pub(super) struct Facts<'a> {
    pub(super) cause: Option<StopCause>,
    /// Whether everything was done when the process was stopped, or when it exited.
    pub(super) was_done: bool,
    /// Whether the process was stopped because of its timeout.
    pub(super) is_overdue: bool,
    /// Whether the owner of the run interrupted the process by a signal.
    pub(super) was_interrupted: bool,
    pub(super) exit: &'a ExitReport,
    pub(super) ledger: &'a RunLedger,
    pub(super) profile: &'a Profile,
    pub(super) duration_ms: u64,
}

pub(super) fn conclude(facts: &Facts<'_>) -> Finished {
    let Facts {
        exit,
        ledger,
        profile,
        ..
    } = facts;
    let caused = caused(facts);
    let is_synthetic = caused.is_some() || said(ledger).is_none();
    let (outcome, error) = caused.or_else(|| said(ledger)).unwrap_or_else(|| exited(facts));
    let mut usage = ledger.usage;
    let owes_result = ledger.last_turn.is_none() && profile.exit_trust == ExitTrust::NeedsResult;
    usage.is_partial |= ledger.has_open_turn() || owes_result;
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
        turns: ledger.turns,
        line_errors: ledger.line_errors,
        duration_ms: facts.duration_ms,
    }
}

/// What we caused. A run that was done before we touched it is not undone by our impatience.
fn caused(facts: &Facts<'_>) -> Option<(Outcome, Option<ErrorInfo>)> {
    if facts.was_done {
        return None;
    }
    match (facts.cause, facts.exit.exit) {
        (Some(StopCause::Cancelled), _) => Some((Outcome::Cancelled, None)),
        (Some(StopCause::Stalled), _) => {
            let error = ended(facts, "stalled", "it was silent for too long");
            Some((Outcome::Stalled, Some(error)))
        }
        (Some(StopCause::TimedOut), _) | (_, Exit::TimedOut) => Some(timed_out(facts)),
        (Some(StopCause::Lingered) | None, _) => None,
    }
}

/// What the agent said.
fn said(ledger: &RunLedger) -> Option<(Outcome, Option<ErrorInfo>)> {
    let (outcome, error) = ledger.last_turn.as_ref().filter(|_| !ledger.has_open_turn())?;
    let error = error.clone().or_else(|| ledger.last_error.clone());
    Some((*outcome, error.filter(|_| !outcome.is_success())))
}

/// What its exit says.
fn exited(facts: &Facts<'_>) -> (Outcome, Option<ErrorInfo>) {
    match facts.exit.exit {
        // A shell reports the signal of its child as an exit code.
        Exit::Signal(SIGINT) | Exit::Code(INTERRUPTED_EXIT_CODE) if facts.was_interrupted => {
            (Outcome::Interrupted, None)
        }
        Exit::Signal(_) => (
            Outcome::Crashed,
            Some(ended(facts, "crashed", "the process was killed")),
        ),
        Exit::TimedOut => timed_out(facts),
        Exit::Cancelled => (Outcome::Cancelled, None),
        Exit::Code(code) => by_code(facts, code),
        // `Lost`, and any outcome that `agent_process` may add later.
        _ => (
            Outcome::Lost,
            Some(ended(facts, "lost", "its exit was not observed")),
        ),
    }
}

fn timed_out(facts: &Facts<'_>) -> (Outcome, Option<ErrorInfo>) {
    let error = if facts.is_overdue || facts.cause == Some(StopCause::TimedOut) {
        ended(facts, "timed_out", "its time was up")
    } else {
        ended(facts, "lingered", "it closed its output and did not exit")
    };
    (Outcome::TimedOut, Some(error))
}

/// The agent said nothing about its end.
fn by_code(facts: &Facts<'_>, code: i32) -> (Outcome, Option<ErrorInfo>) {
    let ledger = facts.ledger;
    let documented = facts.profile.exit_codes.iter().find(|known| known.code == code);
    if let Some(known) = documented {
        // A failure has the reason that was reported before. A limit or an interrupt is the reason itself.
        let reported = ledger
            .last_error
            .clone()
            .filter(|_| known.outcome == Outcome::Failed);
        let error = reported.unwrap_or_else(|| {
            let mut error = match ledger.has_session {
                true => ended(facts, known.word, known.message),
                false => recognised(facts, known.word, known.message),
            };
            if error.code == known.word {
                error.class = known.class;
            }
            error
        });
        return (known.outcome, Some(error));
    }
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
        (ExitTrust::NeedsResult, _) if !ledger.has_session => (
            Outcome::Failed,
            Some(
                ledger
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
    // Some programs print their reason first and then how they are used, others the other way round.
    let mut error = match first_line(facts) {
        Some(first) => ended(facts, code, &format!("{what}: {first}\n…")),
        None => ended(facts, code, what),
    };
    if let Some(known) = known.find(|known| last.contains(known.word)) {
        error.class = known.class;
        known.code.clone_into(&mut error.code);
    }
    error
}

/// What it said first on stderr, if that is not among the last lines.
fn first_line(facts: &Facts<'_>) -> Option<String> {
    let tail = String::from_utf8_lossy(&facts.exit.stderr_tail);
    let mut lines = tail.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    (lines.count() >= STDERR_LINES).then(|| cut(first.to_owned(), FIRST_LINE_BYTES))
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
    use agent_client::StopCause;
    use agent_process::{Exit, ExitReport, StopStep, WaitStatus};
    use bytes::Bytes;

    use super::{Facts, conclude};
    use crate::backend::{ExitCode, ExitTrust, Profile, StderrClass};
    use crate::bounds::MESSAGE_BYTES;
    use crate::emitter::{Emitter, RunLedger};
    use crate::event::{AgentKind, Body, ErrorClass, ErrorInfo, Finished, Limit, Outcome, TurnFinished};

    fn profile() -> Profile {
        Profile {
            exit_trust: ExitTrust::NeedsResult,
            exit_codes: &[
                ExitCode {
                    code: 53,
                    outcome: Outcome::LimitReached(Limit::Turns),
                    class: ErrorClass::Quota,
                    word: "max_turns",
                    message: "turn limit reached",
                },
                ExitCode {
                    code: 54,
                    outcome: Outcome::Failed,
                    class: ErrorClass::Tool,
                    word: "tool_failed",
                    message: "a tool failed",
                },
            ],
            stderr_classes: &[StderrClass {
                word: "not logged in",
                class: ErrorClass::Auth,
                code: "not_logged_in",
            }],
            ..Profile::new(AgentKind::built_in("some"), "some")
        }
    }

    fn report(exit: Exit) -> ExitReport {
        let (status, stopped_by) = match exit {
            Exit::Code(code) => (Some(WaitStatus::Code(code)), None),
            Exit::Signal(signal) => (Some(WaitStatus::Signal(signal)), None),
            Exit::TimedOut | Exit::Cancelled => (Some(WaitStatus::Signal(2)), Some(StopStep::Interrupt)),
            _ => (None, None),
        };
        let mut report = ExitReport::new(exit);
        report.status = status;
        report.stopped_by = stopped_by;
        report
    }

    fn finished(cause: Option<StopCause>, was_done: bool, exit: &ExitReport, ledger: &RunLedger) -> Finished {
        conclude(&Facts {
            cause,
            was_done,
            was_interrupted: false,
            is_overdue: false,
            exit,
            ledger,
            profile: &profile(),
            duration_ms: 1,
        })
    }

    fn after_turn(outcome: Outcome) -> RunLedger {
        let mut ledger = RunLedger::default();
        ledger.has_session = true;
        ledger.turns = 1;
        ledger.last_turn = Some((outcome, None));
        ledger
    }

    #[test]
    fn what_we_caused_comes_before_what_the_agent_said() {
        // A turn has ended, but background work went on.
        let ledger = after_turn(Outcome::Succeeded);
        for (cause, exit, outcome) in [
            (Some(StopCause::Cancelled), Exit::Cancelled, Outcome::Cancelled),
            (Some(StopCause::Stalled), Exit::Cancelled, Outcome::Stalled),
            (Some(StopCause::TimedOut), Exit::TimedOut, Outcome::TimedOut),
            (None, Exit::TimedOut, Outcome::TimedOut),
        ] {
            let finished = finished(cause, false, &report(exit), &ledger);
            assert_eq!(finished.outcome, outcome);
            assert!(finished.is_synthetic, "{outcome:?} is our conclusion");
        }
    }

    #[test]
    fn what_was_done_before_we_stopped_it_stays_done() {
        let ledger = after_turn(Outcome::Succeeded);
        for cause in [
            StopCause::Cancelled,
            StopCause::Stalled,
            StopCause::Lingered,
            StopCause::TimedOut,
        ] {
            let finished = finished(Some(cause), true, &report(Exit::Cancelled), &ledger);
            assert_eq!(finished.outcome, Outcome::Succeeded);
            assert!(!finished.is_synthetic && finished.exit.was_stopped);
            assert!(!finished.usage.is_partial);
        }
    }

    #[test]
    fn an_open_turn_makes_an_earlier_one_worthless() {
        let mut ledger = after_turn(Outcome::Succeeded);
        ledger.open_turns.insert(2);
        for (exit, outcome) in [
            (Exit::Code(0), Outcome::NoResult),
            (Exit::Code(1), Outcome::Crashed),
            (Exit::Signal(9), Outcome::Crashed),
            (Exit::Lost, Outcome::Lost),
        ] {
            let finished = finished(None, false, &report(exit), &ledger);
            assert_eq!(finished.outcome, outcome);
            assert!(finished.is_synthetic && finished.usage.is_partial);
            assert!(finished.error.is_some());
        }
    }

    #[test]
    fn a_failed_turn_without_reason_has_that_of_the_last_error() {
        let mut ledger = after_turn(Outcome::Failed);
        let error = ErrorInfo::new(ErrorClass::Quota, "quota", "nothing is left");
        ledger.last_error = Some(error.clone());
        let failed = finished(None, true, &report(Exit::Code(1)), &ledger);
        assert_eq!(failed.error, Some(error.clone()));
        ledger.last_turn = Some((Outcome::Succeeded, None));
        let succeeded = finished(None, true, &report(Exit::Code(0)), &ledger);
        assert_eq!(succeeded.error, None, "it was overcome");
    }

    #[test]
    fn an_error_of_an_earlier_turn_is_not_the_reason_of_a_later_one() {
        for first in [Outcome::Succeeded, Outcome::Failed] {
            let mut events = Emitter::new(AgentKind::built_in("some"));
            events.turn_started(1);
            events.error(ErrorInfo::new(ErrorClass::Auth, "auth", "no"));
            events.emit(Body::TurnFinished(Box::new(TurnFinished::new(1, first))));
            events.turn_started(2);
            let interrupted = TurnFinished::new(2, Outcome::Interrupted);
            events.emit(Body::TurnFinished(Box::new(interrupted)));
            let finished = finished(None, true, &report(Exit::Code(0)), events.ledger());
            assert_eq!((finished.outcome, finished.error), (Outcome::Interrupted, None));
        }
    }

    #[test]
    fn an_exit_code_that_names_a_limit_is_the_reason_whatever_went_wrong_before() {
        let mut ledger = RunLedger::default();
        ledger.has_session = true;
        ledger.last_error = Some(ErrorInfo::new(ErrorClass::Auth, "auth", "no"));
        for (code, word) in [(53, "max_turns"), (54, "auth")] {
            let finished = finished(None, false, &report(Exit::Code(code)), &ledger);
            assert_eq!(finished.error.unwrap().code, word);
        }
    }

    #[test]
    fn a_refusal_to_start_is_recognised_by_its_words_on_stderr() {
        let mut exit = report(Exit::Code(1));
        exit.stderr_tail = Bytes::from_static(b"warning\n\nError: Not logged in.\n");
        let finished = finished(None, false, &exit, &RunLedger::default());
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
        let mut ledger = after_turn(Outcome::Succeeded);
        ledger.open_turns.insert(2);
        for (cause, end, code) in [
            (None, Exit::Code(1), "crashed"),
            (None, Exit::Signal(9), "crashed"),
            (Some(StopCause::Stalled), Exit::Cancelled, "stalled"),
            (Some(StopCause::TimedOut), Exit::TimedOut, "timed_out"),
            (None, Exit::TimedOut, "lingered"),
        ] {
            let mut exit = report(end);
            exit.stderr_tail = Bytes::from_static(b"a tool says: not logged in\n");
            let error = finished(cause, false, &exit, &ledger).error.unwrap();
            assert_eq!((error.class, error.code.as_str()), (ErrorClass::Process, code));
        }
        let mut exit = report(Exit::Code(0));
        exit.stderr_tail = Bytes::from_static(b"Not logged in\n");
        let error = finished(None, false, &exit, &RunLedger::default()).error.unwrap();
        assert_eq!(error.code, "not_logged_in");
    }

    #[test]
    fn what_is_quoted_of_stderr_is_bounded() {
        let mut exit = report(Exit::Code(1));
        exit.stderr_tail = Bytes::from("é".repeat(MESSAGE_BYTES) + "\n" + &"line\n".repeat(100));
        let error = finished(None, false, &exit, &RunLedger::default()).error.unwrap();
        assert_eq!(error.message.matches("line").count(), 20, "the last lines only");
        exit.stderr_tail = Bytes::from("é".repeat(MESSAGE_BYTES));
        let error = finished(None, false, &exit, &RunLedger::default()).error.unwrap();
        assert!(error.message.len() <= MESSAGE_BYTES && error.message.ends_with("…(truncated)"));
    }

    #[test]
    fn the_reason_of_a_refusal_is_quoted_from_before_a_long_help() {
        let mut exit = report(Exit::Code(1));
        exit.stderr_tail = Bytes::from("\nInvalid id.\n\n".to_owned() + &"  --option\n".repeat(50));
        let error = finished(None, false, &exit, &RunLedger::default()).error.unwrap();
        assert!(
            error
                .message
                .starts_with("the agent did not start: Invalid id.\n… ("),
            "{}",
            error.message
        );
        assert_eq!(error.message.matches("--option").count(), 20);
    }

    #[test]
    fn the_end_is_bounded_as_its_event_is() {
        let mut ledger = after_turn(Outcome::Failed);
        let error = ErrorInfo::new(ErrorClass::Vendor, "x", "y".repeat(MESSAGE_BYTES + 1));
        ledger.last_turn = Some((Outcome::Failed, Some(error)));
        let error = finished(None, true, &report(Exit::Code(1)), &ledger)
            .error
            .unwrap();
        assert_eq!(error.message.len(), MESSAGE_BYTES);
    }
}
