//! Creating, listing, starting, stopping and deleting agents.

use std::fs;

use serde_json::Value;

use crate::stage::{Stage, finishes, works};

#[test]
fn an_agent_does_its_work_once_and_again_when_it_is_asked() {
    let stage = Stage::new(&finishes());
    stage.create("a");
    let up = stage.up();
    let is_done = |view: &Value| view["state"]["last_outcome"] == "finished";
    let view = stage.wait_for("the end of the work", "a", is_done);
    assert_eq!(view["state"]["process_status"], "exited");
    assert_eq!(view["state"]["failures"], 0);
    assert!(view["cost_today_micro_usd"].as_u64().unwrap() > 0, "{view}");
    let first = view["state"]["last_run"].clone();
    stage.says(&["agents", "start", "a", "-p", "Do more."]);
    let view = stage.wait_for("the second end", "a", |view| {
        is_done(view) && view["state"]["last_run"] != first && view["state"]["run"].is_null()
    });
    assert_eq!(
        (stage.runs().len(), view["prompt"].as_str()),
        (2, Some("Do more."))
    );
    let (code, said) = up.interrupt();
    assert_eq!(code, Some(0));
    assert!(said.contains("no agent is at work"), "{said}");
    let logs = stage.says(&["agents", "logs", "a"]);
    assert!(
        logs.contains("its prompt is not finished") && logs.contains("has ended: completed"),
        "{logs}"
    );
    for line in stage.says(&["agents", "logs", "a", "--json"]).lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["agent"], "a");
    }
}

#[test]
fn an_agent_can_be_created_listed_and_deleted_and_nothing_runs() {
    let stage = Stage::new(&finishes());
    assert!(stage.says(&["agents"]).starts_with("no agents;"));
    stage.says(&[
        "agents",
        "create",
        "night",
        "--stopped",
        "--max-cost-per-day",
        "5",
        "--kind",
        "gardener",
        "-p",
        "Weed.",
    ]);
    let taken = stage.refuses(&["agents", "create", "night", "-p", "x"]);
    assert!(taken.contains("there is already an agent `night`"), "{taken}");
    let list = stage.says(&["agents", "list"]);
    assert!(
        list.starts_with("AGENT  WANTED   PROCESS") && list.contains("night  stopped"),
        "{list}"
    );
    let json: Value = serde_json::from_str(&stage.says(&["agents", "--json"])).unwrap();
    assert_eq!(json[0]["kind"], "gardener");
    assert_eq!(json[0]["limits_per_day"]["cost"], 5_000_000);
    let shown = stage.says(&["agents", "show", "night"]);
    assert!(shown.contains("agent       night (gardener)\n"), "{shown}");
    stage.says(&["agents", "delete", "night"]);
    let unknown = stage.refuses(&["agents", "show", "night"]);
    assert!(unknown.contains("no agent `night`"), "{unknown}");
    assert!(stage.runs().is_empty());
}

#[test]
fn an_agent_at_work_is_deleted_only_after_it_was_stopped() {
    let stage = Stage::new(&works());
    stage.create("a");
    let _up = stage.up();
    stage.wait_for_work("a", None);
    let refused = stage.refuses(&["agents", "delete", "a"]);
    assert!(refused.contains("run `ralph agents stop a` first"), "{refused}");
    assert_eq!(
        stage.show("a")["desired"],
        "active",
        "the refusal changes nothing"
    );
    let again = stage.says(&["agents", "start", "a"]);
    assert_eq!(again, "agent a is already running\n");
    stage.says(&["agents", "stop", "a"]);
    stage.says(&["agents", "delete", "a"]);
    assert_eq!(stage.runs().len(), 1, "its run is kept");
}

#[test]
fn a_workspace_that_is_not_trusted_needs_a_person() {
    let stage = Stage::new(&finishes());
    let path = stage.path("workspace/ralph.yml");
    let text = fs::read_to_string(&path).unwrap() + "verify: [\"true\"]\n";
    fs::write(&path, text).unwrap();
    stage.create("a");
    let _up = stage.up();
    let view = stage.wait_for("the error", "a", |view| {
        view["state"]["process_status"] == "error"
    });
    let message = view["state"]["needs_person"].as_str().unwrap();
    assert!(message.contains("ralph trust"), "{message}");
    stage.says(&["trust", "--yes"]);
    stage.says(&["agents", "start", "a"]);
    stage.wait_for("the end of the work", "a", |view| {
        view["state"]["last_outcome"] == "finished"
    });
}

#[test]
fn prompts_that_are_empty_or_contain_a_secret_are_not_stored() {
    let stage = Stage::new(&finishes());
    let token = format!("Use ghp_{}", "a1B2c3D4e5".repeat(4));
    let without = stage.refuses(&["agents", "create", "a"]);
    assert!(without.contains("add `--prompt`"), "{without}");
    let system = ["agents", "create", "a", "-p", "x", "--system-prompt", &token];
    let refused = stage.refuses(&system);
    assert!(refused.contains("the system prompt contains"), "{refused}");
    for (prompt, says) in [
        (" ", "the prompt is empty"),
        (token.as_str(), "contains a secret"),
    ] {
        let refused = stage.refuses(&["agents", "create", "a", "-p", prompt]);
        assert!(refused.contains(says), "{refused}");
    }
    assert!(!stage.path("state/ralph/agents/a").exists());
}

#[test]
fn a_damaged_agent_is_reported_once_and_others_work_on() {
    let stage = Stage::new(&finishes());
    stage.create("a");
    stage.create("b");
    fs::write(stage.path("state/ralph/agents/a/agent.json"), "{").unwrap();
    let up = stage.up();
    stage.wait_for("the end of the work", "b", |view| {
        view["state"]["last_outcome"] == "finished"
    });
    let (_, said) = up.interrupt();
    assert_eq!(said.matches("agent.json` is damaged").count(), 1, "{said}");
    let listed = stage.output(&["agents"]);
    assert_eq!(listed.status.code(), Some(1));
    let stderr = String::from_utf8(listed.stderr).unwrap();
    assert!(stderr.contains("agent.json` is damaged"), "{stderr}");
}

#[test]
fn a_start_of_an_agent_that_has_not_finished_changes_nothing() {
    let stage = Stage::new(&finishes());
    stage.create("a");
    let before = stage.show("a")["start_number"].clone();
    let said = stage.says(&["agents", "start", "a"]);
    assert_eq!(said, "agent a is already active; its work is not finished\n");
    assert_eq!(stage.show("a")["start_number"], before);
    stage.says(&["agents", "start", "a", "-p", "Something else."]);
    assert_ne!(stage.show("a")["start_number"], before);
}

#[test]
fn a_run_may_look_at_agents_and_not_change_them() {
    let stage = Stage::new(&finishes());
    stage.create("a");
    let from_run = |args: &[&str]| stage.ralph(args).env("RALPH_RUN_ID", "r1").output().unwrap();
    for args in [
        &["agents", "create", "b", "-p", "x"] as &[&str],
        &["agents", "start", "a"],
        &["agents", "stop", "a"],
        &["agents", "delete", "a"],
        &["agents", "up"],
        &["service", "install", "--no-start"],
    ] {
        let output = from_run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && stderr.contains("a run cannot change agents"),
            "{stderr}"
        );
    }
    for args in [
        &["agents"] as &[&str],
        &["agents", "show", "a"],
        &["agents", "logs", "a"],
    ] {
        assert!(from_run(args).status.success(), "{args:?}");
    }
}
