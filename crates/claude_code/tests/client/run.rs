//! One prompt, one answer.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use agent_process::{Exit, Limits};
use claude_code::argv::Note;
use claude_code::{
    Capabilities, Client, CostBasis, Error, MicroUsd, NoResult, Request, Response, RunOptions, RunWarning,
    SessionChoice, Version,
};
use serde_json::{Value, json};
use test_support::dialect;
use test_support::script::{Script, ScriptedAgent, Signal};

use crate::support::{builder, play, soon};

const SESSION_ID: &str = "10f6d5a2-3c4b-4f1e-9a7d-2b8c6e5f4a31";

/// Runs a script; the raw log lives as long as the directory.
async fn run_in(directory: &tempfile::TempDir, script: &Script) -> Result<Response, Error> {
    let agent = script.install().unwrap();
    let client = builder(&agent).log_directory(directory.path()).build();
    soon(client.run(Request::new("Go."))).await
}

async fn run(script: &Script) -> Response {
    let directory = tempfile::tempdir().unwrap();
    run_in(&directory, script).await.unwrap()
}

async fn fail(script: &Script) -> NoResult {
    let directory = tempfile::tempdir().unwrap();
    match run_in(&directory, script).await.unwrap_err() {
        Error::NoResult(error) => *error,
        other => panic!("another error: {other:?}"),
    }
}

fn session() -> dialect::Session {
    dialect::Session::new(SESSION_ID)
}

/// `init` and one text of one message.
fn said(session: &mut dialect::Session, text: &str) -> Script {
    let init = session.init("/workspace");
    session.begin_message();
    Script::new().emit(init).emit(session.text(text))
}

/// A line with some members changed; `null` removes one.
fn changed(line: &str, changes: Value) -> String {
    let mut value: Value = serde_json::from_str(line).unwrap();
    for (key, change) in changes.as_object().unwrap() {
        let members = value.as_object_mut().unwrap();
        if change.is_null() {
            members.remove(key)
        } else {
            members.insert(key.clone(), change.clone())
        };
    }
    value.to_string()
}

#[tokio::test]
async fn an_answer_comes_with_everything_that_is_known_about_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut session = session();
    let script = said(&mut session, "Reading.");
    session.begin_message();
    let script = script.emit(session.text("It is a library.")).emit(changed(
        &session.result("It is a library."),
        json!({"permission_denials": [{"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": {"command": "rm x"}}]}),
    ));
    let response = run_in(&directory, &script).await.unwrap();
    assert!(response.is_success());
    assert_eq!(response.session_id.as_deref(), Some(SESSION_ID));
    assert_eq!(response.model.as_deref(), Some("claude-opus-5-5"));
    assert_eq!(response.version.as_deref(), Some("2.1.325"));
    assert_eq!(response.final_text, "It is a library.");
    assert!(response.stream_text.contains("Reading.") && response.stream_text.contains("It is a library."));
    assert_eq!(response.usage.input, 12);
    assert_eq!(response.total_cost, Some(MicroUsd::new(20_000)));
    assert_eq!(response.session_total, response.total_cost);
    assert_eq!(response.permission_denials.len(), 1);
    assert_eq!(response.permission_denials[0].tool_name.as_deref(), Some("Bash"));
    assert_eq!(response.exit.exit, Exit::Code(0));
    assert!(!response.degraded);
    assert_eq!(response.warnings, []);
    let path = response.raw_log.unwrap();
    let log = std::fs::read_to_string(&path).unwrap();
    assert_eq!(log.lines().count(), 4);
    assert_eq!(path.parent(), Some(directory.path()));
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[tokio::test]
async fn partial_messages_do_not_double_the_text() {
    let response = run(&Script::demo(Duration::ZERO)).await;
    assert_eq!(
        response.final_text,
        "The greeting is spelled correctly now, and the test passes.\n\nLOOP_COMPLETE"
    );
    assert_eq!(response.stream_text.matches("One edit should do.").count(), 1);
    assert_eq!(response.stream_text.matches("LOOP_COMPLETE").count(), 1);
}

