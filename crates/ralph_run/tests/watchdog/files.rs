//! Files that are changed back and forth, and files outside of the scope.

use agent_api::{ChangeKind, FileChange, ToolKind, ToolStatus};
use ralph_run::watchdog::{Scope, WatchAction, WatchRules};
use ralph_run::{IterationOutcome, RunBody, Warned, WarningKind};
use serde_json::json;

use crate::stage::{Stage, WORKSPACE};

fn path(name: &str) -> String {
    format!("{WORKSPACE}/{name}")
}

fn scoped(patterns: &[&str]) -> Stage {
    let patterns: Vec<String> = patterns.iter().map(|&it| it.to_owned()).collect();
    let mut rules = WatchRules::default();
    rules.out_of_scope.scope = Some(Scope::new(&patterns).unwrap());
    Stage::new(rules)
}

#[test]
fn a_change_that_is_made_undone_and_made_again_is_found() {
    for flip in [Stage::edit, Stage::patch] {
        let mut stage = Stage::new(WatchRules::default());
        let file = path("src/lib.rs");
        flip(&mut stage, &file, "a", "b");
        // Also in another iteration.
        stage.end_iteration("Done.", IterationOutcome::Continues);
        stage.begin_iteration();
        flip(&mut stage, &file, "b", "a");
        assert_eq!(stage.take(), []);
        flip(&mut stage, &file, "a", "b");
        let [finding] = stage.take().try_into().unwrap();
        assert_eq!(finding.kind, WarningKind::FlippedFile);
        let texts: Vec<&str> = finding.evidence.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["changed", "changed back", "changed back"]);
        flip(&mut stage, &file, "b", "a");
        flip(&mut stage, &file, "a", "b");
        assert_eq!(stage.kinds(), []);
    }
}

#[test]
fn a_file_that_is_written_back_and_forth_is_found() {
    let mut stage = Stage::new(WatchRules::default());
    let file = path("config.json");
    for content in ["one", "two", "one"] {
        stage.write(&file, content);
    }
    assert_eq!(stage.take(), []);
    stage.write(&file, "two");
    assert_eq!(stage.kinds(), [WarningKind::FlippedFile]);
}

#[test]
fn undoing_an_experiment_is_normal() {
    let mut stage = Stage::new(WatchRules::default());
    let file = path("src/lib.rs");
    // Debug output, removed step by step.
    stage.edit(&file, "a", "a debug");
    stage.edit(&file, "b", "b debug");
    stage.edit(&file, "b debug", "b");
    stage.edit(&file, "a debug", "a");
    // Another change at the same place.
    stage.edit(&file, "a", "c");
    stage.edit(&file, "c", "d");
    // The same change in several files.
    for name in ["x", "y", "z"] {
        stage.edit(&path(name), "a", "b");
    }
    // The same content again changes nothing.
    for _ in 0..4 {
        stage.write(&path("notes.md"), "same");
        stage.read("notes.md", "same");
    }
    // Notes for the next iteration.
    for content in ["one", "two", "one", "two", "one"] {
        stage.write(&path(".ralph/scratchpad.md"), content);
    }
    assert_eq!(stage.kinds(), []);
}

#[test]
fn a_change_outside_the_workspace_is_found_once_for_each_file() {
    let mut stage = Stage::new(WatchRules::default());
    stage.edit("src/lib.rs", "a", "b");
    stage.edit(&path("src/lib.rs"), "c", "d");
    stage.write("/tmp/scratch.txt", "x");
    stage.write(&path("src/../README.md"), "x");
    stage.read("/etc/hosts", "");
    assert_eq!(stage.take(), []);
    stage.write("/home/me/.bashrc", "x");
    let [finding] = stage.take().try_into().unwrap();
    assert_eq!(finding.kind, WarningKind::OutOfScope);
    assert_eq!(
        finding.message,
        "the agent changed `/home/me/.bashrc`, which is outside the workspace"
    );
    assert_eq!(finding.evidence[0].seq, stage.seq());
    stage.write("/home/me/.bashrc", "y");
    assert_eq!(stage.kinds(), []);
    stage.write("../other/lib.rs", "y");
    assert_eq!(stage.kinds(), [WarningKind::OutOfScope]);
    // A neighbour whose name begins like the workspace's.
    stage.write("/home/me/project2/lib.rs", "y");
    assert_eq!(stage.kinds(), [WarningKind::OutOfScope]);
}

