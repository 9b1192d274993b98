//! `ralph run` with agents other than Claude: Codex through its app server, and an ACP agent from `ralph.yml`.

use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::fixtures::{self, Fixture};
use test_support::recorded;
use test_support::script::{Script, Signal};

use crate::stage::{Ran, Stage};

/// The id of the client's first prompt, after `initialize` and `session/new`.
const PROMPT: u64 = 3;

fn codex(name: &str) -> Fixture {
    let all = fixtures::of("codex_app_server").unwrap();
    all.into_iter().find(|fixture| fixture.name == name).unwrap()
}

/// An app server that plays a recording: it waits for a request before each recorded response, which gets the id of
/// that request, and for the client's response after each request of its own.
fn app_server(recording: &Fixture) -> Script {
    let mut script = Script::new()
        .with_version("codex-cli 0.166.0")
        .expect_argument("app-server");
    for line in recording.lines() {
        let mut message: Value = serde_json::from_slice(line).unwrap();
        let id = message.get("id").cloned();
        script = match (id, message.get("method")) {
            (Some(id), None) => {
                message["id"] = json!("ID");
                let response = message.to_string().replace(r#""ID""#, "${/id}");
                let script = script.read_line().answer(response);
                match id == 1 {
                    true => script.expect_line(json!({"method": "initialized"})),
                    false => script,
                }
            }
            (Some(id), Some(_)) => {
                let accepted = json!({"id": id, "result": {"decision": "accept"}});
                script.emit(line).expect_line(accepted)
            }
            (None, _) => script.emit(line),
        };
    }
    script.read_to_end()
}

/// A run with an agent that `acp: {command, args}` in `ralph.yml` starts.
fn acp(script: &Script) -> Stage {
    Stage::configured(script, |agent| {
        let arguments: Vec<&str> = agent
            .arguments
            .iter()
            .map(|text| text.to_str().unwrap())
            .collect();
        json!({
            "cli": {"backend": "acp"},
            "acp": {"command": agent.program, "args": arguments},
        })
        .to_string()
    })
}

fn response(id: u64, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

fn update(update: &Value) -> String {
    let params = json!({"sessionId": "s1", "update": update});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": params}).to_string()
}

fn says(text: &str) -> String {
    update(&json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}))
}

fn runs_command(status: &str) -> String {
    update(
        &json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "make", "kind": "execute",
        "status": status, "rawInput": {"command": "make"}}),
    )
}

/// An ACP agent that has opened a session and read its first prompt.
fn prompted() -> Script {
    prompted_with(&json!({}))
}

fn prompted_with(capabilities: &Value) -> Script {
    let agent = json!({"protocolVersion": 1, "agentInfo": {"name": "scripted", "version": "1.0.0"},
        "agentCapabilities": capabilities});
    Script::new()
        .expect_line(json!({"method": "initialize"}))
        .emit(response(1, &agent))
        .expect_line(json!({"method": "session/new"}))
        .emit(response(2, &json!({"sessionId": "s1"})))
        .expect_line(json!({"id": PROMPT, "method": "session/prompt"}))
}

fn stopped(reason: &str) -> String {
    response(PROMPT, &json!({"stopReason": reason}))
}

/// Starts a run in the background whose requests for permission are answered by hand.
fn start_asking(stage: &Stage) {
    let args = [
        "run",
        "-p",
        "x",
        "--once",
        "--ask",
        "--detach",
        "--permission-mode",
        "ask",
    ];
    let started = Ran::of(&stage.ralph(&args).output().unwrap());
    assert_eq!(started.code, Some(0), "{started:?}");
}

/// Waits until the agent asks, and allows it with `ralph answer`. Returns what was asked.
fn allow_next(stage: &Stage) -> Value {
    let open = || {
        let listed = Ran::of(&stage.ralph(&["answer", "latest", "--json"]).output().unwrap());
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap_or_default();
        listed.get(0).cloned()
    };
    let asked = loop {
        if let Some(asked) = open() {
            break asked;
        }
        assert_ne!(
            stage.run_file()["status"]["state"],
            "ended",
            "the run ended without asking"
        );
        std::thread::yield_now();
    };
    let answered = Ran::of(&stage.ralph(&["answer", "latest", "--allow"]).output().unwrap());
    assert_eq!(answered.code, Some(0), "{answered:?}");
    asked
}

