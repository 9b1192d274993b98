//! Every reason to end that the agent or a limit gives.

use serde_json::json;
use test_support::script::{Script, Signal};

use crate::stage::{Stage, ends_with, result, says, success, works};

const DONE: &str = "All done.\nLOOP_COMPLETE";

/// Runs it: exit code, reason and number of iterations.
fn ending(script: &Script, args: &[&str]) -> (i32, serde_json::Value, u64) {
    let stage = Stage::new(script);
    let ran = stage.run(args);
    let file = stage.run_file();
    let iterations = file["status"]["iteration"].as_u64().unwrap();
    assert_eq!(file["exit_code"], ran.code.unwrap(), "{ran:?}");
    assert!(
        file["status"]["state"] == "ended",
        "nothing goes on any more: {file}"
    );
    let records = stage.records();
    let last = records.last().unwrap();
    assert_eq!(last["event"]["type"], "run_ended", "{last}");
    assert_eq!(last["event"]["data"]["reason"], file["reason"]);
    (ran.code.unwrap(), file["reason"].clone(), iterations)
}

#[test]
fn a_promise_completes_the_run() {
    assert_eq!(ending(&says(DONE), &[]), (0, json!("completed"), 1));
}

#[test]
fn once_takes_the_agents_word() {
    assert_eq!(
        ending(&says("Nothing promised."), &["--once"]),
        (0, json!("completed"), 1)
    );
}

#[test]
fn an_agent_that_never_promises_runs_into_the_limit_of_iterations() {
    let expected = (2, json!({"limit": "iterations"}), 2);
    assert_eq!(ending(&says("More to do."), &["--max-iterations", "2"]), expected);
}

#[test]
fn a_check_that_fails_is_believed_and_the_agent_is_not() {
    assert_eq!(
        ending(&says(DONE), &["--once", "--verify", "false"]),
        (1, json!("verify_failed"), 1)
    );
    let args = ["--verify", "false", "--max-iterations", "2"];
    assert_eq!(ending(&says(DONE), &args), (1, json!("verify_failed"), 2));
    assert_eq!(
        ending(&says(DONE), &["--verify", "true", "--verify", "test -d ."]),
        (0, json!("completed"), 1)
    );
}

#[test]
fn failures_in_a_row_end_the_run() {
    let failed = result(
        &json!({"subtype": "success", "is_error": true, "result": "API Error: 400", "api_error_status": 400}),
    );
    assert_eq!(
        ending(&ends_with("Hm.", &failed), &["--once"]),
        (1, json!("agent_error"), 1)
    );
    assert_eq!(
        ending(&ends_with("Hm.", &failed), &[]),
        (1, json!("agent_error"), 3)
    );
}

#[test]
fn what_a_person_must_fix_is_69() {
    let login = result(
        &json!({"subtype": "success", "is_error": true, "result": "Not logged in · Please run /login"}),
    );
    assert_eq!(
        ending(&ends_with("x", &login), &[]),
        (69, json!("not_logged_in"), 1)
    );
    let model = result(&json!({
        "subtype": "success",
        "is_error": true,
        "result": "There's an issue with the selected model (nonesuch).",
        "api_error_status": 404,
    }));
    assert_eq!(
        ending(&ends_with("x", &model), &[]),
        (69, json!("model_not_found"), 1)
    );
    let credit = result(&json!({
        "subtype": "success",
        "is_error": true,
        "result": "Credit balance is too low",
        "api_error_status": 400,
    }));
    assert_eq!(ending(&ends_with("x", &credit), &[]), (69, json!("no_credit"), 1));
}

#[test]
fn a_prompt_that_is_too_long_ends_the_run_however_it_is_reported() {
    for fields in [
        json!({"subtype": "success", "is_error": true, "result": "Prompt is too long", "api_error_status": 400}),
        json!({"subtype": "success", "is_error": true, "result": "Too much text", "terminal_reason": "prompt_too_long"}),
        json!({"subtype": "success", "is_error": true, "result": "request too large", "api_error_status": 413}),
    ] {
        let script = ends_with("x", &result(&fields));
        assert_eq!(ending(&script, &[]), (1, json!("prompt_too_long"), 1), "{fields}");
    }
}

