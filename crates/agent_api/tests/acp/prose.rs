//! Programs that do not speak the protocol: what they wrote instead is quoted, and nobody waits for long.

use std::time::Duration;

use agent_api::{Outcome, RunRequest};
use test_support::script::Script;

use super::scripted::{ending, options, play_with, run};

#[tokio::test]
async fn a_program_that_only_prints_text_is_quoted() {
    let script = Script::new()
        .emit("usage: myagent [--help]")
        .emit("  --help  print this")
        .exit(2);
    let (_, finished) = run(&script).await;
    assert_eq!(finished.outcome, Outcome::Failed);
    let error = finished.error.unwrap();
    assert!(
        error.message.contains("usage: myagent [--help]"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn a_program_that_greets_and_waits_is_not_waited_for_as_long_as_a_silent_one() {
    let script = Script::new().emit("Welcome to MyAgent 1.0!").read_to_end();
    let request = RunRequest::new("Go.").options(options());
    let limit = Duration::from_secs(3);
    let played = play_with(&script, request, |backend| backend.initialize_limit(limit)).await;
    let (_, completed) = ending(played).await;
    assert_eq!(completed.finished.outcome, Outcome::Failed);
    let error = completed.finished.error.unwrap();
    assert_eq!(error.code, "no_answer");
    assert!(error.message.contains("within 2 s"), "{}", error.message);
    assert!(
        error.message.contains("Welcome to MyAgent 1.0!"),
        "{}",
        error.message
    );
}
