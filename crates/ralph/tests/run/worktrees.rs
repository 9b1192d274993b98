//! `ralph run --worktree`, `ralph merge` and `ralph worktrees`, with a command as the agent.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::stage::{Ran, Stage, says};

/// A repository with one commit, `ralph.yml` among its files, and an agent that runs these shell commands.
fn stage(agent: &str, settings: &str) -> Stage {
    let stage = Stage::empty();
    let program = stage.path("agent.sh");
    let script = format!("#!/bin/sh\ncat > /dev/null\n{agent}\necho LOOP_COMPLETE\n");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    stage.configure(&format!(
        "cli: {{backend: custom, command: {}}}\n{settings}\n",
        program.display()
    ));
    fs::write(stage.workspace().join("a.txt"), "a\n").unwrap();
    begin_repository(&stage);
    stage
}

fn begin_repository(stage: &Stage) {
    git(stage, &["init", "--quiet", "--initial-branch=main"]);
    git(stage, &["add", "--all"]);
    git(stage, &["commit", "--quiet", "-m", "Begin"]);
}

#[track_caller]
fn git(stage: &Stage, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=A", "-c", "user.email=a@example.invalid"]);
    git.args(arguments).current_dir(stage.workspace());
    git.env_clear()
        .envs(stage.variables())
        .env("GIT_CONFIG_NOSYSTEM", "1");
    let output = git.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn ralph(stage: &Stage, arguments: &[&str]) -> Ran {
    Ran::of(&stage.ralph(arguments).output().unwrap())
}

fn listed(stage: &Stage) -> Vec<Value> {
    let ran = ralph(stage, &["worktrees", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

/// The folder of the only worktree.
fn folder(stage: &Stage) -> PathBuf {
    PathBuf::from(listed(stage)[0]["path"].as_str().unwrap())
}

fn warnings(stage: &Stage) -> Vec<String> {
    let records = stage.records().into_iter();
    let warned = records.filter(|record| record["event"]["type"] == "warned");
    warned
        .map(|record| record["event"]["data"]["message"].as_str().unwrap().to_owned())
        .collect()
}

const BEFORE: &str =
    "verify: test -f made.txt\nworktree: {setup: 'echo $RALPH_WORKTREE $RALPH_PORT_BASE > .ports'}\n";

#[test]
fn a_run_in_a_worktree_leaves_the_checkout_alone_until_it_is_merged() {
    let stage = stage("echo made > made.txt", BEFORE);
    fs::write(stage.workspace().join("a.txt"), "mine\n").unwrap();
    let ran = stage.run(&["--worktree=fix"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("branch `ralph/fix` from `main`"), "{ran:?}");
    assert!(!stage.workspace().join("made.txt").exists());
    assert_eq!(git(&stage, &["show", "ralph/fix:made.txt"]), "made");
    assert_eq!(git(&stage, &["show", "ralph/fix:a.txt"]), "a");
    let worktree = folder(&stage);
    assert_eq!(stage.run_file()["workspace"].as_str(), worktree.to_str());
    let ports = fs::read_to_string(worktree.join(".ports")).unwrap();
    let port: u16 = ports.trim().strip_prefix("fix ").unwrap().parse().unwrap();
    assert_eq!(port % 10, 0);
    let [row] = &listed(&stage)[..] else {
        unreachable!()
    };
    assert_eq!((&row["ahead"], &row["is_merged"]), (&1.into(), &false.into()));

    let refused = ralph(&stage, &["worktrees", "remove", "fix"]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("1 commit that `main` does not have"),
        "{refused:?}"
    );
    let merged = ralph(&stage, &["merge", "latest"]);
    assert_eq!(merged.code, Some(0), "{merged:?}");
    assert!(
        merged.stdout.contains("merged fix into main: 1 commit, verified"),
        "{merged:?}"
    );
    assert_eq!(
        fs::read_to_string(stage.workspace().join("made.txt")).unwrap(),
        "made\n"
    );
    assert_eq!(
        fs::read_to_string(stage.workspace().join("a.txt")).unwrap(),
        "mine\n"
    );
    let removed = ralph(&stage, &["worktrees", "remove", "fix"]);
    assert_eq!(
        (removed.code, removed.stdout.as_str()),
        (Some(0), "removed fix\n"),
        "{removed:?}"
    );
    assert!(listed(&stage).is_empty() && !worktree.exists());
}

#[test]
fn a_run_in_the_background_and_a_second_one_use_the_same_worktree() {
    let stage = stage("echo line >> made.txt", "");
    let started = stage.run(&["--worktree=fix", "--detach"]);
    assert_eq!(started.code, Some(0), "{started:?}");
    assert_eq!(stage.wait_for_end()["reason"], "completed");
    let again = stage.run(&["--worktree=fix"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_eq!(git(&stage, &["show", "ralph/fix:made.txt"]), "line\nline");
    assert_eq!(git(&stage, &["rev-list", "--count", "main..ralph/fix"]), "2");
    assert_eq!(stage.run_file()["workspace"].as_str(), folder(&stage).to_str());
}

#[test]
fn a_session_is_resumed_in_the_worktree_where_it_began() {
    let stage = Stage::new(&says("LOOP_COMPLETE"));
    begin_repository(&stage);
    let first = stage.run(&["--worktree=fix", "--once"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let id = stage.run_file()["run_id"].as_str().unwrap().to_owned();
    let elsewhere = stage.run(&["--once", "--resume", &id]);
    assert!(elsewhere.stderr.contains("resume it there"), "{elsewhere:?}");
    let again = stage.run(&["--worktree=fix", "--once", "--resume", &id]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_eq!(stage.run_file()["resumed_from"], id.as_str());
}

#[test]
fn an_agent_that_writes_to_the_checkout_is_reported() {
    let stage = stage(
        "echo oops > \"$RALPH_CHECKOUT/oops.txt\"; echo made > made.txt",
        "",
    );
    let ran = stage.run(&["--worktree"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let warnings = warnings(&stage);
    let is_reported =
        |text: &String| text.contains("changed while the agent worked") && text.contains("`oops.txt`");
    assert!(warnings.iter().any(is_reported), "{warnings:?}");
    let name = listed(&stage)[0]["name"].as_str().unwrap().to_owned();
    assert!(name.starts_with("run-"), "{name}");
}

#[test]
fn a_merge_needs_a_verify_command_or_to_be_told_that_there_is_none() {
    let stage = stage("echo made > made.txt", "");
    stage.run(&["--worktree=fix"]);
    let refused = ralph(&stage, &["merge", "fix"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("would be unverified"), "{refused:?}");
    let failing = ralph(&stage, &["merge", "fix", "--verify", "echo broken; false"]);
    assert_eq!(failing.code, Some(1));
    assert!(
        failing.stderr.contains("nothing was changed") && failing.stderr.contains("broken"),
        "{failing:?}"
    );
    assert!(!stage.workspace().join("made.txt").exists());
    let merged = ralph(&stage, &["merge", "fix", "--unverified", "--json"]);
    let merged: Value = serde_json::from_str(&merged.stdout).unwrap();
    assert_eq!(
        (&merged["outcome"], &merged["is_verified"]),
        (&"merged".into(), &false.into())
    );
    let again = ralph(&stage, &["merge", "fix"]);
    assert!(again.stdout.contains("nothing to merge"), "{again:?}");
}

#[test]
fn a_conflict_is_said_with_what_to_do_and_changes_nothing() {
    let stage = stage("echo theirs > a.txt", "");
    stage.run(&["--worktree=fix"]);
    fs::write(stage.workspace().join("a.txt"), "ours\n").unwrap();
    git(&stage, &["commit", "--quiet", "-am", "Ours"]);
    let tip = git(&stage, &["rev-parse", "main"]);
    let merged = ralph(&stage, &["merge", "fix", "--unverified"]);
    assert_eq!(merged.code, Some(1));
    assert!(
        merged.stderr.contains("conflicts with main in a.txt"),
        "{merged:?}"
    );
    assert_eq!(git(&stage, &["rev-parse", "main"]), tip);
    assert_eq!(
        fs::read_to_string(stage.workspace().join("a.txt")).unwrap(),
        "ours\n"
    );
}

#[test]
fn a_setup_that_fails_starts_no_agent_and_is_tried_again() {
    let stage = stage(
        "echo made > made.txt",
        "worktree: {setup: 'test -f ../../../../allowed || { echo no way; exit 3; }'}",
    );
    let ran = stage.run(&["--worktree=fix"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stderr.contains("exited with code 3") && ran.stderr.contains("no way"),
        "{ran:?}"
    );
    assert!(stage.runs().is_empty());
    let state: &Path = &stage.path("state");
    fs::write(state.join("allowed"), "").unwrap();
    let ran = stage.run(&["--worktree=fix"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn what_cannot_be_a_worktree_is_refused_before_anything_starts() {
    let stage = stage("echo made > made.txt", "");
    for (arguments, words) in [
        (&["--worktree=Fix it"][..], "cannot name a worktree"),
        (&["--worktree=.."], "cannot name a worktree"),
    ] {
        let ran = stage.run(arguments);
        assert_eq!(ran.code, Some(64), "{ran:?}");
        assert!(ran.stderr.contains(words), "{ran:?}");
    }
    let dry = stage.run(&["--worktree=fix", "--dry-run"]);
    assert!(dry.stderr.contains("would create the worktree `fix`"), "{dry:?}");
    assert!(listed(&stage).is_empty() && stage.runs().is_empty());
    let unknown = ralph(&stage, &["merge", "nothing"]);
    assert_eq!(unknown.code, Some(64), "{unknown:?}");
    stage.run(&[]);
    let elsewhere = ralph(&stage, &["merge", "latest"]);
    assert!(
        elsewhere.stderr.contains("did not work in a worktree"),
        "{elsewhere:?}"
    );
    fs::remove_dir_all(stage.workspace().join(".git")).unwrap();
    let outside = stage.run(&["--worktree=fix"]);
    assert_eq!(outside.code, Some(64), "{outside:?}");
    assert!(
        outside.stderr.contains("is not in a git repository"),
        "{outside:?}"
    );
}

#[test]
fn an_agent_can_neither_merge_nor_remove() {
    let stage = stage("echo made > made.txt", "");
    stage.run(&["--worktree=fix"]);
    let tip = git(&stage, &["rev-parse", "main"]);
    for arguments in [
        &["merge", "fix", "--unverified"][..],
        &["merge", "fix", "--verify", "true"],
        &["worktrees", "remove", "fix", "--force"],
        &["worktrees", "gc", "--max-size", "0"],
    ] {
        let mut command = stage.ralph(arguments);
        let refused = Ran::of(&command.env("RALPH_RUN_ID", "some-run").output().unwrap());
        assert_ne!(refused.code, Some(0), "{refused:?}");
        assert!(
            refused
                .stderr
                .contains("an agent can neither merge nor remove worktrees"),
            "{refused:?}"
        );
    }
    assert_eq!(git(&stage, &["rev-parse", "main"]), tip);
    assert_eq!(listed(&stage).len(), 1);
}

#[test]
fn a_run_in_a_folder_of_a_worktree_has_all_of_it_to_itself() {
    let ralph = env!("CARGO_BIN_EXE_ralph");
    let agent = format!(
        "echo made > made.txt; git add . && git -c user.name=A -c user.email=a@example.invalid commit -qm Made; \
         (unset RALPH_RUN_ID; {ralph} merge fix --unverified > \"$RALPH_CHECKOUT/../said\" 2>&1)"
    );
    let stage = stage(&agent, "");
    fs::create_dir(stage.workspace().join("part")).unwrap();
    let settings = stage.workspace().join("ralph.yml");
    fs::copy(settings, stage.workspace().join("part/ralph.yml")).unwrap();
    git(&stage, &["add", "--all"]);
    git(&stage, &["commit", "--quiet", "-m", "Part"]);
    let tip = git(&stage, &["rev-parse", "main"]);
    let ran = stage.run(&["--worktree=fix", "-C", "part", "--trust"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let worktree = folder(&stage);
    assert!(worktree.join("part/made.txt").exists(), "{ran:?}");
    let said = fs::read_to_string(stage.workspace().join("../said")).unwrap();
    assert!(said.contains("is in use by run"), "{said}");
    assert_eq!(git(&stage, &["rev-parse", "main"]), tip);
}

#[test]
fn a_merge_from_a_hook_of_git_is_verified_where_it_is_merged() {
    let stage = stage("echo made > made.txt", "");
    stage.run(&["--worktree=fix"]);
    let verify = "git ls-files --error-unmatch made.txt";
    let mut merge = stage.ralph(&["merge", "fix", "--verify", verify]);
    merge.env("GIT_DIR", stage.workspace().join(".git"));
    merge.env("GIT_INDEX_FILE", stage.workspace().join(".git/index"));
    let merged = Ran::of(&merge.output().unwrap());
    assert_eq!(merged.code, Some(0), "{merged:?}");
}