#[test]
fn a_change_that_failed_is_not_one() {
    let mut stage = Stage::new(WatchRules::default());
    let input = json!({"file_path": "/etc/passwd", "content": "x"});
    stage.call(
        "Write",
        ToolKind::Edit,
        &input,
        ToolStatus::Failed,
        "permission denied",
    );
    assert_eq!(stage.kinds(), []);
}

#[test]
fn a_change_outside_the_scope_is_found() {
    let mut stage = scoped(&["src/**", "docs", "*.md"]);
    for name in [
        "src/deep/lib.rs",
        "docs/a/b.txt",
        "README.md",
        ".ralph/scratchpad.md",
    ] {
        stage.write(&path(name), "x");
    }
    assert_eq!(stage.take(), []);
    stage.write(&path("tests/a.rs"), "x");
    let [finding] = stage.take().try_into().unwrap();
    assert_eq!(
        finding.message,
        "the agent changed `tests/a.rs`, which is outside `watch.scope` (src/**, docs, *.md)"
    );
    stage.write(&path("deep/README.md"), "x");
    assert_eq!(stage.kinds(), [WarningKind::OutOfScope]);
}

#[test]
fn a_scope_stays_in_the_workspace_and_its_patterns_are_checked() {
    for pattern in ["/etc/**", "../other", "", ".", "src/../../x", "a{b"] {
        let scope = Scope::new(&[pattern.to_owned()]);
        assert!(scope.is_err(), "{pattern}");
    }
}

#[test]
fn a_workspace_that_the_agent_names_differently_is_the_same_place_unless_the_driver_disagrees() {
    let elsewhere = "/private/home/me/project";
    for (is_other, expected) in [(false, vec![]), (true, vec![WarningKind::OutOfScope])] {
        let mut stage = Stage::new(WatchRules::default());
        stage.run(RunBody::AttemptStarted(ralph_run::AttemptStarted {
            number: 2,
            pid: 7,
            raw_log: String::new(),
            program: String::new(),
            agent_version: None,
        }));
        if is_other {
            let warned = Warned::new(WarningKind::OtherDirectory, "the agent works elsewhere");
            stage.run(RunBody::Warned(warned));
        }
        let session = agent_api::SessionStarted {
            cwd: Some(elsewhere.to_owned()),
            ..Default::default()
        };
        stage.event(agent_api::Body::SessionStarted(Box::new(session)));
        stage.write(&format!("{elsewhere}/a.rs"), "x");
        assert_eq!(stage.kinds(), expected);
    }
}

#[test]
fn one_call_with_many_files_is_one_finding() {
    let mut stage = scoped(&["src"]);
    let item = stage.start_call("apply_patch", ToolKind::Edit, &json!({"patch": "…"}));
    let changes = (0..20).map(|number| FileChange::new(path(&number.to_string()), ChangeKind::Added, None));
    stage.end_call(item, ToolStatus::Completed, "", changes.collect());
    let [finding] = stage.take().try_into().unwrap();
    assert_eq!(
        (finding.evidence.len(), finding.action),
        (10, WatchAction::Notify)
    );
}

#[test]
fn a_call_with_more_files_than_are_remembered_is_found_and_later_ones_only_if_the_rule_acts() {
    for (action, later) in [
        (WatchAction::Notify, 0),
        (WatchAction::Interrupt, 1),
        (WatchAction::Stop, 1),
    ] {
        let mut rules = WatchRules::default();
        rules.out_of_scope.scope = Some(Scope::new(&["src".to_owned()]).unwrap());
        rules.out_of_scope.action = action;
        let mut stage = Stage::new(rules);
        let item = stage.start_call("apply_patch", ToolKind::Edit, &json!({"patch": "…"}));
        let changes =
            (0..150).map(|number| FileChange::new(path(&number.to_string()), ChangeKind::Added, None));
        stage.end_call(item, ToolStatus::Completed, "", changes.collect());
        let [finding] = stage.take().try_into().unwrap();
        assert_eq!((finding.evidence.len(), finding.action), (10, action));
        stage.write(&path("another"), "x");
        assert_eq!(stage.take().len(), later, "{action:?}");
    }
}
