//! What an agent asks, in every permission mode, and who answers first.

use serde_json::{Value, json};
use test_support::script::Script;
use test_support::wait_until;

use crate::stage::{Ran, Stage, success, works};

fn asks(request: &str, tool: &str, input: &Value) -> String {
    json!({
        "type": "control_request",
        "request_id": request,
        "request": {"subtype": "can_use_tool", "tool_name": tool, "input": input, "tool_use_id": format!("toolu_{request}")},
    })
    .to_string()
}

/// Asks a question and for approval of a plan, and ends its turn when it has both answers.
fn curious(directory: &std::path::Path) -> Script {
    let questions = json!({"questions": [{"question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{"label": "Blue", "description": "b"}, {"label": "Red", "description": "r"}]}]});
    let answered = |request: &str| json!({"type": "control_response", "response": {"request_id": request}});
    works()
        .emit(asks("q", "AskUserQuestion", &questions))
        .emit(asks("p", "ExitPlanMode", &json!({"plan": "# Plan"})))
        .expect_line(json!({"type": "control_request", "request": {"subtype": "set_permission_mode"}}))
        .expect_line(answered("q"))
        .create_file(directory.join("question-answered"))
        .expect_line(answered("p"))
        .emit(success("Done."))
        .read_to_end()
}

#[test]
fn questions_and_plans_wait_for_a_person_in_every_permission_mode() {
    for mode in ["ask", "accept-edits", "plan", "refuse", "bypass"] {
        let directory = tempfile::tempdir().unwrap();
        let stage = Stage::new(&curious(directory.path()));
        let started = stage
            .ralph(&[
                "run",
                "-p",
                "x",
                "--once",
                "--ask",
                "--detach",
                "--permission-mode",
                mode,
            ])
            .output()
            .unwrap();
        assert!(started.status.success(), "{started:?}");
        let listed = || {
            let listed = Ran::of(&stage.ralph(&["answer", "latest", "--json"]).output().unwrap());
            serde_json::from_str::<Value>(&listed.stdout).unwrap_or_default()
        };
        wait_until("two requests", || listed().as_array().map_or(0, Vec::len) >= 2);
        let set = tell(
            &stage,
            r#"{"id":"m","command":"set_permission_mode","mode":"bypass"}"#,
        );
        assert_eq!(set["ok"], true, "{set}");
        assert_eq!(
            listed().as_array().unwrap().len(),
            2,
            "{mode}: nobody has answered"
        );
        assert!(!directory.path().join("question-answered").exists());
        let answer = |id: &str, by: &str| {
            let line = format!(
                r#"{{"id":"{id}","by":"{by}","command":"answer","request":"q","answer":{{"kind":"answers","answers":["Blue"]}}}}"#
            );
            tell(&stage, &line)
        };
        assert_eq!(answer("1", "the browser")["ok"], true);
        let second = answer("2", "a script");
        assert_eq!(second["code"], "already_answered", "{second}");
        let message = second["message"].as_str().unwrap();
        assert!(message.contains("by the browser"), "{message}");
        let plan = Ran::of(&stage.ralph(&["answer", "latest", "--allow"]).output().unwrap());
        assert_eq!(plan.code, Some(0), "{plan:?}");
        stage.wait_for_end();
        assert_eq!(stage.run_file()["reason"], "completed", "{mode}");
    }
}

/// One line to the runner, and its answer.
fn tell(stage: &Stage, line: &str) -> Value {
    use std::io::{BufRead as _, BufReader, Write as _};
    let mut stream = std::os::unix::net::UnixStream::connect(stage.last_run().join("control.sock")).unwrap();
    stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    let lines = BufReader::new(stream).lines();
    let answer = lines.map_while(Result::ok).nth(1).unwrap();
    serde_json::from_str(&answer).unwrap()
}