#[tokio::test]
async fn a_run_without_a_result_keeps_what_was_said_and_names_the_log() {
    let directory = tempfile::tempdir().unwrap();
    let mut session = session();
    let mut script = said(&mut session, "First I read.");
    session.begin_message();
    script = script
        .emit_lines(session.partial_text(&["Then I ", "was ki"]))
        .stderr("fatal: out of luck\n")
        .die(Signal::Kill);
    let Err(Error::NoResult(error)) = run_in(&directory, &script).await else {
        panic!("there was no result")
    };
    assert_eq!(error.exit, Exit::Signal(9));
    assert!(
        error.stream_text.contains("First I read.") && error.stream_text.contains("Then I was ki"),
        "{error:?}"
    );
    assert_eq!(error.session_id.as_deref(), Some(SESSION_ID));
    assert_eq!(error.stderr_tail, "fatal: out of luck\n");
    assert!(
        std::fs::read_to_string(error.raw_log.as_ref().unwrap())
            .unwrap()
            .contains("Then I ")
    );
    assert_eq!(
        error.stderr_tail.last_line().as_deref(),
        Some("fatal: out of luck")
    );
    assert_eq!(error.usage.input, 24, "two messages: {error:?}");
    assert!(
        error
            .to_string()
            .contains(error.raw_log.as_ref().unwrap().to_str().unwrap())
    );
    let said = format!("{error} {error:?}");
    assert!(
        !said.contains("First I read.") && !said.contains("out of luck"),
        "an error quotes nothing: {said}"
    );
}

#[tokio::test]
async fn a_process_that_says_nothing_leaves_its_stderr() {
    let error = fail(
        &Script::new()
            .stderr("Error: Invalid session ID. Must be a valid UUID.\n")
            .exit(1),
    )
    .await;
    assert_eq!(
        (error.exit, error.session_id, error.stream_text.as_str()),
        (Exit::Code(1), None, "")
    );
    assert!(error.stderr_tail.contains("Invalid session ID"));
}

#[tokio::test]
async fn the_kept_end_of_stderr_is_bounded() {
    let error = fail(&Script::new().flood_stderr(5_000_000).stderr("the end\n").exit(1)).await;
    assert!(error.stderr_tail.len() <= Limits::default().stderr_tail_bytes);
    assert!(error.stderr_tail.ends_with("the end\n"));
}

#[tokio::test]
async fn a_run_out_of_time_keeps_what_was_said() {
    let directory = tempfile::tempdir().unwrap();
    let agent = said(&mut session(), "Still at it.")
        .sleep_forever()
        .install()
        .unwrap();
    let client = builder(&agent)
        .log_directory(directory.path())
        .timeout(Duration::from_millis(500))
        .build();
    let Err(Error::NoResult(error)) = soon(client.run(Request::new("Go."))).await else {
        panic!("there was no result")
    };
    assert_eq!(error.exit, Exit::TimedOut);
    assert_eq!(error.stream_text, "Still at it.");
}

#[tokio::test]
async fn a_result_without_text_is_filled_with_what_was_streamed() {
    for missing in [
        json!({"result": ""}),
        json!({"result": null}),
        json!({"result": "\n"}),
    ] {
        let mut session = session();
        let script = said(&mut session, "The whole answer.");
        let response = run(&script.emit(changed(&session.result("x"), missing.clone()))).await;
        assert_eq!(response.final_text, "The whole answer.", "{missing}");
        assert!(response.degraded && response.is_success());
    }
}

#[tokio::test]
async fn an_answer_without_any_text_is_empty_and_not_degraded() {
    let mut session = session();
    let script = Script::new()
        .emit(session.init("/workspace"))
        .emit(session.result(""));
    let response = run(&script).await;
    assert_eq!((response.final_text.as_str(), response.degraded), ("", false));
}

