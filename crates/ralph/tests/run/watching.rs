//! The watchdog of a real run, with a scripted agent.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use test_support::dialect::{Session, ToolOutcome};
use test_support::script::Script;

use crate::stage::{Stage, says, success, works};

/// Starts a turn whose agent runs a failing command three times.
fn fails_three_times() -> Script {
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    let mut script = Script::new().read_line().emit(session.init("/"));
    for call in ["c1", "c2", "c3"] {
        session.begin_message();
        script = script
            .emit(session.tool_use(call, "Bash", &json!({"command": "make"})))
            .emit(session.tool_result(
                call,
                "no rule to make target",
                ToolOutcome::Failed,
                &json!("Error"),
            ));
    }
    script
}

/// Writes one file and ends the run.
fn writes(path: &str) -> Script {
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    let init = session.init("/");
    session.begin_message();
    let input = json!({"file_path": path, "content": "x"});
    let twin = json!({"type": "create", "filePath": path, "content": "x", "structuredPatch": []});
    Script::new()
        .read_line()
        .emit(init)
        .emit(session.tool_use("w1", "Write", &input))
        .emit(session.tool_result("w1", "created", ToolOutcome::Succeeded, &twin))
        .emit(success("Done.\nLOOP_COMPLETE"))
        .read_to_end()
}

fn with_watch(script: &Script, watch: &str) -> Stage {
    let stage = Stage::new(script);
    let path = stage.workspace().join("ralph.yml");
    let settings = fs::read_to_string(&path).unwrap();
    stage.configure(&format!("{settings}{watch}\n"));
    stage
}

/// The warnings of the watchdog, which have evidence. The scripted agent reports what it reads by events of its own.
fn found(records: &[Value]) -> Vec<String> {
    let warned = records
        .iter()
        .filter(|record| record["event"]["type"] == "warned");
    let found = warned.filter(|record| record["event"]["data"]["evidence"].is_array());
    found
        .map(|record| record["event"]["data"]["kind"].as_str().unwrap().to_owned())
        .filter(|kind| kind != "unknown_events")
        .collect()
}

/// Ends its turn when it is interrupted.
fn obeys() -> Script {
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    let interrupted = session.error_result("error_during_execution", "aborted", &["interrupted"]);
    Script::new().read_line().emit(interrupted).read_to_end()
}

