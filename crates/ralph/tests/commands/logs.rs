//! `logs`.

use std::fs;

use crate::stage::Stage;

#[test]
fn logs_say_what_the_run_said_and_a_replay_says_it_again() {
    let stage = Stage::new();
    for view in [&[][..], &["-v"]] {
        let ran = stage.show(view);
        assert_eq!(ran.code, Some(0));
        for command in [&["logs"][..], &["logs", "-f"], &["replay", "latest"], &["attach"]] {
            let mut args = command.to_vec();
            args.extend(view);
            let again = stage.ralph(&args);
            assert_eq!((again.code, &again.stdout), (Some(0), &ran.stdout), "{args:?}");
        }
    }
}

#[test]
fn raw_logs_are_the_agents_own_bytes() {
    let stage = Stage::new();
    stage.show(&[]);
    let directory = stage.directory(&stage.ids()[0]);
    let mut written = fs::read(directory.join("raw/1.ndjson")).unwrap();
    written.extend(fs::read(directory.join("raw/2.ndjson")).unwrap());
    assert!(!written.is_empty());
    for args in [&["logs", "--raw"][..], &["logs", "--raw", "-f"]] {
        let output = stage.command(args).output().unwrap();
        assert!(output.status.success());
        assert!(output.stdout == written, "{args:?}");
    }
}

#[test]
fn json_is_the_journal_record_by_record() {
    let stage = Stage::new();
    stage.show(&[]);
    let journal = fs::read_to_string(stage.directory(&stage.ids()[0]).join("journal.ndjson")).unwrap();
    for args in [
        &["logs", "--output", "json"][..],
        &["replay", "latest", "--output", "json"],
    ] {
        let ran = stage.ralph(args);
        let read = |text: &str| -> Vec<serde_json::Value> {
            text.lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect()
        };
        assert_eq!(read(&ran.stdout), read(&journal), "{args:?}");
    }
}

#[test]
fn a_reader_that_is_gone_ends_it_quietly() {
    let stage = Stage::new();
    stage.show(&[]);
    for args in [
        &["logs"][..],
        &["logs", "--raw"],
        &["logs", "-f"],
        &["replay", "latest"],
        &["attach"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = stage.command(args).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(141), "{args:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{args:?}");
    }
}
