//! Clients that public generators make of `docs/openapi.json`, used against a server. `scripts/generated-clients/` has
//! the generators and the programs that use the clients.

use serde_json::{Value, json};

use crate::stage::{Stage, answered, asks, is_done, works};

/// Generates a client and runs the program that uses it. Compares what it found with what the server says.
#[track_caller]
fn uses_the_api(language: &str) {
    let mut stage = Stage::new();
    let script = works()
        .emit(asks("p", "Bash", &json!({"command": "ls"})))
        .expect_line(answered("p"))
        .then(is_done());
    let workspace = stage.workspace("workspace", &script);
    let server = stage.serve();
    let folder = stage.path("generated");
    std::fs::create_dir(&folder).unwrap();
    let mut command = stage.with_cache("scripts/generated-clients/run");
    command
        .arg(language)
        .arg(&folder)
        .env("RALPH_URL", format!("http://{}", server.door.address))
        .env("RALPH_TOKEN", &server.door.token)
        .env("RALPH_WORKSPACE", &workspace);
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let id = found["run"].as_str().unwrap();
    let run = server.door.get(&format!("/api/v1/runs/{id}"));
    let cost = &run["totals"]["cost_micro_usd"];
    assert!(cost.as_u64() > Some(0), "{run}");
    let records = server.door.indexed(id).len();
    assert_eq!(
        found,
        json!({"run": id, "tool": "Bash", "records": records, "cost_micro_usd": cost})
    );
}

#[test]
fn a_generated_python_client_starts_watches_answers_and_pages() {
    uses_the_api("python");
}

#[test]
fn a_generated_typescript_client_starts_watches_answers_and_pages() {
    uses_the_api("typescript");
}
