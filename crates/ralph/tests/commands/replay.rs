//! `replay`.

use std::fs;

use serde_json::Value;

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
fn an_output_that_breaks_off_is_told_as_such() {
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
        ran.stdout.contains("Ended: the agent ended without a result"),
        "{}",
        ran.stdout
    );
}

#[test]
fn what_is_no_recording_is_named() {
    let stage = Stage::new();
    fs::write(stage.path("workspace/notes.txt"), "buy milk\n").unwrap();
    fs::write(stage.path("workspace/empty"), "").unwrap();
    for (source, told) in [
        (
            "notes.txt",
            "`notes.txt` is no recording: neither a run's journal nor the output of an agent that ralph can read",
        ),
        (
            "empty",
            "`empty` is no recording: neither a run's journal nor the output of an agent that ralph can read",
        ),
        ("latest", "there are no runs yet; `ralph run` starts one"),
        ("nowhere", "there is neither a file nor a run `nowhere`"),
    ] {
        let ran = stage.ralph(&["replay", source]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{source}");
        assert_eq!(ran.stderr, format!("ralph: {told}\n"));
    }
}