#[tokio::test]
async fn the_last_turn_counts_when_background_work_wakes_another_one() {
    let mut session = session();
    let first = said(&mut session, "Started.").emit(session.result("Started."));
    let second = said(&mut session, "Finished.").emit(session.result("Finished."));
    let response = run(&first.then(second)).await;
    assert_eq!(response.final_text, "Finished.");
    assert!(response.stream_text.contains("Started."));
    let earlier: Vec<_> = response
        .earlier_results
        .iter()
        .map(|result| result.result.as_deref())
        .collect();
    assert_eq!(earlier, [Some("Started.")]);
    assert_eq!(
        response.total_cost,
        Some(MicroUsd::new(20_000)),
        "the cost is cumulative"
    );
    assert_eq!(response.warnings, []);
}

#[tokio::test]
async fn an_error_after_the_result_of_the_only_turn_is_ignored_and_noted() {
    let mut session = session();
    let script = said(&mut session, "Done.")
        .emit(session.result("Done."))
        .emit(session.error_result("error_during_execution", "aborted_streaming", &["spurious"]));
    let response = run(&script).await;
    assert!(response.is_success());
    assert_eq!(response.final_text, "Done.");
    assert_eq!(response.warnings, [RunWarning::SpuriousResults(1)]);
}

#[tokio::test]
async fn the_result_counts_whatever_the_exit_status_says() {
    use RunWarning::ExitContradictsResult as Contradicts;
    for (is_error, code, warnings) in [
        (false, 0, vec![]),
        (true, 1, vec![]),
        (true, 0, vec![Contradicts]),
        (false, 1, vec![Contradicts]),
        (false, 143, vec![Contradicts]),
    ] {
        let mut session = session();
        let script =
            said(&mut session, "Hm.").emit(changed(&session.result("Hm."), json!({"is_error": is_error})));
        let response = run(&script.exit(code)).await;
        assert_eq!(response.is_success(), !is_error, "exit {code}");
        assert_eq!(response.exit.exit, Exit::Code(code.into()));
        assert_eq!(response.warnings, warnings);
    }
    // Up to 2.1.87 `is_error` was false here.
    let mut session = session();
    let limit = changed(
        &session.error_result("error_max_turns", "max_turns", &[]),
        json!({"is_error": false}),
    );
    assert!(!run(&said(&mut session, "Hm.").emit(limit)).await.is_success());
}

#[tokio::test]
async fn a_process_that_hangs_after_its_result_is_stopped() {
    let grace = Duration::from_millis(200);
    let agent = said(&mut session(), "Done.")
        .emit(session().result("Done."))
        .sleep_forever()
        .install()
        .unwrap();
    let directory = tempfile::tempdir().unwrap();
    let client = builder(&agent).log_directory(directory.path()).build();
    let request = Request::new("Go.").options(RunOptions::new().exit_grace(grace));
    let start = Instant::now();
    let response = soon(client.run(request)).await.unwrap();
    assert!(start.elapsed() >= grace);
    assert!(response.is_success());
    assert_eq!(response.exit.exit, Exit::Cancelled);
    assert_eq!(response.warnings, [RunWarning::StoppedAfterResult]);
}

