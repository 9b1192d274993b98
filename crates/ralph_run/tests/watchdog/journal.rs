//! The watchdog over journals of other versions.

use std::io::Cursor;

use ralph_run::watchdog::{WatchRules, Watchdog};
use ralph_run::{JournalRecords, WarningKind};
use test_support::future_journal;

fn found(journal: &str) -> Vec<WarningKind> {
    let mut watchdog = Watchdog::new(WatchRules::default());
    let records = JournalRecords::new(Cursor::new(journal.as_bytes())).map(Result::unwrap);
    let found = records.flat_map(|record| watchdog.observe(&record));
    found.map(|finding| finding.kind).collect()
}

#[test]
fn a_journal_of_a_newer_version_raises_no_alarm() {
    assert_eq!(found(&future_journal(1)), []);
}

#[test]
fn a_journal_of_an_older_version_is_watched_like_a_new_one() {
    // Without tool states, causes, kinds and evidence, which came later.
    let mut lines = vec![
        r#"{"type":"run_started","data":{"format_version":1,"run_id":"r","ralph_version":"0.0.1","workspace":"/w","backend":"demo","display_name":"Demo","max_iterations":5}}"#.to_owned(),
        r#"{"type":"attempt_started","data":{"number":1,"pid":7,"raw_log":"raw/1.ndjson","program":"demo"}}"#.to_owned(),
        r#"{"agent_kind":"demo","type":"turn_started","data":{"number":1}}"#.to_owned(),
    ];
    for call in 0..3 {
        lines.push(format!(
            r#"{{"agent_kind":"demo","type":"tool_started","data":{{"item":"c{call}","name":"Bash","kind":"execute","input":{{"command":"make"}},"state":"running"}}}}"#
        ));
        lines.push(format!(
            r#"{{"agent_kind":"demo","type":"tool_finished","data":{{"item":"c{call}","status":"failed","output":"no rule"}}}}"#
        ));
    }
    let lines = lines.iter().zip(1..).map(|(event, seq)| {
        format!(
            r#"{{"seq":{seq},"at":"2025-01-01T00:00:{seq:02}Z","iteration":1,"attempt":1,"event":{event}}}"#
        ) + "\n"
    });
    assert_eq!(found(&lines.collect::<String>()), [WarningKind::RepeatedFailure]);
}