#[test]
fn limits_of_the_agent_are_limits() {
    for (subtype, limit) in [("error_max_turns", "turns"), ("error_max_budget_usd", "cost")] {
        let line = result(&json!({"subtype": subtype, "is_error": true}));
        assert_eq!(
            ending(&ends_with("x", &line), &[]),
            (2, json!({ "limit": limit }), 1)
        );
    }
}

#[test]
fn limits_of_ours_bite() {
    assert_eq!(
        ending(&says("x"), &["--max-cost", "0.005"]),
        (2, json!({"limit": "cost"}), 1)
    );
    assert_eq!(
        ending(&says("x"), &["--max-tokens", "50"]),
        (2, json!({"limit": "tokens"}), 1)
    );
    let forever = || works().sleep_forever();
    assert_eq!(
        ending(&forever(), &["--max-runtime", "1s"]),
        (2, json!({"limit": "runtime"}), 1)
    );
}

#[test]
fn a_limit_that_a_promised_answer_crossed_holds_when_its_check_fails() {
    let args = [
        "--max-cost",
        "0.005",
        "--verify",
        "false",
        "--max-iterations",
        "3",
    ];
    assert_eq!(ending(&says(DONE), &args), (2, json!({"limit": "cost"}), 1));
    let args = ["--max-tokens", "50", "--verify", "false", "--max-iterations", "3"];
    assert_eq!(ending(&says(DONE), &args), (2, json!({"limit": "tokens"}), 1));
    let args = ["--max-cost", "0.005", "--verify", "true"];
    assert_eq!(ending(&says(DONE), &args), (0, json!("completed"), 1));
}

#[test]
fn a_limit_bites_before_any_result() {
    // The model's own figures, long before a result; the agent would go on for ever.
    let message = json!({
        "type": "assistant",
        "session_id": "s",
        "message": {
            "id": "msg_1",
            "model": "claude-opus-4-1-20250805",
            "content": [{"type": "text", "text": "Expensive."}],
            "usage": {"input_tokens": 2_000_000, "output_tokens": 500_000},
        },
    });
    let script = works().emit(message.to_string()).sleep_forever();
    assert_eq!(
        ending(&script, &["--max-cost", "1"]),
        (2, json!({"limit": "cost"}), 1)
    );
}

#[test]
fn a_crash_is_retried_once_and_then_reported() {
    let stage = Stage::new(&works().die(Signal::SegmentationFault));
    let ran = stage.run(&["--once"]);
    assert_eq!(
        (ran.code, &stage.run_file()["reason"]),
        (Some(1), &json!("crashed"))
    );
    let attempts = stage
        .records()
        .iter()
        .filter(|record| record["event"]["type"] == "attempt_started")
        .count();
    assert_eq!(attempts, 2);
    assert!(
        ran.stdout.contains("raw/2.ndjson") || ran.stderr.contains("raw/2.ndjson"),
        "{ran:?}"
    );
}

#[test]
fn an_agent_that_leaves_without_a_word_has_no_result() {
    assert_eq!(ending(&works().exit(0), &["--once"]), (1, json!("no_result"), 1));
}

#[test]
fn a_denied_call_ends_the_run_unless_denials_continue() {
    let denied = json!({"type": "system", "subtype": "permission_denied", "session_id": "s", "tool_name": "Bash", "tool_use_id": "toolu_1", "message": "no"});
    let script = || works().emit(denied.to_string()).emit(success(DONE)).read_to_end();
    assert_eq!(ending(&script(), &[]), (1, json!("denied"), 1));
    let stage = Stage::new(&script());
    let text = std::fs::read_to_string(stage.workspace().join("ralph.yml")).unwrap();
    stage.configure(&format!("{text}denials: continue\n"));
    assert_eq!(stage.run(&[]).code, Some(0));
}

