//! Runs of a newer version: read if their format is known, refused with what to do if it is not.

use std::fs;

use serde_json::Value;
use test_support::{FUTURE_RUN, future_journal, future_run_file};

use crate::stage::Stage;

fn stage(format_version: u32) -> Stage {
    let stage = Stage::new();
    let directory = stage.directory(FUTURE_RUN);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("journal.ndjson"), future_journal(format_version)).unwrap();
    fs::write(directory.join("run.json"), future_run_file()).unwrap();
    stage
}

#[test]
fn every_command_reads_a_journal_of_a_newer_version() {
    let stage = stage(1);
    let runs = stage.ralph(&["runs"]);
    assert_eq!((runs.code, runs.stderr.as_str()), (Some(0), ""));
    assert!(
        runs.stdout.contains("unknown reason `limit: energy`"),
        "{}",
        runs.stdout
    );

    let show = stage.ralph(&["show", FUTURE_RUN]);
    assert_eq!((show.code, show.stderr.as_str()), (Some(0), ""));
    for part in [
        "unknown reason `limit: energy`: The battery is empty.",
        "unknown outcome `handed_over`",
        "3 records of a newer version are not shown",
        "The agent repeats itself.",
        "All is well.",
    ] {
        assert!(show.stdout.contains(part), "{part} is not in\n{}", show.stdout);
    }
    let shown: Value = serde_json::from_str(&stage.ralph(&["show", FUTURE_RUN, "--json"]).stdout).unwrap();
    assert_eq!(shown["damage"], serde_json::json!([]));
    assert_eq!(shown["run"]["planet"], "Mars");

    for command in ["attach", "replay"] {
        let ran = stage.ralph(&[command, FUTURE_RUN]);
        assert_eq!(ran.code, Some(if command == "attach" { 2 } else { 0 }), "{ran:?}");
        for part in [
            "All is well.",
            "unknown record `sandbox_entered`",
            "unknown record `dream`",
            "unknown reason `limit: energy`",
        ] {
            assert!(
                ran.stdout.contains(part),
                "{command}: {part} is not in\n{}",
                ran.stdout
            );
        }
        assert!(!ran.stderr.contains("not a record"), "{}", ran.stderr);
    }
    let json = stage.ralph(&["attach", FUTURE_RUN, "--output", "json"]).stdout;
    assert_eq!(json.lines().count(), future_journal(1).lines().count());
    assert!(json.contains(r#"{"type":"sandbox_entered","data":{"z":1.50,"a":[1, 2]}}"#));
}

#[test]
fn a_newer_format_is_refused_and_the_message_says_to_upgrade() {
    let stage = stage(2);
    let upgrade = "this version of ralph reads up to 1. Upgrade ralph to read it.";
    for arguments in [
        ["show", FUTURE_RUN].as_slice(),
        &["attach", FUTURE_RUN],
        &["replay", FUTURE_RUN],
    ] {
        let ran = stage.ralph(arguments);
        let all = ran.stdout + &ran.stderr;
        assert!(
            all.replace("\n         ", " ").contains(upgrade),
            "{arguments:?}: {all}"
        );
        assert!(!all.contains("All is well."), "{arguments:?}: {all}");
    }
}
