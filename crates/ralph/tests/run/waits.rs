//! Waiting for a usage limit, backing off, and commands and iterations that take too long.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};
use test_support::script::{Script, ScriptedAgent};
use test_support::wait_for;

use crate::stage::{Ran, Stage, result, says, works};

const DONE: &str = "All done.\nLOOP_COMPLETE";

fn in_seconds(seconds: i64) -> i64 {
    jiff::Timestamp::now().as_second() + seconds
}

/// An agent whose usage limit resets then.
fn limited(resets_at: i64) -> Script {
    let limit = json!({
        "type": "rate_limit_event",
        "session_id": "00000000-0000-4000-8000-000000000001",
        "rate_limit_info": {"status": "rejected", "resetsAt": resets_at, "rateLimitType": "five_hour"},
    });
    let failed = result(&json!({
        "subtype": "success",
        "is_error": true,
        "result": "You've hit your 5-hour limit",
        "api_error_status": 429,
    }));
    works().emit(limit.to_string()).emit(failed).read_to_end()
}

/// A program that plays one script the first time and the other one later.
fn changing(stage: &Stage, first: &Script, later: &Script) -> (PathBuf, [ScriptedAgent; 2]) {
    let agents = [first.install().unwrap(), later.install().unwrap()];
    let [first, later] = agents.each_ref().map(|agent| agent.as_program().unwrap());
    let (program, marker) = (stage.path("agent"), stage.path("was-started"));
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in *--version*) exec {first} \"$@\";; esac\nif [ -e {marker} ]; then exec {later} \"$@\"; fi\n\
         touch {marker}\nexec {first} \"$@\"\n",
        first = first.display(),
        later = later.display(),
        marker = marker.display(),
    );
    std::fs::write(&program, text).unwrap();
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    (program, agents)
}

fn of_kind(records: &[Value], kind: &str) -> Vec<Value> {
    records
        .iter()
        .filter(|record| record["event"]["type"] == kind)
        .map(|record| record["event"]["data"].clone())
        .collect()
}

impl Stage {
    fn detach(&self, args: &[&str]) {
        let mut all = vec!["run", "-p", "Do it.", "--detach"];
        all.extend(args);
        let started = self.ralph(&all).output().unwrap();
        assert!(started.status.success(), "{started:?}");
    }

    fn wait_for_state(&self, state: &str, waits_for: Option<&str>) -> Value {
        wait_for(&format!("{state} {waits_for:?}"), || {
            let file = self.run_file();
            let status = &file["status"];
            let is_it = status["state"] == state && waits_for.is_none_or(|what| status["for"] == what);
            is_it.then_some(file)
        })
    }

    fn says(&self, args: &[&str]) -> Ran {
        Ran::of(&self.ralph(args).output().unwrap())
    }
}

#[test]
fn a_usage_limit_is_waited_for_and_the_iteration_repeated() {
    let stage = Stage::empty();
    let (program, _agents) = changing(&stage, &limited(in_seconds(2)), &says(DONE));
    stage.configure(&format!(
        "cli:\n  backend: claude\n  command: {}\n",
        program.display()
    ));
    let ran = stage.run(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stdout
            .contains("[Waiting] usage limit reached; continuing at "),
        "{}",
        ran.stdout
    );
    let records = stage.records();
    let waits = of_kind(&records, "cooldown_started");
    assert_eq!((waits.len(), &waits[0]["cause"]), (1, &json!("usage_limit")));
    assert_eq!(of_kind(&records, "attempt_started").len(), 2);
    assert_eq!(
        of_kind(&records, "iteration_started").len(),
        1,
        "it is the same iteration"
    );
    assert_eq!(of_kind(&records, "run_ended")[0]["iterations"], 1);
}

#[test]
fn a_wait_is_shown_everywhere_and_stopped_at_once() {
    let stage = Stage::new(&limited(in_seconds(3600)));
    stage.detach(&[]);
    let file = stage.wait_for_state("waiting", Some("limit"));
    assert!(file["status"]["until"].is_string(), "{file}");
    for args in [["runs", "--all"], ["show", "latest"]] {
        let shown = stage.says(&args);
        assert!(shown.stdout.contains("usage limit"), "{args:?}: {shown:?}");
    }
    assert_eq!(stage.says(&["stop", "latest"]).code, Some(0));
    let file = stage.run_file();
    assert_eq!(
        (&file["reason"], &file["status"]["iteration"]),
        (&json!("stopped"), &json!(1))
    );
}

#[test]
fn ctrl_c_ends_a_wait_at_once() {
    let stage = Stage::new(&limited(in_seconds(3600)));
    let mut child = stage
        .ralph(&["run", "-p", "Do it."])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("[Waiting]") {
        line.clear();
        assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "the run ended too early");
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
}

#[test]
fn a_limit_that_resets_too_late_ends_the_run() {
    let stage = Stage::new(&limited(in_seconds(7 * 3600)));
    let ran = stage.run(&[]);
    assert_eq!(
        (ran.code, &stage.run_file()["reason"]),
        (Some(2), &json!({"limit": "usage"}))
    );
    assert!(ran.stdout.contains("`max_wait` (6h)"), "{}", ran.stdout);
    let stage = Stage::new(&limited(in_seconds(365 * 24 * 3600)));
    assert_eq!(stage.run(&["--max-wait", "1h"]).code, Some(2));
}

