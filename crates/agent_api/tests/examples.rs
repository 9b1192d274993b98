//! The examples run, end by themselves and show what they promise.
#![cfg(unix)]
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot start an example has to fail"
)]

use std::path::PathBuf;
use std::process::Command;

/// Runs an example from an empty environment. Gives what it wrote.
fn run(name: &str) -> String {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(example(name))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home.path())
        .current_dir(home.path())
        .output()
        .expect("the example starts");
    let stdout = String::from_utf8(output.stdout).expect("the example writes text");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{name}: {}\n{stdout}{stderr}",
        output.status
    );
    assert_eq!(stderr, "", "{name} has nothing to complain about");
    let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().collect();
    assert!(left.is_empty(), "{name} left {left:?} behind");
    stdout
}

/// Cargo puts examples beside the folder of the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap();
    let path = folder.join("examples").join(name);
    assert!(
        path.exists(),
        "the example `{name}` is not built: run `cargo build -p agent_api --examples` first"
    );
    path
}

/// The texts occur in this order.
fn assert_in_order(shown: &str, expected: &[&str]) {
    let mut rest = shown;
    for text in expected {
        let (_, after) = rest
            .split_once(text)
            .unwrap_or_else(|| panic!("`{text}` is missing, or not in its place:\n{shown}"));
        rest = after;
    }
}

#[test]
fn stream_shows_text_tools_and_a_summary() {
    let shown = run("stream");
    let expected = [
        "demo: I'll look at the greeting script",
        "[Tool] Read: ",
        "[Tool] Bash: cd ralph-demo && sh greet.sh Ralph\n[Failed] Exit code",
        "[Tool] Edit: ",
        "LOOP_COMPLETE\n",
        "--- Succeeded ---\nDuration: ",
        "| Turns: 1\n",
    ];
    assert_in_order(&shown, &expected);
    assert_eq!(
        shown.matches("Let me see what it does.").count(),
        1,
        "text is shown once:\n{shown}"
    );
}

#[test]
fn permissions_answers_the_question_of_the_demo() {
    let expected = [
        "How should the script greet people?\n  - Hello\n  - Good day\n",
        ": Answered\n",
        "\"Good day\" it is.\n",
        "--- Succeeded ---\n",
    ];
    assert_in_order(&run("permissions"), &expected);
}

#[test]
fn add_backend_maps_every_line_of_its_agent() {
    let shown = run("add_backend");
    let events: Vec<agent_api::Event> = shown
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<&str> = events.iter().map(|event| event.body.name()).collect();
    let expected = [
        "session_started",
        "turn_started",
        "text_block",
        "tool_started",
        "tool_finished",
        "unknown",
        "text_block",
        "turn_finished",
        "finished",
    ];
    assert_eq!(names, expected);
    assert!(events.iter().all(|event| event.agent_kind.as_str() == "parrot"));
}

#[test]
fn smoke_finds_the_demo_agent_live() {
    let expected = ["events, then the turn ended: Succeeded\n", "smoke: all is well\n"];
    assert_in_order(&run("smoke"), &expected);
}
