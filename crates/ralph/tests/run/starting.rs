//! Runs that are started where something is in the way.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use test_support::wait_until;

use crate::stage::{Ran, Stage, read_json, says, works};

/// No socket can be bound below this.
fn long_state(stage: &Stage) -> PathBuf {
    stage.path(&"a-very-long-name".repeat(8))
}

fn ralph(stage: &Stage, args: &[&str]) -> Command {
    let mut command = stage.ralph(args);
    command.env("XDG_STATE_HOME", long_state(stage));
    command
}

fn runs(state: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(state.join("ralph/runs")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_state_path_too_long_for_a_socket_does_not_keep_a_detached_run_from_starting() {
    let stage = Stage::new(&works().sleep_forever());
    let started = Ran::of(
        &ralph(&stage, &["run", "--trust", "-p", "x", "--detach"])
            .output()
            .unwrap(),
    );
    assert_eq!(started.code, Some(0), "{started:?}");
    let id = started.stdout.trim();
    // The other terminal has a directory for sockets, which the runner did not have.
    let stopped = Ran::of(
        &ralph(&stage, &["stop", id])
            .env("XDG_RUNTIME_DIR", stage.path("home"))
            .output()
            .unwrap(),
    );
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    let doctor = Ran::of(&ralph(&stage, &["doctor"]).output().unwrap());
    assert!(doctor.stdout.contains("/tmp/ralph-"), "{doctor:?}");
}

#[test]
fn runs_that_start_at_the_same_moment_all_start() {
    let stage = Stage::new(&says("LOOP_COMPLETE"));
    let settings = std::fs::read(stage.workspace().join("ralph.yml")).unwrap();
    let starting: Vec<_> = (0..8)
        .map(|number| {
            let workspace = stage.path(&format!("workspace-{number}"));
            std::fs::create_dir(&workspace).unwrap();
            std::fs::write(workspace.join("ralph.yml"), &settings).unwrap();
            ralph(&stage, &["run", "--trust", "-p", "x", "--detach"])
                .env("XDG_RUNTIME_DIR", stage.path("home"))
                .current_dir(workspace)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for starting in starting {
        let started = Ran::of(&starting.wait_with_output().unwrap());
        assert_eq!(started.code, Some(0), "{started:?}");
    }
    assert_eq!(runs(&long_state(&stage)).len(), 8);
}

#[test]
fn a_run_whose_runner_is_killed_right_after_its_start_is_kept() {
    let stage = Stage::new(&works().sleep_forever());
    let started = Ran::of(&stage.ralph(&["run", "-p", "x", "--detach"]).output().unwrap());
    assert_eq!(started.code, Some(0), "{started:?}");
    let runner: ralph_run::Runner = serde_json::from_value(stage.run_file()["runner"].clone()).unwrap();
    let pid = Pid::from_raw(i32::try_from(runner.pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    wait_until("the runner's death", || !runner.is_alive());
    let listed = Ran::of(&stage.ralph(&["runs"]).output().unwrap());
    assert!(listed.stdout.contains("lost"), "{listed:?}");
    let journal = stage.last_run().join("journal.ndjson");
    assert!(std::fs::metadata(journal).unwrap().len() > 0);
}

#[test]
fn a_second_runner_of_a_run_gives_up_and_leaves_the_first_alone() {
    let stage = Stage::new(&works().sleep_forever());
    let id = started_id(&stage);
    let second = Ran::of(&stage.ralph(&["__runner", &id]).output().unwrap());
    assert_ne!(second.code, Some(0), "{second:?}");
    assert_eq!(
        read_json(&stage.last_run().join("run.json"))["run_id"],
        id.as_str()
    );
    let stopped = Ran::of(&stage.ralph(&["stop", &id]).output().unwrap());
    assert_eq!(
        stopped.code,
        Some(0),
        "the first runner is not disturbed: {stopped:?}"
    );
}

fn started_id(stage: &Stage) -> String {
    let started = Ran::of(&stage.ralph(&["run", "-p", "x", "--detach"]).output().unwrap());
    assert_eq!(started.code, Some(0), "{started:?}");
    started.stdout.trim().to_owned()
}
