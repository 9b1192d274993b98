//! A journal and a `run.json` of a newer version are read; a newer format is refused.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;

use std::io::Cursor;

use ralph_run::{
    Durability, Home, JournalError, JournalFollower, JournalRecords, JournalWriter, Record, RunBody,
    RunDirectory, RunEvent, RunFile, reconcile,
};
use test_support::{FUTURE_RUN, future_journal, future_run_file};

fn planted(home: &Home, format_version: u32) -> RunDirectory {
    let run = home.create_run_as(FUTURE_RUN).unwrap();
    fs::write(run.journal(), future_journal(format_version)).unwrap();
    fs::write(run.run_file(), future_run_file()).unwrap();
    run
}

#[test]
fn unknown_kinds_words_and_fields_are_not_damage() {
    let journal = future_journal(1);
    let records: Vec<Record> = JournalRecords::new(Cursor::new(&journal))
        .map(Result::unwrap)
        .collect();
    assert_eq!(records.len(), journal.lines().count());
    let unknown: Vec<&str> = records
        .iter()
        .filter_map(|record| match &record.event {
            RunEvent::Unknown(event) => Some(event.type_name.as_str()),
            _ => None,
        })
        .collect();
    // The last is a known kind with a word that is not known.
    assert_eq!(unknown, ["sandbox_entered", "dream", "command_received"]);
    let Some(RunEvent::Run(RunBody::RunEnded(ended))) = records.last().map(|record| &record.event) else {
        panic!("{records:?}")
    };
    assert_eq!(ended.reason.describe(), "unknown reason `limit: energy`");
    assert!(ended.reason.is_failure(ended.exit_code));
    assert_eq!(ended.totals.cost.map(|cost| cost.as_micro_usd()), Some(2000));
}

#[test]
fn unknown_events_are_written_as_they_were_read() {
    for line in future_journal(1).lines() {
        let record: Record = serde_json::from_str(line).unwrap();
        if matches!(record.event, RunEvent::Unknown(_)) {
            let written = serde_json::to_string(&record).unwrap();
            assert_eq!(written, line.replace(r#","signature":"x""#, ""));
        }
    }
}

#[test]
fn unknown_words_are_written_as_they_were_read() {
    for (kind, word) in [
        ("run_started", r#""kind":"swarm""#),
        ("warned", r#""kind":"agent_loops""#),
        ("attempt_ended", r#""outcome":"transcended""#),
        ("iteration_ended", r#""outcome":"handed_over""#),
        ("run_ended", r#""reason":{"limit":"energy"}"#),
    ] {
        let journal = future_journal(1);
        let line = journal.lines().find(|line| line.contains(kind)).unwrap();
        let record: Record = serde_json::from_str(line).unwrap();
        assert!(matches!(record.event, RunEvent::Run(_)), "{kind}");
        let written = serde_json::to_string(&record).unwrap();
        assert!(written.contains(word), "{written}");
    }
}

#[tokio::test]
async fn a_follower_ends_with_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::new(directory.path().to_owned(), None);
    let run = planted(&home, 1);
    let mut follower = JournalFollower::open(&run.journal(), 1).unwrap();
    let mut count = 0;
    while let Some(record) = follower.next().await {
        record.unwrap();
        count += 1;
    }
    assert_eq!(count, future_journal(1).lines().count());
}

#[test]
fn reconciling_leaves_a_run_of_a_newer_version_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::new(directory.path().to_owned(), None);
    let run = planted(&home, 1);
    let found = reconcile(&home, "2026-11-16T12:00:00Z".parse().unwrap()).unwrap();
    assert!(found.lost.is_empty() && found.failed.is_empty(), "{found:?}");
    assert_eq!(fs::read_to_string(run.run_file()).unwrap(), future_run_file());
    assert_eq!(fs::read_to_string(run.journal()).unwrap(), future_journal(1));
}

#[test]
fn a_run_file_of_a_newer_version_keeps_what_is_not_known() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.json");
    fs::write(&path, future_run_file()).unwrap();
    let file = RunFile::load(&path).unwrap();
    file.save(&path, Durability::Cached).unwrap();
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let (before, after) = (
        json(&future_run_file()),
        json(&fs::read_to_string(&path).unwrap()),
    );
    for name in ["reason", "kind", "planet", "session_ids", "exit_code"] {
        assert_eq!(after[name], before[name]);
    }
}

#[test]
fn a_newer_format_is_refused_with_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::new(directory.path().to_owned(), None);
    let run = planted(&home, 2);
    let text = future_journal(2);
    let read: Vec<_> = JournalRecords::new(Cursor::new(&text)).collect();
    let [Err(problem)] = read.as_slice() else {
        panic!("{read:?}")
    };
    let expected = "the journal has format 2; this version of ralph reads up to 1. Upgrade ralph to read it.";
    assert_eq!(problem.to_string(), expected);
    let resumed = JournalWriter::resume(&run.journal(), "2026-11-16T12:00:00Z".parse().unwrap(), |_| {});
    assert!(matches!(resumed, Err(JournalError::NewerFormat(_))));
    assert_eq!(fs::read_to_string(run.journal()).unwrap(), text);
}
