//! The page about exit codes tells the truth.

use ralph_run::{EndReason, LimitKind};

const PAGE: &str = include_str!("../../../docs/exit-codes.md");

#[test]
fn the_page_names_every_reason_beside_its_code() {
    let limits = [
        LimitKind::Iterations,
        LimitKind::Runtime,
        LimitKind::IterationTimeout,
        LimitKind::Cost,
        LimitKind::Turns,
        LimitKind::Tokens,
        LimitKind::Usage,
    ];
    let mut reasons = vec![
        EndReason::Completed,
        EndReason::AgentError,
        EndReason::VerifyFailed,
        EndReason::Denied,
        EndReason::NotLoggedIn,
        EndReason::ModelNotFound,
        EndReason::NoCredit,
        EndReason::PromptTooLong,
        EndReason::Watchdog,
        EndReason::BackendUnavailable,
        EndReason::Interrupted,
        EndReason::Stopped,
        EndReason::Terminated,
        EndReason::HungUp,
        EndReason::OutputClosed,
        EndReason::Crashed,
        EndReason::NoResult,
        EndReason::StorageFailed,
        EndReason::Lost,
    ];
    reasons.extend(limits.map(EndReason::Limit));
    for reason in reasons {
        let word = match serde_json::to_value(reason).unwrap() {
            serde_json::Value::String(word) => word,
            limit => limit["limit"].as_str().unwrap().to_owned(),
        };
        let row = PAGE
            .lines()
            .find(|line| line.starts_with(&format!("| {} |", reason.exit_code())))
            .unwrap_or_default();
        assert!(
            row.contains(&format!("`{word}`")),
            "{word} is not beside {}",
            reason.exit_code()
        );
    }
}
