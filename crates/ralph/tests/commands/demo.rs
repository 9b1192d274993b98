//! `demo`.

use std::fs;

use crate::stage::Stage;

#[test]
fn the_demo_ends_well_and_says_what_to_try_next() {
    let stage = Stage::new();
    let ran = stage.ralph(&["demo", "--speed", "max"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let folder = fs::read_dir(stage.path("tmp")).unwrap().next().unwrap().unwrap();
    let name = folder.file_name().into_string().unwrap();
    assert!(folder.path().join("ralph-demo/greet.sh").exists());
    insta::assert_snapshot!("demo", stage.masked(&ran.stdout).replace(&name, "[FOLDER]"));
}

#[test]
fn the_demo_can_be_quiet_or_for_programs() {
    let stage = Stage::new();
    fs::create_dir(stage.path("workspace/here")).unwrap();
    let quiet = stage.ralph(&["demo", "--speed", "max", "-q", "-C", "here"]);
    assert_eq!(
        (quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()),
        (Some(0), "", "")
    );
    assert!(stage.path("workspace/here/ralph-demo").is_dir());
    let json = stage.ralph(&["demo", "--speed", "max", "--output", "json"]);
    assert_eq!(json.code, Some(0));
    for line in json.stdout.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn settings_for_other_runs_do_not_change_the_demo() {
    let stage = Stage::new();
    let output = stage
        .command(&["demo", "--speed", "max"])
        .env("RALPH_MAX_ITERATIONS", "1")
        .env("RALPH_BACKEND", "claude")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
}