#[test]
fn a_reset_in_the_past_or_without_a_time_is_waited_for_a_little() {
    for script in [
        limited(in_seconds(-3600)),
        works()
            .emit(result(&json!({
                "subtype": "success",
                "is_error": true,
                "result": "API Error: Request rejected (429)",
                "api_error_status": 429,
            })))
            .read_to_end(),
    ] {
        let stage = Stage::new(&script);
        stage.detach(&[]);
        let file = stage.wait_for_state("waiting", Some("limit"));
        let until: jiff::Timestamp = file["status"]["until"].as_str().unwrap().parse().unwrap();
        let left = until.as_second() - jiff::Timestamp::now().as_second();
        assert!((0..=40).contains(&left), "{left}");
        assert_eq!(stage.says(&["stop", "latest"]).code, Some(0));
    }
}

#[test]
fn a_failure_that_may_pass_is_tried_again_after_a_pause() {
    let failed = result(
        &json!({"subtype": "success", "is_error": true, "result": "API Error: 500", "api_error_status": 500}),
    );
    let stage = Stage::new(&works().emit(failed).read_to_end());
    stage.detach(&[]);
    stage.wait_for_state("cooling", None);
    let records = stage.records();
    assert_eq!(of_kind(&records, "cooldown_started")[0]["cause"], "backoff");
    assert_eq!(of_kind(&records, "iteration_ended")[0]["outcome"], "failed");
    assert_eq!(stage.says(&["stop", "latest"]).code, Some(0));
}

#[test]
fn a_verify_command_that_takes_too_long_is_named_as_such() {
    let stage = Stage::new(&says(DONE));
    let ran = stage.run(&[
        "--verify",
        "sleep 600",
        "--verify-timeout",
        "1s",
        "--max-iterations",
        "2",
    ]);
    assert_eq!(
        (ran.code, &stage.run_file()["reason"]),
        (Some(1), &json!("verify_failed"))
    );
    assert!(
        ran.stdout
            .contains("[Verify] sleep 600: failed, timed out after 1s"),
        "{}",
        ran.stdout
    );
    let records = stage.records();
    assert_eq!(
        of_kind(&records, "verify_finished")[0]["timed_out_after_ms"],
        1_000
    );
    let prompt = of_kind(&records, "iteration_started")[1]["prompt"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(prompt.contains("`sleep 600` timed out after 1s"), "{prompt}");
}

#[test]
fn a_verify_command_that_the_end_of_the_run_stops_has_not_failed() {
    let stage = Stage::new(&says(DONE));
    let ran = stage.run(&["--verify", "sleep 600", "--max-runtime", "2s"]);
    assert_eq!(
        (ran.code, &stage.run_file()["reason"]),
        (Some(2), &json!({"limit": "runtime"}))
    );
    assert!(
        ran.stdout.contains("[Verify] sleep 600: stopped"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("failed"), "{}", ran.stdout);
}

#[test]
fn an_iteration_that_takes_too_long_is_followed_by_the_next_one() {
    let interrupted = result(
        &json!({"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_streaming"}),
    );
    let script = works().converse([(
        json!({"type": "control_request", "request": {"subtype": "interrupt"}}),
        Script::new()
            .answer(r#"{"type":"control_response","response":{"subtype":"success","request_id":"${/request_id}","response":{}}}"#)
            .emit(interrupted),
    )]);
    let stage = Stage::new(&script);
    let ran = stage.run(&["--iteration-timeout", "1s", "--max-iterations", "2"]);
    assert_eq!(
        (ran.code, &stage.run_file()["reason"]),
        (Some(2), &json!({"limit": "iteration_timeout"})),
        "{ran:?}"
    );
    let records = stage.records();
    assert_eq!(of_kind(&records, "iteration_ended")[0]["outcome"], "timed_out");
    let prompt = of_kind(&records, "iteration_started")[1]["prompt"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(prompt.contains("took longer than 1s"), "{prompt}");
}

#[test]
fn an_iteration_that_is_stopped_at_its_timeout_has_one_row_that_names_it() {
    let custom = Stage::empty();
    custom.configure("cli: {backend: custom, command: sleep, args: ['600']}\n");
    for stage in [Stage::new(&works().sleep_forever()), custom] {
        let ran = stage.run(&["--iteration-timeout", "1s", "--max-iterations", "2"]);
        assert_eq!(
            (ran.code, &stage.run_file()["reason"]),
            (Some(2), &json!({"limit": "iteration_timeout"})),
            "{ran:?}"
        );
        let rows = ran.stdout.matches("The iteration took longer than 1s").count();
        assert_eq!(rows, 2, "{}", ran.stdout);
        for shown in [&ran.stdout, &ran.stderr] {
            assert!(!shown.contains("[Error]"), "{shown}");
        }
    }
}