#[test]
fn a_finding_is_a_warning_with_the_records_that_show_it() {
    let script = fails_three_times().emit(success("LOOP_COMPLETE")).read_to_end();
    let stage = Stage::new(&script);
    let ran = stage.run(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("`make` failed 3 times"), "{}", ran.stdout);
    let records = stage.records();
    assert_eq!(found(&records), ["repeated_failure"]);
    let warned = records
        .iter()
        .find(|record| record["event"]["data"]["evidence"].is_array());
    let evidence = warned.unwrap()["event"]["data"]["evidence"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(evidence.len(), 3);
    for item in evidence {
        let seq = item["seq"].as_u64().unwrap();
        let shown = records.iter().find(|record| record["seq"] == seq).unwrap();
        assert_eq!(shown["event"]["type"], "tool_finished", "{shown}");
    }
}

#[test]
fn stop_ends_the_run_with_the_finding() {
    let script = fails_three_times().then(obeys());
    let stage = with_watch(&script, "watch: {repeated_failure: stop}");
    let ran = stage.run(&[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let records = stage.records();
    let end = &records.last().unwrap()["event"]["data"];
    assert_eq!(end["reason"], "watchdog");
    assert!(
        end["message"].as_str().unwrap().contains("`make` failed 3 times"),
        "{end}"
    );
}

#[test]
fn interrupt_tells_the_agent_what_was_seen_and_the_iteration_continues() {
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    let interrupted = session.error_result("error_during_execution", "aborted", &["interrupted"]);
    session.begin_message();
    let answer = session.text("Then I do it another way.");
    let script = fails_three_times().converse([
        (
            json!({"type": "control_request"}),
            Script::new()
                .answer(r#"{"type":"control_response","response":{"subtype":"success","request_id":"{{request_id}}"}}"#)
                .emit(interrupted),
        ),
        (
            json!({"type": "user"}),
            Script::new().emit(answer).emit(success("Done.\nLOOP_COMPLETE")),
        ),
    ]);
    let stage = with_watch(&script, "watch: {repeated_failure: interrupt}");
    let ran = stage.run(&[]);
    let records = stage.records();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(stage.run_file()["status"]["iteration"], 1);
    let told = records
        .iter()
        .find(|record| record["event"]["data"]["by"] == "watchdog")
        .unwrap();
    let text = told["event"]["data"]["text"].as_str().unwrap();
    assert!(text.contains("`make` failed 3 times"), "{text}");
}

#[test]
fn silence_is_found_while_it_lasts() {
    let script = works().then(obeys());
    let stage = with_watch(&script, "watch: {silence: {after: 1s, action: stop}}");
    let ran = stage.run(&[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(found(&stage.records()), ["silence"]);
    assert_eq!(stage.run_file()["reason"], "watchdog");
}

#[test]
fn an_interrupted_agent_that_exits_is_told_in_the_next_iteration() {
    let script = works().read_line().exit(1);
    let stage = with_watch(&script, "watch: {silence: {after: 1s, action: interrupt}}");
    let ran = stage.run(&["--max-iterations", "2"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let records = stage.records();
    let prompts: Vec<&str> = records
        .iter()
        .filter(|record| record["event"]["type"] == "iteration_started")
        .map(|record| record["event"]["data"]["prompt"].as_str().unwrap())
        .collect();
    assert_eq!(prompts.len(), 2);
    assert!(prompts[1].contains("silent for"), "{}", prompts[1]);
    assert_eq!(stage.run_file()["reason"], "watchdog");
}

#[test]
fn the_same_answer_again_is_a_warning_and_watch_false_turns_it_off() {
    let stage = Stage::new(&says("More to do."));
    stage.run(&["--max-iterations", "4"]);
    assert_eq!(found(&stage.records()), ["repeated_answer"]);
    let stage = with_watch(&says("More to do."), "watch: false");
    stage.run(&["--max-iterations", "4"]);
    assert_eq!(found(&stage.records()), [""; 0]);
    // The last iteration is watched, too.
    let stage = Stage::new(&says("More to do."));
    stage.run(&["--max-iterations", "2"]);
    assert_eq!(found(&stage.records()), ["repeated_answer"]);
}

#[test]
fn a_file_outside_the_workspace_or_the_scope_is_a_warning() {
    let stage = Stage::new(&writes("/home/me/.bashrc"));
    stage.run(&[]);
    assert_eq!(found(&stage.records()), ["out_of_scope"]);
    let stage = with_watch(&writes("tests/a.rs"), "watch: {scope: [src]}");
    fs::create_dir(stage.workspace().join("src")).unwrap();
    let ran = stage.run(&[]);
    assert!(ran.stdout.contains("outside `watch.scope`"), "{}", ran.stdout);
    assert!(!ran.stderr.contains("no file matches"), "{}", ran.stderr);
    assert_eq!(found(&stage.records()), ["out_of_scope"]);
}

#[test]
fn a_scope_that_matches_nothing_is_a_warning_and_one_that_is_invalid_an_error() {
    let stage = with_watch(&says("LOOP_COMPLETE"), "watch: {scope: [\"scr/**\"]}");
    let ran = stage.run(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stderr.contains("`watch.scope`: no file matches `scr/**`"),
        "{}",
        ran.stderr
    );
    let stage = with_watch(&says("LOOP_COMPLETE"), "watch: {scope: [\"../other/**\"]}");
    let ran = stage.run(&[]);
    assert_eq!(ran.code, Some(78), "{ran:?}");
    assert!(
        ran.stderr.contains("invalid pattern `../other/**`"),
        "{}",
        ran.stderr
    );
    assert!(stage.runs().is_empty());
}

#[test]
fn a_healthy_run_raises_no_alarm() {
    let stage = Stage::empty();
    let ran = crate::stage::Ran::of(&stage.ralph(&["demo", "--speed", "max"]).output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(found(&stage.records()), [""; 0]);
}

#[test]
fn events_of_an_unknown_type_are_a_warning() {
    let unknown = r#"{"type":"telepathy","session_id":"00000000-0000-4000-8000-000000000001"}"#;
    let stage = Stage::new(&Script::new().emit(unknown).then(says("LOOP_COMPLETE")));
    let ran = stage.run(&[]);
    assert!(
        ran.stdout.contains("does not know: `telepathy`"),
        "{}",
        ran.stdout
    );
}

#[test]
fn the_same_call_three_times_is_a_warning() {
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    let mut script = Script::new().read_line().emit(session.init("/"));
    for call in ["c1", "c2", "c3"] {
        session.begin_message();
        script = script
            .emit(session.tool_use(call, "Bash", &json!({"command": "cargo metadata"})))
            .emit(session.tool_result(call, "{}", ToolOutcome::Succeeded, &json!({"stdout": "{}"})));
    }
    let stage = Stage::new(&script.emit(success("LOOP_COMPLETE")).read_to_end());
    let ran = stage.run(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(found(&stage.records()), ["repeated_call"]);
}

#[test]
fn a_file_that_is_changed_back_and_forth_is_a_warning() {
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    let mut script = Script::new().read_line().emit(session.init("/"));
    for (call, (old, new)) in ["e1", "e2", "e3"]
        .into_iter()
        .zip([("a", "b"), ("b", "a"), ("a", "b")])
    {
        session.begin_message();
        let input = json!({"file_path": "src/main.rs", "old_string": old, "new_string": new});
        let twin =
            json!({"filePath": "src/main.rs", "oldString": old, "newString": new, "structuredPatch": []});
        script = script
            .emit(session.tool_use(call, "Edit", &input))
            .emit(session.tool_result(call, "updated", ToolOutcome::Succeeded, &twin));
    }
    let stage = Stage::new(&script.emit(success("LOOP_COMPLETE")).read_to_end());
    let ran = stage.run(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stdout
            .contains("`src/main.rs` is changed back and forth between two versions"),
        "{}",
        ran.stdout
    );
    assert_eq!(found(&stage.records()), ["flipped_file"]);
}

/// A message of the model, with what it used.
fn uses(id: &str, input_tokens: u64, output_tokens: u64) -> String {
    let message = json!({
        "type": "assistant",
        "session_id": "00000000-0000-4000-8000-000000000001",
        "message": {
            "id": id,
            "model": "claude-opus-4-1-20250805",
            "content": [{"type": "text", "text": "Still at it."}],
            "usage": {"input_tokens": input_tokens, "output_tokens": output_tokens},
        },
    });
    message.to_string()
}

#[test]
fn a_context_that_is_nearly_full_is_a_warning() {
    let script = works()
        .emit(uses("msg_1", 150_000, 10))
        .emit(uses("msg_2", 185_000, 10))
        .emit(success("LOOP_COMPLETE"))
        .read_to_end();
    let stage = Stage::new(&script);
    let ran = stage.run(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stdout.contains("[Warning] the agent's context is 92% full"),
        "{}",
        ran.stdout
    );
    assert_eq!(found(&stage.records()), ["context_nearly_full"]);
}

#[test]
fn spending_much_faster_than_before_is_a_warning_and_can_end_the_run() {
    // Four seconds of little, then much at once. The rate is measured over one second here.
    let script = works()
        .emit(uses("msg_1", 100, 10))
        .pause(Duration::from_secs(4))
        .emit(uses("msg_2", 1_000, 100))
        .emit(uses("msg_3", 10_000, 40_000))
        .then(obeys());
    let stage = with_watch(&script, "watch: {burn_rate: {window: 1s, action: stop}}");
    let ran = stage.run(&[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(found(&stage.records()), ["burn_rate"]);
    assert!(ran.stdout.contains("times its median of"), "{}", ran.stdout);
    assert_eq!(stage.run_file()["reason"], "watchdog");
}