fn wait_for_end(stage: &Stage) {
    test_support::wait_until("the end of the run", || {
        stage.run_file()["status"]["state"] == "ended"
    });
}

/// The data of the last record of this type.
fn last(stage: &Stage, name: &str) -> Value {
    let records = stage.records();
    let found = records.iter().rfind(|record| record["event"]["type"] == name);
    assert!(found.is_some(), "no `{name}` in {records:#?}");
    found.unwrap()["event"]["data"].clone()
}

#[test]
fn a_recorded_codex_runs_to_its_end() {
    let stage = Stage::of_backend("codex", &app_server(&codex("shell")));
    let ran = stage.run(&["--once"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("Done."), "{}", ran.stdout);
    let file = stage.run_file();
    assert_eq!(
        (&file["backend"], &file["reason"]),
        (&json!("codex"), &json!("completed"))
    );
    let tool = last(&stage, "tool_finished");
    assert_eq!(tool["exit_code"], 0, "{tool}");
    assert!(tool["output"].as_str().unwrap().contains("hello"), "{tool}");
    let finished = last(&stage, "finished");
    assert_eq!(
        (
            &finished["usage"]["tokens"]["cache_read"],
            &finished["usage"]["tokens"]["output"]
        ),
        (&json!(2_000), &json!(68)),
        "{finished}"
    );
}

#[test]
fn approvals_of_codex_are_answered_by_ralph_answer() {
    let stage = Stage::of_backend("codex", &app_server(&codex("approval_accepted")));
    start_asking(&stage);
    let command = allow_next(&stage);
    assert!(command.to_string().contains("echo yes"), "{command}");
    let change = allow_next(&stage);
    assert!(change.to_string().contains("y.txt"), "{change}");
    wait_for_end(&stage);
    assert_eq!(stage.run_file()["reason"], "completed");
}

#[test]
fn an_error_of_codex_ends_the_run_with_its_class() {
    let stage = Stage::of_backend("codex", &app_server(&codex("err400")));
    let ran = stage.run(&["--once"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let finished = last(&stage, "finished");
    assert_eq!(
        (&finished["outcome"], &finished["error"]["class"]),
        (&json!("failed"), &json!("invalid_request")),
        "{finished}"
    );
}

#[test]
fn an_acp_agent_asks_and_ralph_answer_allows_it() {
    let options = json!([
        {"optionId": "once", "kind": "allow_once", "name": "Once"},
        {"optionId": "no", "kind": "reject_once", "name": "No"},
    ]);
    let call =
        json!({"toolCallId": "c1", "title": "make", "kind": "execute", "rawInput": {"command": "make"}});
    let request = json!({"jsonrpc": "2.0", "id": "p1", "method": "session/request_permission",
        "params": {"sessionId": "s1", "toolCall": call, "options": options}});
    let allowed = json!({"id": "p1", "result": {"outcome": {"outcome": "selected", "optionId": "once"}}});
    let done = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed",
        "content": [{"type": "content", "content": {"type": "text", "text": "built"}}]});
    let script = prompted()
        .emit(runs_command("pending"))
        .emit(request.to_string())
        .expect_line(allowed)
        .emit(update(&done))
        .emit(says("All built."))
        .emit(stopped("end_turn"))
        .read_to_end();
    let stage = acp(&script);
    start_asking(&stage);
    let asked = allow_next(&stage);
    assert!(asked.to_string().contains("make"), "{asked}");
    wait_for_end(&stage);
    let file = stage.run_file();
    assert_eq!(
        (&file["backend"], &file["reason"]),
        (&json!("acp"), &json!("completed"))
    );
    assert_eq!(last(&stage, "tool_finished")["status"], "completed");
    assert_eq!(last(&stage, "turn_finished")["text"], "All built.");
}

#[test]
fn an_acp_agent_is_proposed_for_resuming_only_if_it_can() {
    let ends = || {
        Script::new()
            .emit(says("More to do."))
            .emit(stopped("end_turn"))
            .read_to_end()
    };
    let plain = prompted().then(ends());
    let resuming = prompted_with(&json!({"loadSession": true})).then(ends());
    for (script, next) in [
        (plain, "Next: ralph run --max-iterations 2\n"),
        (resuming, "Next: ralph run --resume "),
    ] {
        let stage = acp(&script);
        let ran = stage.run(&["--max-iterations", "1"]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stdout.contains(next), "{}", ran.stdout);
    }
}

/// Starts a run, stops it in the middle of a command, and checks that no process is left.
fn stop_in_mid_tool(directory: &TempDir, script: &Script) -> Value {
    let stage = acp(script);
    let started = Ran::of(
        &stage
            .ralph(&["run", "-p", "x", "--once", "--detach"])
            .output()
            .unwrap(),
    );
    assert_eq!(started.code, Some(0), "{started:?}");
    let is_running = |record: &Value| record["event"]["type"] == "tool_started";
    while !stage.records().iter().any(is_running) {
        std::thread::yield_now();
    }
    let stopped = Ran::of(&stage.ralph(&["stop", "latest"]).output().unwrap());
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert!(!recorded::all(directory.path()).unwrap().is_empty());
    let gone = recorded::wait_until_gone(directory.path(), Duration::from_secs(5)).unwrap();
    assert!(gone.is_ok(), "still alive: {gone:?}");
    assert_eq!(last(&stage, "tool_finished")["status"], "cancelled");
    let ends = stage.records().into_iter();
    assert_eq!(
        ends.filter(|record| record["event"]["type"] == "finished")
            .count(),
        1
    );
    stage.run_file()["reason"].clone()
}

#[test]
fn a_stop_in_the_middle_of_a_command_leaves_no_process() {
    let directory = tempfile::tempdir().unwrap();
    let script = prompted()
        .record_process(directory.path(), "agent")
        .spawn_tree(directory.path())
        .emit(runs_command("in_progress"))
        .converse([(
            json!({"method": "session/cancel"}),
            Script::new().emit(stopped("cancelled")),
        )]);
    assert_eq!(stop_in_mid_tool(&directory, &script), "stopped");
}

#[test]
fn a_stop_ends_an_acp_agent_that_ignores_messages_and_signals() {
    let directory = tempfile::tempdir().unwrap();
    let script = prompted()
        .ignore_signals([Signal::Interrupt, Signal::Terminate])
        .record_process(directory.path(), "agent")
        .spawn_tree(directory.path())
        .emit(runs_command("in_progress"))
        .sleep_forever();
    assert_eq!(stop_in_mid_tool(&directory, &script), "stopped");
}

#[test]
fn an_acp_agent_that_dies_in_initialize_ends_the_run_with_what_it_said() {
    for (script, code, outcome, told) in [
        (
            Script::new().read_line().stderr("Error: not logged in\n").exit(1),
            69,
            "failed",
            "not logged in",
        ),
        (
            Script::new().read_line().die(Signal::Kill),
            1,
            "crashed",
            "crashed",
        ),
        (Script::new().exit(0), 1, "no_result", "without a result"),
    ] {
        let stage = acp(&script);
        let ran = stage.run(&["--once"]);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        let finished = last(&stage, "finished");
        assert_eq!(finished["outcome"], outcome, "{finished}");
        assert!(ran.stdout.to_lowercase().contains(told), "{told}: {}", ran.stdout);
    }
}

#[test]
fn a_command_that_does_not_exist_is_named_before_anything_starts() {
    let stage = Stage::empty();
    stage.configure(r#"{"cli": {"backend": "acp"}, "acp": {"command": "no-such-agent"}}"#);
    let ran = stage.run(&["--once"]);
    assert_eq!(ran.code, Some(69), "{ran:?}");
    assert!(ran.stderr.contains("no-such-agent"), "{}", ran.stderr);
    assert!(stage.runs().is_empty());
}
