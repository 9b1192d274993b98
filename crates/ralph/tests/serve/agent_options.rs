//! What a start says about the agent reaches it, or is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::stage::{Stage, is_done, works};

const SESSION: &str = "0b0e8b9f-7b5e-4d0c-9d9f-1c6f2f7f2b11";

/// A workspace whose agent writes down how it was started: its arguments, the files that they name, and its keys.
fn recorded(stage: &mut Stage) -> (PathBuf, PathBuf) {
    let workspace = stage.workspace("workspace", &works().then(is_done()));
    let settings = fs::read_to_string(workspace.join("ralph.yml")).unwrap();
    let program = settings.split("command: ").nth(1).unwrap().trim().to_owned();
    let (script, record) = (stage.path("agent.sh"), stage.path("record"));
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && exec {program} \"$@\"\nfor word; do\n  echo \"$word\" >>{record}\n  case $word in --*-file=*) cat \"${{word#*=}}\" >>{record} ;; esac\n\
         done\nenv | grep ANTHROPIC_API_KEY >>{record}\nexec {program} \"$@\"\n",
        record = record.display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
    let settings = format!("cli:\n  backend: claude\n  command: {}\n", script.display());
    stage.configure(&workspace, &settings);
    (workspace, record)
}

fn serve_with_key(stage: &Stage) -> crate::stage::Server {
    let mut command = stage.ralph(&["serve", "--port", "0"]);
    command.env("ANTHROPIC_API_KEY", "made-up");
    stage.serve_by(command)
}

/// Starts a run, waits for its end, and gives what its agent wrote down.
fn started(
    stage: &Stage,
    server: &crate::stage::Server,
    workspace: &Path,
    record: &Path,
    more: &Value,
) -> String {
    let _ = fs::remove_file(record);
    let run = server.start(workspace, more);
    server.door.watch(&run, 0).until("run_ended", "reason");
    let journal = stage.journal(&run);
    let last = journal.last().unwrap();
    assert_eq!(last["event"]["data"]["reason"], "completed", "{journal:?}");
    fs::read_to_string(record).unwrap()
}

#[test]
fn all_that_a_start_says_reaches_the_agent() {
    let mut stage = Stage::new();
    let (workspace, record) = recorded(&mut stage);
    let server = serve_with_key(&stage);
    let wanted = json!({
        "system_prompt": "Only haiku.", "append_system_prompt": "Be kind.",
        "allowed_tools": ["Read", "Bash(git:*)"], "auth": "login", "accepts_input": true,
        "resume": {"session_id": SESSION, "fork": true},
    });
    let record = started(&stage, &server, &workspace, &record, &wanted);
    for said in [
        "Only haiku.",
        "Be kind.",
        "Read",
        "Bash(git:*)",
        "--fork-session",
        "--input-format=stream-json",
    ] {
        assert!(record.contains(said), "{said}: {record}");
    }
    assert!(record.contains(&format!("--resume={SESSION}")), "{record}");
    assert!(
        !record.contains("made-up"),
        "the login counts, not the key: {record}"
    );
}

#[test]
fn an_agent_that_is_to_take_no_input_is_told_its_prompt_alone() {
    let mut stage = Stage::new();
    let (workspace, record) = recorded(&mut stage);
    let server = serve_with_key(&stage);
    let wanted = json!({"auth": "api_key", "accepts_input": false});
    let record = started(&stage, &server, &workspace, &record, &wanted);
    assert!(!record.contains("--input-format=stream-json"), "{record}");
    assert!(record.contains("ANTHROPIC_API_KEY=made-up"), "{record}");
    let wanted = json!({"workspace": workspace, "kind": "session", "accepts_input": false});
    let (status, told) = server.door.post("/api/v1/runs", &wanted);
    assert_eq!(
        (status, &told["errors"][0]["pointer"]),
        (422, &json!("/accepts_input")),
        "{told}"
    );
}

#[test]
fn an_agent_that_cannot_do_it_is_refused_with_the_field() {
    let mut stage = Stage::new();
    let workspace = stage.path("plain");
    fs::create_dir(&workspace).unwrap();
    stage.configure(&workspace, "cli:\n  backend: custom\n  command: cat\n");
    let claude = stage.workspace("claude", &works().then(is_done()));
    let server = stage.serve();
    for (workspace, fields, pointer) in [
        (&workspace, json!({"system_prompt": "x"}), "/system_prompt"),
        (
            &workspace,
            json!({"append_system_prompt": "x"}),
            "/append_system_prompt",
        ),
        (&workspace, json!({"allowed_tools": ["Read"]}), "/allowed_tools"),
        (&workspace, json!({"auth": "api_key"}), "/auth"),
        (&workspace, json!({"accepts_input": true}), "/accepts_input"),
        (&workspace, json!({"resume": {"session_id": SESSION}}), "/resume"),
        (&workspace, json!({"kind": "session"}), "/kind"),
        // There is no key.
        (&claude, json!({"auth": "api_key"}), "/auth"),
        (&claude, json!({"system_prompt": " "}), "/system_prompt"),
        (
            &claude,
            json!({"allowed_tools": ["Read", "--all"]}),
            "/allowed_tools/1",
        ),
        (
            &claude,
            json!({"resume": {"session_id": "-x"}}),
            "/resume/session_id",
        ),
    ] {
        let mut wanted = json!({"workspace": workspace, "prompt": "x"});
        for (name, value) in fields.as_object().unwrap() {
            wanted[name] = value.clone();
        }
        let (status, told) = server.door.post("/api/v1/runs", &wanted);
        assert_eq!(
            (status, &told["code"]),
            (422, &json!("unprocessable")),
            "{fields}: {told}"
        );
        assert_eq!(told["errors"][0]["pointer"], pointer, "{told}");
        assert!(!told["detail"].as_str().unwrap().contains("`--"), "{told}");
    }
}
