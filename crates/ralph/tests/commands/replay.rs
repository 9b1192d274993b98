//! `replay`.

use std::fs;

use agent_api::AgentRegistry;
use serde_json::Value;
use test_support::fixtures;

use crate::stage::Stage;

#[test]
fn the_output_of_an_agent_plays_as_a_run_of_its_own() {
    let stage = Stage::new();
    stage.show(&[]);
    let directory = stage.directory(&stage.ids()[0]);
    fs::copy(
        directory.join("raw/2.ndjson"),
        stage.path("workspace/recorded.ndjson"),
    )
    .unwrap();
    let ran = stage.ralph(&["replay", "recorded.ndjson"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("replay_of_a_raw_log", stage.masked(&ran.stdout));
    let json = stage.ralph(&["replay", "recorded.ndjson", "--output", "json"]);
    let records: Vec<Value> = json
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (record, number) in records.iter().zip(1_u64..) {
        assert_eq!(record["seq"], number);
    }
    assert_eq!(records[0]["event"]["type"], "run_started");
    assert_eq!(records.last().unwrap()["event"]["data"]["reason"], "completed");
}

#[test]
fn a_log_says_who_wrote_it() {
    let stage = Stage::new();
    stage.show(&[]);
    let raw = stage.directory(&stage.ids()[0]).join("raw/1.ndjson");
    let ran = stage.ralph(&["replay", raw.to_str().unwrap()]);
    assert!(ran.stdout.starts_with("Demo: "), "{}", ran.stdout);
}

#[test]
fn an_output_that_breaks_off_is_shown_as_such() {
    let stage = Stage::new();
    stage.show(&[]);
    let whole = fs::read(stage.directory(&stage.ids()[0]).join("raw/1.ndjson")).unwrap();
    let mut broken = b"npm warn something\n".to_vec();
    broken.extend(&whole[..whole.len() / 2]);
    fs::write(stage.path("workspace/broken.ndjson"), broken).unwrap();
    let ran = stage.ralph(&["replay", "broken.ndjson"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("2 lines could not be read"), "{}", ran.stderr);
    assert!(
        ran.stdout
            .contains("--- Run ended: the agent ended without a result ---"),
        "{}",
        ran.stdout
    );
}

#[test]
fn what_is_no_recording_is_named() {
    let stage = Stage::new();
    fs::write(stage.path("workspace/notes.txt"), "buy milk\n").unwrap();
    fs::write(stage.path("workspace/empty"), "").unwrap();
    let ran = stage.ralph(&["replay", "notes.txt"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    let told = "ralph: `notes.txt` is neither a run's journal nor output that ralph recognises. If you know which agent \
                wrote it, add `--backend NAME`: claude";
    assert!(ran.stderr.starts_with(told), "{}", ran.stderr);
    for (source, told) in [
        ("empty", "`empty` is empty: there is nothing to play"),
        ("latest", "there are no runs yet; start one with `ralph run`"),
        ("nowhere", "there is neither a file nor a run `nowhere`"),
    ] {
        let ran = stage.ralph(&["replay", source]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{source}");
        assert_eq!(ran.stderr, format!("ralph: {told}\n"));
    }
}

#[test]
fn the_agent_of_a_recording_is_recognised_by_its_first_lines_unless_it_is_named() {
    let stage = Stage::new();
    for (agent, folder, name) in [
        ("claude", "claude", "api_400"),
        ("codex", "codex", "edit"),
        ("codex", "codex_app_server", "edit"),
        ("gemini", "gemini", "edit"),
        ("qwen", "qwen", "edit"),
        ("opencode", "opencode", "acp_edit"),
        ("copilot", "copilot", "acp_edit"),
        ("goose", "goose", "edit"),
        ("opencode", "opencode_run", "shell"),
        ("copilot", "copilot_json", "edit"),
        ("copilot", "copilot_json", "corrupted_keys"),
        ("goose", "goose_run", "shell"),
        ("goose", "goose_run", "kill_int"),
        ("pi", "pi", "edit"),
    ] {
        let mut of = fixtures::of(folder).unwrap().into_iter();
        let fixture = of.rfind(|fixture| fixture.name == name).unwrap();
        fs::write(stage.path("workspace/recording.ndjson"), &fixture.bytes).unwrap();
        let ran = stage.ralph(&["replay", "recording.ndjson", "--output", "json"]);
        assert_eq!(ran.code, Some(0), "{agent}: {}", ran.stderr);
        let started = ran.stdout.lines().next().unwrap();
        let registry = AgentRegistry::builtin();
        let kind = &registry.backend(agent).unwrap().profile().kind;
        assert!(
            started.contains(&format!(r#""backend":"{kind}""#)),
            "{agent}: {started}"
        );
    }
    fs::write(stage.path("workspace/notes.txt"), "buy milk\n").unwrap();
    let named = stage.ralph(&["replay", "notes.txt", "--backend", "custom"]);
    assert_eq!(named.code, Some(0), "{}", named.stderr);
    assert!(named.stdout.contains("buy milk"), "{}", named.stdout);
    let unknown = stage.ralph(&["replay", "notes.txt", "--backend", "cluade"]);
    assert_eq!(unknown.code, Some(64));
    assert!(unknown.stderr.contains("claude"), "{}", unknown.stderr);
}

#[test]
fn the_output_of_amp_plays_although_it_speaks_the_dialect_of_another_agent() {
    let stage = Stage::new();
    let lines = [
        r#"{"type":"system","subtype":"init","cwd":"/work","session_id":"T-1","tools":["Bash"],"mcp_servers":[]}"#,
        r#"{"type":"assistant","message":{"type":"message","role":"assistant","content":[{"type":"text","text":"All done."}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}},"parent_tool_use_id":null,"session_id":"T-1"}"#,
        r#"{"type":"result","subtype":"success","duration_ms":5,"is_error":false,"num_turns":1,"result":"All done.","session_id":"T-1"}"#,
    ];
    fs::write(stage.path("workspace/amp.ndjson"), lines.join("\n")).unwrap();
    let ran = stage.ralph(&["replay", "amp.ndjson", "--output", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.lines().next().unwrap().contains(r#""backend":"amp""#));
    assert!(ran.stdout.contains("All done."), "{}", ran.stdout);
}
