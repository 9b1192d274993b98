//! Watching a run that goes on, and leaving it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use crate::stage::{Held, Stage, signal};

#[test]
fn ctrl_c_detaches_from_a_run_that_continues() {
    let stage = Stage::new();
    let id = stage.background();
    for args in [&["attach"][..], &["logs", "-f"]] {
        let mut child = Held(
            stage
                .command(args)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap(),
        );
        let mut first = String::new();
        let mut stdout = BufReader::new(child.0.stdout.take().unwrap());
        stdout.read_line(&mut first).unwrap();
        assert_eq!(first, "--- Iteration 1 of 50 ---\n");
        signal("INT", child.0.id());
        let status = child.0.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{args:?}");
        let mut told = String::new();
        child.0.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        let id = ralph_run::short_run_id(&id);
        assert_eq!(
            told,
            format!("detached from run {id} (still running); stop it with `ralph stop {id}`\n")
        );
    }
    assert_ne!(stage.run_file(&id)["status"]["state"], "ended");
    let active = stage.ralph(&["runs", "--active"]);
    assert!(active.stdout.contains(ralph_run::short_run_id(&id)), "{active:?}");
    assert_eq!(stage.ralph(&["stop", "--all"]).code, Some(0));
}

#[test]
fn a_followed_log_ends_with_its_run() {
    let stage = Stage::new();
    let id = stage.background();
    let followers: Vec<_> = [&["logs", "-f"][..], &["logs", "--raw", "-f"]]
        .into_iter()
        .map(|args| stage.command(args).stdout(Stdio::piped()).spawn().unwrap())
        .collect();
    assert_eq!(stage.ralph(&["stop", &id]).code, Some(0));
    let outputs: Vec<_> = followers
        .into_iter()
        .map(|child| child.wait_with_output().unwrap())
        .collect();
    for output in &outputs {
        assert!(output.status.success());
    }
    let shown = String::from_utf8(outputs[0].stdout.clone()).unwrap();
    assert!(shown.contains("--- Run ended: stopped ---\n"), "{shown}");
    let raw = std::fs::read(stage.directory(&id).join("raw/1.ndjson")).unwrap();
    assert!(outputs[1].stdout == raw);
}
