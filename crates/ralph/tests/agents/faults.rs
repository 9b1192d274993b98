//! Killed runners and reconcilers: everything continues, and nothing is started twice.

use ralph_run::Runner;
use test_support::wait_until;

use crate::stage::{Stage, finishes, works};

fn runner(stage: &Stage, run: &str) -> Runner {
    serde_json::from_value(stage.run_file(run)["runner"].clone()).unwrap()
}

#[test]
fn a_killed_runner_is_resumed_in_its_session() {
    let stage = Stage::new(&works());
    stage.create("a");
    let up = stage.up();
    let first = stage.wait_for_work("a", None);
    stage.kill_runner(&first);
    let second = stage.wait_for_work("a", Some(&first));
    let (before, after) = (stage.run_file(&first), stage.run_file(&second));
    assert_eq!(before["reason"], "lost");
    assert_eq!(after["resumed_from"].as_str(), Some(first.as_str()));
    assert!(
        up.said().contains("it continues the session of run"),
        "{}",
        up.said()
    );
    stage.says(&["agents", "stop", "a"]);
    assert_eq!(stage.runs().len(), 2);
}

#[test]
fn a_killed_reconciler_is_replaced_by_one_that_adopts_its_runs() {
    let stage = Stage::new(&works());
    stage.create("a");
    let first = stage.up();
    let run = stage.wait_for_work("a", None);
    let before = runner(&stage, &run);
    first.kill();
    assert!(before.is_alive(), "the run does not need the reconciler");
    let second = stage.up();
    wait_until("the run is adopted", || second.said().contains("adopted run"));
    assert_eq!(stage.show("a")["state"]["run"]["id"].as_str(), Some(run.as_str()));
    assert_eq!((stage.runs().len(), runner(&stage, &run)), (1, before.clone()));
    stage.says(&["agents", "stop", "a"]);
    assert_eq!(stage.run_file(&run)["reason"], "stopped");
    wait_until("the runner exits", || !before.is_alive());
    assert_eq!(stage.runs().len(), 1, "it is not started twice");
}

#[test]
fn a_runner_that_dies_while_nobody_reconciles_is_resumed_later() {
    let stage = Stage::new(&works());
    stage.create("a");
    let up = stage.up();
    let first = stage.wait_for_work("a", None);
    up.kill();
    stage.kill_runner(&first);
    let _up = stage.up();
    let second = stage.wait_for_work("a", Some(&first));
    assert_eq!(
        stage.run_file(&second)["resumed_from"].as_str(),
        Some(first.as_str())
    );
    stage.says(&["agents", "stop", "a"]);
}

#[test]
fn work_begins_again_where_the_backend_cannot_resume_a_session() {
    let stage = Stage::new(&works());
    let workspace = stage.path("other");
    std::fs::create_dir(&workspace).unwrap();
    // The demo asks a question and waits for the answer.
    std::fs::write(workspace.join("ralph.yml"), "ask: true\n").unwrap();
    let workspace = workspace.to_str().unwrap();
    stage.says(&["trust", "--yes", workspace]);
    stage.says(&[
        "agents", "create", "a", "-b", "demo", "-C", workspace, "-p", "Do it.",
    ]);
    let up = stage.up();
    let begun_after = |earlier: Option<&str>| {
        let view = stage.wait_for("a run", "a", |view| {
            let run = view["state"]["run"]["id"].as_str();
            run.is_some_and(|run| Some(run) != earlier && stage.run_directory(run).join("run.json").exists())
        });
        view["state"]["run"]["id"].as_str().unwrap().to_owned()
    };
    let first = begun_after(None);
    wait_until("the question", || {
        let file = stage.run_file(&first);
        file["status"]["state"] == "waiting" && !file["session_ids"][0].is_null()
    });
    stage.kill_runner(&first);
    let second = begun_after(Some(&first));
    assert!(stage.run_file(&second)["resumed_from"].is_null(), "{}", up.said());
    stage.says(&["agents", "stop", "a"]);
}

#[test]
fn a_conversation_that_is_paused_continues_its_session() {
    let stage = Stage::new(&finishes());
    stage.says(&["agents", "create", "a", "--accepts-input", "-p", "Wait for me."]);
    let _up = stage.up();
    let first = stage.wait_for_work("a", None);
    stage.says(&["agents", "pause", "a"]);
    stage.wait_for("the pause", "a", |view| view["state"]["last_outcome"] == "paused");
    assert_eq!(stage.run_file(&first)["reason"], "completed");
    stage.says(&["agents", "start", "a"]);
    let second = stage.wait_for_work("a", Some(&first));
    assert_eq!(
        stage.run_file(&second)["resumed_from"].as_str(),
        Some(first.as_str())
    );
    stage.says(&["agents", "stop", "a"]);
    assert_eq!(stage.show("a")["state"]["process_status"], "stopped");
}

#[test]
fn ctrl_c_leaves_runs_alive_and_names_them() {
    let stage = Stage::new(&works());
    stage.create("a");
    let up = stage.up();
    let run = stage.wait_for_work("a", None);
    let (code, said) = up.interrupt();
    assert_eq!(code, Some(0));
    let short = ralph_run::short_run_id(&run);
    assert!(
        said.contains(&format!("a: run {short} (`ralph stop {short}` ends it)")),
        "{said}"
    );
    assert!(runner(&stage, &run).is_alive());
    // Without a reconciler, the command itself sees to it.
    assert_eq!(stage.says(&["agents", "stop", "a"]), "agent a is stopped\n");
    assert_eq!(stage.run_file(&run)["reason"], "stopped");
    assert_eq!(stage.show("a")["state"]["process_status"], "stopped");
}

#[test]
fn a_second_reconciler_is_refused_with_the_first_one_named() {
    let stage = Stage::new(&works());
    let _up = stage.up();
    let refusal = stage.refuses(&["agents", "up"]);
    assert!(
        refusal.contains("another reconciler is running for this home (process "),
        "{refusal}"
    );
}