#[tokio::test]
async fn a_process_with_background_work_is_not_stopped_after_its_result() {
    let mut session = session();
    // What lies between does not fit into pipes and channels: the first result is read long before the second comes,
    // and whoever stopped the process then would never see the second one. The task ends within the second turn, so
    // that there is no moment between the two at which nothing is left to do.
    let first = said(&mut session, "Started.")
        .emit(r#"{"type":"system","subtype":"task_started","task_id":"b1","is_backgrounded":true}"#)
        .emit(session.result("Started."))
        .flood(4_000, 4_096);
    let second = said(&mut session, "Finished.")
        .emit(r#"{"type":"system","subtype":"task_notification","task_id":"b1","status":"completed"}"#)
        .emit(session.result("Finished."));
    let agent = first.then(second).install().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let client = builder(&agent).log_directory(directory.path()).build();
    let options = RunOptions::new().exit_grace(Duration::ZERO);
    let response = soon(client.run(Request::new("Go.").options(options)))
        .await
        .unwrap();
    assert_eq!(response.final_text, "Finished.");
}

#[tokio::test]
async fn a_resumed_session_does_not_charge_its_earlier_runs_again() {
    let resume = RunOptions::new().session(SessionChoice::Resume(SESSION_ID.into()));
    let known = CostBasis::Resumed {
        session_total: MicroUsd::new(4_000),
    };
    for (options, cost, warnings) in [
        (resume.clone().cost_basis(known), 6_000, vec![]),
        (resume, 10_000, vec![RunWarning::CostMayIncludeEarlierRuns]),
    ] {
        let mut session = session();
        let agent = said(&mut session, "Done.")
            .emit(session.result("Done."))
            .install()
            .unwrap();
        let directory = tempfile::tempdir().unwrap();
        let client = builder(&agent).log_directory(directory.path()).build();
        let response = soon(client.run(Request::new("Go.").options(options)))
            .await
            .unwrap();
        assert_eq!(response.total_cost, Some(MicroUsd::new(cost)));
        assert_eq!(response.session_total, Some(MicroUsd::new(10_000)));
        assert_eq!(response.warnings, warnings);
    }
}

#[tokio::test]
async fn a_cli_that_does_not_say_its_version_counts_only_its_own_run() {
    let mut session = session();
    let init = changed(&session.init("/workspace"), json!({"claude_code_version": null}));
    session.begin_message();
    let agent = Script::new()
        .emit(init)
        .emit(session.result("Done."))
        .install()
        .unwrap();
    let directory = tempfile::tempdir().unwrap();
    let old = Capabilities::for_version(Version::new(1, 0, 108));
    let client = builder(&agent)
        .capabilities(old)
        .log_directory(directory.path())
        .build();
    let options = RunOptions::new()
        .session(SessionChoice::Resume(SESSION_ID.into()))
        .cost_basis(CostBasis::Resumed {
            session_total: MicroUsd::new(4_000),
        });
    let response = soon(client.run(Request::new("Go.").options(options)))
        .await
        .unwrap();
    assert_eq!(
        response.total_cost,
        Some(MicroUsd::new(10_000)),
        "nothing is taken off"
    );
    assert_eq!(response.version.as_deref(), Some("1.0.108"));
}

#[tokio::test]
async fn broken_lines_are_counted_and_stay_in_the_log() {
    let mut session = session();
    let script = said(&mut session, "Done.")
        .emit("Welcome!")
        .emit("{\"half\":")
        .emit(session.result("Done."));
    let response = run(&script).await;
    assert_eq!(response.final_text, "Done.");
    assert_eq!(response.warnings, [RunWarning::BrokenLines(2)]);
}

#[tokio::test]
async fn a_log_that_was_asked_for_is_where_it_was_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("mine.ndjson");
    let (client, _agent): (Client, ScriptedAgent) = play(&Script::claude_session("Done."));
    let options = RunOptions::new().raw_log(&log);
    let response = soon(client.run(Request::new("Go.").options(options.clone())))
        .await
        .unwrap();
    assert_eq!(response.raw_log, Some(log));
    let error = soon(client.run(Request::new("Go.").options(options)))
        .await
        .unwrap_err();
    assert!(
        matches!(error, Error::Spawn(agent_process::SpawnError::Log { .. })),
        "{error:?}"
    );
}

/// A run that has so much time.
async fn run_for(timeout: Duration, script: &Script) -> Response {
    let agent = script.install().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let client = builder(&agent)
        .log_directory(directory.path())
        .timeout(timeout)
        .build();
    soon(client.run(Request::new("Go."))).await.unwrap()
}

const TASK_STARTED: &str =
    r#"{"type":"system","subtype":"task_started","task_id":"b1","is_backgrounded":true}"#;

#[tokio::test]
async fn a_run_whose_last_turn_ran_out_of_time_is_no_success() {
    let mut session = session();
    let first = said(&mut session, "Started.").emit(session.result("Started."));
    let script = first.emit(session.init("/workspace")).sleep_forever();
    let response = run_for(Duration::from_millis(500), &script).await;
    assert!(!response.is_success() && response.result.is_success());
    assert_eq!(response.exit.exit, Exit::TimedOut);
    assert_eq!(
        response.warnings,
        [RunWarning::TimedOut, RunWarning::UnfinishedTurn]
    );
}

#[tokio::test]
async fn a_process_that_exits_in_mid_turn_is_no_success() {
    let mut session = session();
    let script = said(&mut session, "Started.")
        .emit(TASK_STARTED)
        .emit(session.result("Started."))
        .emit(session.init("/workspace"))
        .exit(0);
    let response = run(&script).await;
    assert!(!response.is_success());
    assert_eq!(
        response.warnings,
        [RunWarning::UnfinishedTurn, RunWarning::OpenTasks(1)]
    );
}

#[tokio::test]
async fn background_work_that_runs_out_of_time_is_reported() {
    let mut session = session();
    let script = said(&mut session, "Started.")
        .emit(TASK_STARTED)
        .emit(session.result("Started."));
    let response = run(&script.clone()).await;
    assert!(response.is_success(), "the process ended by itself");
    assert_eq!(response.warnings, [RunWarning::OpenTasks(1)]);

    let response = run_for(Duration::from_millis(500), &script.sleep_forever()).await;
    assert!(!response.is_success());
    assert_eq!(
        response.warnings,
        [RunWarning::TimedOut, RunWarning::OpenTasks(1)]
    );
}

#[tokio::test]
async fn a_process_that_hangs_after_its_result_until_its_time_is_up_has_succeeded() {
    let mut session = session();
    let script = said(&mut session, "Done.")
        .emit(session.result("Done."))
        .sleep_forever();
    let response = run_for(Duration::from_millis(500), &script).await;
    assert!(response.is_success());
    assert_eq!(response.warnings, [RunWarning::StoppedAfterResult]);
}

#[tokio::test]
async fn a_cli_that_does_not_tell_about_background_work_has_longer_to_exit() {
    let mut session = session();
    // Longer than the five seconds that others have.
    let script = said(&mut session, "Started.")
        .emit(session.result("Started."))
        .pause(Duration::from_millis(5_500));
    let script = script.then(said(&mut session, "Finished.").emit(session.result("Finished.")));
    let agent = script.install().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let client = builder(&agent)
        .capabilities(Capabilities::for_version(Version::new(2, 1, 9)))
        .log_directory(directory.path())
        .build();
    let response = soon(client.run(Request::new("Go."))).await.unwrap();
    assert_eq!(response.final_text, "Finished.");
    assert_eq!(response.warnings, []);
}

#[tokio::test]
async fn a_turn_that_says_nothing_does_not_repeat_the_one_before() {
    let mut session = session();
    let script = said(&mut session, "TASK COMPLETE")
        .emit(session.result("TASK COMPLETE"))
        .emit(session.init("/workspace"))
        .emit(session.error_result("error_during_execution", "aborted_streaming", &["oh no"]));
    let response = run(&script).await;
    assert_eq!((response.final_text.as_str(), response.degraded), ("", false));
    assert!(!response.is_success());
    assert_eq!(response.stream_text, "TASK COMPLETE");
}

#[tokio::test]
async fn a_turn_that_was_cut_off_does_not_fill_the_result_of_the_one_before() {
    let mut session = session();
    let script = said(&mut session, "The answer.").emit(changed(&session.result("x"), json!({"result": ""})));
    let response = run(&script.then(said(&mut session, "More of"))).await;
    assert_eq!(response.final_text, "The answer.");
    assert!(response.degraded && !response.is_success());
}

#[tokio::test]
async fn another_session_than_the_one_asked_for_is_noted() {
    let other = "20f6d5a2-3c4b-4f1e-9a7d-2b8c6e5f4a31";
    let new = |id: &str| SessionChoice::NewWithId(id.to_owned());
    let resume = |id: &str| SessionChoice::Resume(id.to_owned());
    let fork = |id: &str, new_id: Option<&str>| SessionChoice::Fork {
        id: id.to_owned(),
        new_id: new_id.map(str::to_owned),
    };
    for (choice, is_forked) in [
        (new(SESSION_ID), false),
        (new(&SESSION_ID.to_uppercase()), false),
        (new(other), true),
        (resume(SESSION_ID), false),
        (resume(other), true),
        (fork(other, None), false),
        (fork(other, Some(SESSION_ID)), false),
        (fork(SESSION_ID, Some(other)), true),
        (SessionChoice::Last, false),
    ] {
        let mut session = session();
        let agent = said(&mut session, "Done.")
            .emit(session.result("Done."))
            .install()
            .unwrap();
        let directory = tempfile::tempdir().unwrap();
        let client = builder(&agent).log_directory(directory.path()).build();
        let options = RunOptions::new()
            .session(choice.clone())
            .cost_basis(CostBasis::NewSession);
        let response = soon(client.run(Request::new("Go.").options(options)))
            .await
            .unwrap();
        assert_eq!(
            response.warnings.contains(&RunWarning::SessionForked),
            is_forked,
            "{choice:?}"
        );
        assert!(response.is_success());
        assert_eq!(response.session_id.as_deref(), Some(SESSION_ID));
    }
}

#[tokio::test]
async fn what_could_not_be_had_in_full_is_told() {
    let agent = Script::claude_session("Done.").install().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let client = builder(&agent)
        .capabilities(Capabilities::for_version(Version::new(2, 1, 197)))
        .log_directory(directory.path())
        .build();
    let response = soon(client.run(Request::new("/cost"))).await.unwrap();
    assert_eq!(response.notes, [Note::SpaceBeforeSlash]);
}

#[tokio::test]
async fn a_run_leaves_no_log_unless_one_is_asked_for() {
    let mut session = session();
    let script = said(&mut session, "Done.").emit(session.result("Done."));
    let agent = script.install().unwrap();
    let response = soon(builder(&agent).build().run(Request::new("Go.")))
        .await
        .unwrap();
    assert_eq!(response.raw_log, None);
    let silent = Script::new().exit(1).install().unwrap();
    let error = soon(builder(&silent).build().run(Request::new("Go.")))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("set `raw_log`"), "{error}");
}

#[tokio::test]
async fn a_background_task_that_never_ends_does_not_keep_a_run_open() {
    let mut session = session();
    let started = r#"{"type":"system","subtype":"task_started","task_id":"server"}"#;
    let script = said(&mut session, "The server runs.")
        .emit(started)
        .emit(session.result("The server runs."))
        .sleep_forever();
    let agent = script.install().unwrap();
    let options = RunOptions::new()
        .background_grace(Duration::from_millis(100))
        .exit_grace(Duration::from_millis(100));
    let response = soon(builder(&agent).build().run(Request::new("Go.").options(options)))
        .await
        .unwrap();
    assert_eq!(response.final_text, "The server runs.");
    assert!(response.is_success(), "{:?}", response.warnings);
    assert!(response.warnings.contains(&RunWarning::OpenTasks(1)));
    assert!(response.warnings.contains(&RunWarning::StoppedAfterResult));
}