#[test]
fn an_empty_result_takes_what_was_streamed_and_says_so() {
    let stage = Stage::new(&ends_with(DONE, &success("")));
    assert_eq!(stage.run(&[]).code, Some(0));
    let records = stage.records();
    let ended = records
        .iter()
        .find(|record| record["event"]["type"] == "attempt_ended")
        .unwrap();
    assert_eq!(ended["event"]["data"]["is_degraded"], true);
}

#[test]
fn a_spurious_second_result_does_not_undo_a_success() {
    let spurious = result(&json!({"subtype": "error_during_execution", "is_error": true}));
    let mut script = works().emit(success(DONE)).emit(spurious);
    script = script.read_to_end();
    assert_eq!(ending(&script, &[]), (0, json!("completed"), 1));
}

#[test]
fn an_agent_that_does_not_leave_after_its_result_is_stopped_and_has_succeeded() {
    let script = works().emit(success(DONE)).sleep_forever();
    assert_eq!(ending(&script, &[]), (0, json!("completed"), 1));
}

#[test]
fn the_exit_status_does_not_overrule_the_result() {
    let lies = result(&json!({"subtype": "success", "is_error": true, "result": "API Error: 500"}));
    assert_eq!(ending(&ends_with("x", &lies).exit(0), &["--once"]).0, 1);
    assert_eq!(
        ending(&ends_with("x", &success("fine")).exit(1), &["--once"]).0,
        0
    );
}

#[test]
fn an_agent_that_vanishes_between_iterations_fails_the_iteration() {
    let stage = Stage::new(&says(DONE));
    let config = std::fs::read_to_string(stage.workspace().join("ralph.yml")).unwrap();
    let program = config.rsplit(' ').next().unwrap().trim().to_owned();
    let copy = stage.path("agent");
    std::fs::write(&copy, format!("#!/bin/sh\nexec {program} \"$@\"\n")).unwrap();
    let make_executable = |mode| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    make_executable(0o755);
    let config = config.replace(&program, copy.to_str().unwrap());
    stage.configure(&format!("{config}\nevent_loop:\n  max_consecutive_failures: 1\n"));
    for command in [
        format!("chmod -x {}; false", copy.display()),
        format!("rm {}; false", copy.display()),
    ] {
        make_executable(0o755);
        // It is there for the first iteration, and a check takes it away before the second.
        let ran = stage.run(&["--verify", &command]);
        assert_eq!(ran.code, Some(69), "{ran:?}");
        let file = stage.run_file();
        assert_eq!(
            (&file["reason"], &file["status"]["iteration"]),
            (&json!("backend_unavailable"), &json!(2))
        );
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(told.contains(copy.to_str().unwrap()), "{told}");
    }
}

#[test]
fn the_end_lists_the_commits_of_the_run_and_what_to_do_next() {
    let stage = Stage::new(&says(DONE));
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        let identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
        command.args(identity).args(args).current_dir(stage.workspace());
        let output = command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "--quiet"]);
    git(&[
        "commit",
        "--quiet",
        "--allow-empty",
        "--message",
        "Before the run",
    ]);
    let start = git(&["rev-parse", "HEAD"]);
    let commit = "git -c user.name=A -c user.email=a@example.org commit --quiet --allow-empty --message 'During the run'";
    let ran = stage.run(&["--verify", commit]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let end = ran.stdout.split("--- Run complete ---\n").nth(1).unwrap();
    assert!(
        end.contains("Commits: 1\n  ") && end.contains(" During the run\n"),
        "{end}"
    );
    assert!(!end.contains("Before the run"), "{end}");
    assert!(end.contains("Next: ralph show "), "{end}");
    assert!(
        end.contains(&format!("\n      git diff {}\n", &start[..10])),
        "{end}"
    );
    assert_eq!(stage.records()[0]["event"]["data"]["start_commit"], start);
    let show = stage.ralph(&["show"]).output().unwrap();
    let show = String::from_utf8(show.stdout).unwrap();
    assert!(
        show.contains("\nCommits      1\n") && show.contains(" During the run\n"),
        "{show}"
    );
}
