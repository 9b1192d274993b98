//! Where the prompt and the session of a run come from, and what `--dry-run` says about them.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::stage::{Ran, Stage, says};

const SESSION: &str = "00000000-0000-4000-8000-000000000001";

/// Runs a command with this on its stdin.
fn piped(mut command: Command, text: &str) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that needs no prompt may have exited without reading it.
    let written = child.stdin.take().unwrap().write_all(text.as_bytes());
    if let Err(error) = written {
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }
    Ran::of(&child.wait_with_output().unwrap())
}

#[test]
fn a_prompt_can_come_from_a_pipe() {
    let stage = Stage::new(&says("x"));
    for args in [
        &["run", "--dry-run", "-"][..],
        &["run", "--dry-run", "-p", "-"],
        &["run", "--dry-run", "-P", "-"],
        &["run", "--dry-run"],
    ] {
        let ran = piped(stage.ralph(args), "Fix the pipe.");
        assert_eq!(ran.code, Some(0), "{args:?} {ran:?}");
        assert!(
            ran.stdout.contains("\nFix the pipe.\n"),
            "{args:?} {}",
            ran.stdout
        );
    }
    // A file counts more than a pipe that is not asked for.
    fs::write(stage.workspace().join("PROMPT.md"), "Fix the file.").unwrap();
    let ran = piped(stage.ralph(&["run", "--dry-run"]), "Fix the pipe.");
    assert!(ran.stdout.contains("\nFix the file.\n"), "{}", ran.stdout);
}

#[test]
fn a_pipe_that_nothing_is_written_to_is_not_waited_for() {
    let stage = Stage::new(&says("x"));
    let (reader, _idle) = std::io::pipe().unwrap();
    let ran = Ran::of(&stage.ralph(&["run"]).stdin(reader).output().unwrap());
    assert_eq!(ran.code, Some(64), "{ran:?}");
    assert!(ran.stderr.contains("ralph init"), "{}", ran.stderr);
}

#[test]
fn without_a_prompt_an_empty_stdin_is_not_one() {
    let stage = Stage::new(&says("x"));
    for ran in [
        piped(stage.ralph(&["run"]), ""),
        Ran::of(&stage.ralph(&["run"]).output().unwrap()),
    ] {
        assert_eq!(ran.code, Some(64), "{ran:?}");
        assert!(ran.stderr.contains("ralph init"), "{}", ran.stderr);
    }
}

#[test]
fn a_mode_that_keeps_its_session_continues_it_and_says_so() {
    let stage = Stage::new(&says("x"));
    let first = stage.run(&["--mode", "planner"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    assert!(!first.stderr.contains("continuing"), "{}", first.stderr);
    let line = format!("continuing session {SESSION} of mode `planner`; use `--fresh` to start a new one");
    let second = stage.run(&["--mode", "planner"]);
    assert_eq!(second.code, Some(0), "{second:?}");
    assert!(second.stderr.contains(&line), "{}", second.stderr);
    let planned = stage.run(&["--mode", "planner", "--dry-run"]);
    assert!(
        planned.stdout.contains(&line) && planned.stdout.contains(&format!("--resume={SESSION}")),
        "{}",
        planned.stdout
    );
    for args in [
        &["--mode", "planner", "--fresh", "--dry-run"][..],
        &["--mode", "coder", "--dry-run"],
    ] {
        let ran = stage.run(args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(!ran.stdout.contains("--resume"), "{args:?} {}", ran.stdout);
    }
}

#[test]
fn continue_without_a_session_is_an_error() {
    let stage = Stage::new(&says("x"));
    for args in [&["--continue"][..], &["--continue", "--dry-run"]] {
        let ran = stage.run(args);
        assert_eq!(ran.code, Some(64), "{ran:?}");
        assert!(
            ran.stderr.contains("there is no session to continue"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(stage.runs().len(), 0);
    let other = stage.run(&["--continue", "--mode", "coder"]);
    assert!(other.stderr.contains("of mode `coder`"), "{}", other.stderr);
}

#[test]
fn the_agent_learns_of_its_notes_before_there_are_any() {
    let stage = Stage::new(&says("x"));
    let ran = stage.run(&["--dry-run"]);
    assert!(
        ran.stdout
            .contains("Keep what the next iteration must know in `.ralph/scratchpad.md`."),
        "{}",
        ran.stdout
    );
    stage.run(&["--max-iterations", "1"]);
    fs::write(stage.workspace().join(".ralph/scratchpad.md"), "- parser done").unwrap();
    let ran = stage.run(&["--dry-run"]);
    assert!(ran.stdout.contains("\n- parser done\n"), "{}", ran.stdout);
}

#[test]
fn a_dry_run_can_be_read_by_programs() {
    let stage = Stage::new(&says("x"));
    let ran = stage.run(&["--dry-run", "--output", "json", "--", "--effort=high"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let plan: Value = serde_json::from_str(&ran.stdout).unwrap();
    let settings = plan["settings"].as_array().unwrap();
    let args = settings.iter().find(|it| it["name"] == "cli.args").unwrap();
    assert_eq!(
        (args["value"].as_str(), args["origin"].as_str()),
        (Some("--effort=high"), Some("flag"))
    );
    assert!(plan["prompt"].as_str().unwrap().starts_with("Do it."));
    let command = plan["command"].as_array().unwrap();
    assert!(command.iter().any(|word| word == "--effort=high"), "{command:?}");
}

#[test]
fn an_unknown_variable_is_a_warning() {
    let stage = Stage::new(&says("x"));
    let mut command = stage.ralph(&["run", "-p", "x", "--dry-run"]);
    let ran = Ran::of(&command.env("RALPH_MAX_ITERATION", "4").output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let warning = "unknown variable `RALPH_MAX_ITERATION`, did you mean `RALPH_MAX_ITERATIONS`?";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
}
