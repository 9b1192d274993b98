//! What a run changed and what failed in it, without its records.

use std::fs;
use std::path::Path;
use std::process::Command;

use ralph_run::RunDirectory;
use serde_json::{Value, json};

use crate::stage::{Stage, wrote};

fn call(number: usize, status: &str, output: &str, changes: &Value) -> Value {
    let data = json!({"item": format!("t{number}"), "status": status, "output": output, "changes": changes});
    json!({"agent_kind": "demo", "type": "tool_finished", "data": data})
}

fn numbers(page: &Value) -> Vec<u64> {
    let items = page["items"].as_array().unwrap();
    items.iter().map(|item| item["seq"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn failures_are_listed_in_order_from_either_end_without_outputs() {
    let stage = Stage::new().await;
    let long = "x".repeat(100_000) + "the end";
    let verify = json!({"type": "verify_finished", "data": {"command": "make", "is_ok": false,
        "exit": {"code": 1}, "output": "broken", "duration_ms": 1}});
    let error = json!({"agent_kind": "demo", "type": "error",
        "data": {"class": "api", "code": "overloaded", "message": "try later"}});
    let run = stage
        .run(&[
            wrote(1, "a"),
            call(1, "completed", &long, &json!([])),
            call(2, "failed", &long, &json!([])),
            verify,
            error,
            call(3, "denied", "", &json!([])),
            call(4, "failed", "no", &json!([])),
        ])
        .await;
    let path = format!("/api/v1/runs/{}/failures", run.id());
    let answer = stage.get(&path).await;
    assert!(answer.body.len() < 4_000);
    let all = answer.json();
    assert_eq!(numbers(&all), [4, 5, 6, 8]);
    let parts = |key: &str| -> Vec<Value> {
        let items = all["items"].as_array().unwrap();
        items.iter().map(|item| item[key].clone()).collect()
    };
    assert_eq!(parts("kind"), ["tool", "verify", "error", "tool"]);
    assert_eq!(
        parts("item"),
        [json!("t2"), Value::Null, Value::Null, json!("t4")]
    );
    assert_eq!(parts("command")[1], "make");
    let messages = parts("message");
    assert_eq!(messages[1..], ["broken", "try later", "no"]);
    assert!(messages[0].as_str().unwrap().ends_with("xthe end"));
    assert_eq!(messages[0].as_str().unwrap().len(), 500);
    assert_eq!((&all["next"], &all["next_after"]), (&Value::Null, &Value::Null));

    let (mut seen, mut query) = (Vec::new(), "limit=1".to_owned());
    loop {
        let page = stage.get(&format!("{path}?{query}")).await.json();
        seen.extend(numbers(&page));
        let Some(next) = page["next"].as_str() else { break };
        query = format!("limit=1&cursor={next}");
    }
    assert_eq!(seen, [4, 5, 6, 8]);
    let last = stage.get(&format!("{path}?before=7&limit=1")).await.json();
    assert_eq!(numbers(&last), [6]);
    let earlier = last["next"].as_str().unwrap();
    assert_eq!(
        numbers(&stage.get(&format!("{path}?cursor={earlier}")).await.json()),
        [4, 5]
    );
    assert_eq!(
        stage
            .get("/api/v1/runs/20260101-000000-000000/failures")
            .await
            .problem()
            .0,
        404
    );
}

#[tokio::test]
async fn without_a_repository_changes_are_those_that_calls_reported() {
    let stage = Stage::new().await;
    let changes = json!([{"path": "/w/a", "kind": "modified", "diff": "@@ -1 +1 @@\n-x\n+y", "lines": [1, 1]},
        {"path": "/w/b", "kind": "added"}]);
    let run = stage
        .run(&[
            call(1, "completed", &"x".repeat(50_000), &changes),
            call(2, "completed", "", &json!([])),
            call(3, "failed", "", &changes),
            call(4, "completed", "", &changes),
        ])
        .await;
    let path = format!("/api/v1/runs/{}/changes", run.id());
    let answer = stage.get(&path).await;
    assert!(answer.body.len() < 4_000);
    let page = answer.json();
    assert_eq!(
        (&page["basis"], &page["start_commit"]),
        (&json!("reported"), &Value::Null)
    );
    assert_eq!(stage.get(&format!("{path}?path=")).await.problem().0, 400);
    assert_eq!(numbers(&page), [2, 2, 5, 5]);
    let first = json!({"path": "/w/a", "kind": "modified", "added": 1, "removed": 1,
        "diff": "@@ -1 +1 @@\n-x\n+y", "seq": 2, "at": "2026-11-16T03:00:00Z"});
    assert_eq!(page["items"][0], first);
    assert_eq!(page["items"][1]["diff"], Value::Null);
    let later = stage.get(&format!("{path}?after=2")).await.json();
    assert_eq!(numbers(&later), [5, 5]);
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@example.invalid"]);
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Writes the commit into the run's first record.
fn started_from(run: &RunDirectory, commit: &str) {
    let text = fs::read_to_string(run.journal()).unwrap();
    let field = format!("\"start_commit\":\"{commit}\",\"format_version\"");
    fs::write(run.journal(), text.replacen("\"format_version\"", &field, 1)).unwrap();
}

#[tokio::test]
async fn in_a_repository_changes_are_what_differs_from_the_start() {
    let stage = Stage::new().await;
    let workspace = stage.workspace();
    fs::create_dir_all(&workspace).unwrap();
    git(&workspace, &["init", "--quiet"]);
    fs::write(workspace.join("a"), "1\n").unwrap();
    git(&workspace, &["add", "a"]);
    git(&workspace, &["commit", "--quiet", "--message", "x"]);
    let start = git(&workspace, &["rev-parse", "HEAD"]);
    let reported = json!([{"path": workspace.join("a"), "kind": "modified"}]);
    let run = stage.run(&[call(1, "completed", "", &reported)]).await;
    started_from(&run, &start);
    // A shell command did this.
    fs::write(workspace.join("a"), "1\n2\n").unwrap();
    fs::write(workspace.join("b"), "3\n").unwrap();
    let path = format!("/api/v1/runs/{}/changes", run.id());
    let page = stage.get(&path).await.json();
    assert_eq!(
        (&page["basis"], &page["start_commit"]),
        (&json!("git"), &json!(start))
    );
    assert_eq!(
        (&page["is_truncated"], &page["next"]),
        (&json!(false), &Value::Null)
    );
    assert!(page["compared_at"].is_string());
    let change = |path: &str, kind: &str, diff: &str| json!({"path": path, "kind": kind, "added": 1, "removed": 0, "diff": diff, "seq": null, "at": null});
    assert_eq!(
        page["items"],
        json!([
            change("a", "modified", "@@ -1 +1,2 @@\n 1\n+2\n"),
            change("b", "added", "@@ -0,0 +1 @@\n+3\n"),
        ])
    );
    let one = stage.get(&format!("{path}?path=b")).await.json();
    assert_eq!(one["items"], json!([change("b", "added", "@@ -0,0 +1 @@\n+3\n")]));
    let reported = stage.get(&format!("{path}?reported=true")).await.json();
    assert_eq!(
        (&reported["basis"], numbers(&reported)),
        (&json!("reported"), vec![2])
    );
}
