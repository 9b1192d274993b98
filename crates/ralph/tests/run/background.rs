//! Runs without a terminal.

use std::time::Duration;

use ralph_run::{Home, Lock, LockError, LockInfo};
use tempfile::TempDir;
use test_support::{recorded, wait_until};

use crate::stage::{Ran, Stage, says, works};

#[test]
fn a_detached_run_prints_its_id_and_continues_by_itself() {
    let stage = Stage::new(&says("LOOP_COMPLETE"));
    let ran = Ran::of(&stage.ralph(&["run", "-p", "x", "--detach"]).output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        ran.stderr.matches("permission checks are off").count(),
        1,
        "{}",
        ran.stderr
    );
    let run = stage.last_run();
    assert_eq!(ran.stdout.trim(), run.file_name().unwrap().to_str().unwrap());
    assert_eq!(stage.wait_for_end()["reason"], "completed");
    assert!(!run.join("request.json").exists());
    let second = &stage.records()[1];
    assert_eq!(second["event"]["type"], "warned", "{second}");
    assert!(
        second.to_string().contains("permission checks are off"),
        "{second}"
    );
}

#[test]
fn a_detached_run_that_cannot_start_says_why_at_once() {
    let stage = Stage::empty();
    let ran = Ran::of(
        &stage
            .ralph(&["run", "-p", "x", "-b", "claude", "--detach"])
            .env("PATH", "/nowhere")
            .output()
            .unwrap(),
    );
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(stage.runs().iter().all(|run| !run.join("raw/1.ndjson").exists()));
}

#[test]
fn a_detached_run_can_be_stopped_and_takes_its_family_along() {
    let directory = TempDir::new().unwrap();
    let script = works()
        .record_process(directory.path(), "agent")
        .spawn_tree(directory.path())
        .sleep_forever();
    let stage = Stage::new(&script);
    let ran = Ran::of(&stage.ralph(&["run", "-p", "x", "--detach"]).output().unwrap());
    let id = ran.stdout.trim();
    wait_until("the agent's processes", || {
        recorded::all(directory.path()).unwrap().len() >= 6
    });
    let stopped = Ran::of(&stage.ralph(&["stop", id]).output().unwrap());
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert_eq!(stopped.stdout, format!("run {id} has ended: stopped\n"));
    let file = stage.run_file();
    assert_eq!(file["reason"], "stopped");
    let runner: ralph_run::Runner = serde_json::from_value(file["runner"].clone()).unwrap();
    assert!(!runner.is_alive(), "whoever stops a run can start the next one");
    let gone = recorded::wait_until_gone(directory.path(), Duration::from_secs(5)).unwrap();
    assert!(gone.is_ok(), "{gone:?}");
}

#[test]
fn a_workspace_in_use_is_refused_with_its_holder() {
    let stage = Stage::new(&works().sleep_forever());
    let first = Ran::of(&stage.ralph(&["run", "-p", "x", "--detach"]).output().unwrap());
    let holder = first.stdout.trim().to_owned();
    let second = Ran::of(&stage.ralph(&["run", "-p", "x", "--detach"]).output().unwrap());
    assert_eq!(second.code, Some(1), "{second:?}");
    assert!(
        second
            .stderr
            .contains(&format!("in use by run {}", ralph_run::short_run_id(&holder))),
        "{second:?}"
    );
    assert_eq!(stage.runs().len(), 1, "nothing is left of the second");
    let stopped = Ran::of(&stage.ralph(&["stop", &holder]).output().unwrap());
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
}

#[test]
fn neither_a_runner_nor_its_agent_nor_a_check_sees_the_secrets_of_a_server() {
    let stage = Stage::new(
        &test_support::script::Script::new()
            .expect_no_variable("RALPH_SERVER_TOKEN")
            .then(says("LOOP_COMPLETE")),
    );
    let check = "test -z \"$RALPH_SERVER_TOKEN\" && tr '\\0' '\\n' < /proc/$PPID/environ > ../seen";
    for (args, is_detached) in [(&["--detach"][..], true), (&[], false)] {
        let mut all = vec!["run", "-p", "x", "--verify", check];
        all.extend(args);
        let mut command = stage.ralph(&all);
        let ran = Ran::of(&command.env("RALPH_SERVER_TOKEN", "made-up").output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(stage.wait_for_end()["reason"], "completed");
        if is_detached {
            // What started the check is the runner, or its guard: both had the runner's environment.
            let seen = std::fs::read_to_string(stage.path("seen")).unwrap();
            assert!(
                seen.contains("XDG_STATE_HOME") && !seen.contains("RALPH_SERVER_TOKEN"),
                "{seen}"
            );
        }
    }
}

/// What the scripted agents say that their conversation is, whatever they are asked for.
const SESSION: &str = "00000000-0000-4000-8000-000000000001";

fn lock_session(stage: &Stage) -> Result<Lock, LockError> {
    let info = LockInfo {
        run_id: "20250101-000000-000001".to_owned(),
        pid: std::process::id(),
        since: "2026-11-15T00:00:00Z".parse().unwrap(),
    };
    Lock::session(&Home::new(stage.path("state/ralph"), None), SESSION, &info)
}

#[test]
fn the_conversation_that_the_agent_has_is_locked_and_not_the_one_it_was_asked_for() {
    let stage = Stage::new(&works().sleep_forever());
    let ran = Ran::of(&stage.ralph(&["run", "-p", "x", "--detach"]).output().unwrap());
    let id = ran.stdout.trim();
    wait_until("the agent's first text", || {
        let records = stage.records();
        records
            .iter()
            .any(|record| record["event"]["type"] == "text_block")
    });
    let Err(LockError::Held(held)) = lock_session(&stage) else {
        unreachable!("nobody has it")
    };
    assert_eq!(held.holder.unwrap().run_id, id);
    let stopped = Ran::of(&stage.ralph(&["stop", id]).output().unwrap());
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert!(lock_session(&stage).is_ok(), "it goes with the run");
}

#[test]
fn a_session_in_use_is_refused_with_its_holder() {
    let stage = Stage::new(&says("LOOP_COMPLETE"));
    let warnings = |stage: &Stage| -> Vec<String> {
        let records = stage.records();
        let warned = records
            .iter()
            .filter(|record| record["event"]["data"]["kind"] == "degraded");
        warned
            .map(|record| record["event"]["data"]["message"].to_string())
            .collect()
    };
    let held = lock_session(&stage).unwrap();
    let ran = stage.run(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let told = warnings(&stage);
    let [warning] = told.as_slice() else {
        unreachable!("{told:?}")
    };
    assert!(
        warning.contains("the session `") && warning.contains("` is in use by run 000001 "),
        "{warning}"
    );

    drop(held);
    // What is asked for is locked before the agent starts: nobody else has it.
    for args in [&[][..], &["--resume", SESSION]] {
        let ran = stage.run(args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(warnings(&stage), [""; 0]);
    }
}
