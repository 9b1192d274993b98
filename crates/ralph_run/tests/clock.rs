//! A wall clock that is set back or jumps ahead: order is by `seq`, and no duration is negative. Limits use the monotonic
//! clock of `agent_process::clock`.
#![expect(
    clippy::unwrap_used,
    dead_code,
    reason = "a test that cannot continue has failed; helpers are shared with other tests"
)]

mod journal_sample;

use journal_sample::{at, ended, started, warned};
use ralph_run::model::RunModel;
use ralph_run::{Home, Record, RunEvent};

/// A clock that stands still, one that is set back, one that jumps ahead, and one without a battery.
const CLOCKS: [[&str; 7]; 4] = [
    ["2026-11-15T23:00:00Z"; 7],
    [
        "2026-11-15T23:00:00Z",
        "2026-11-15T23:00:01Z",
        "2026-11-15T22:00:00Z",
        "2026-11-15T22:00:01Z",
        "2020-01-01T00:00:00Z",
        "2026-11-15T23:00:00Z",
        "2026-11-15T22:59:59Z",
    ],
    [
        "2026-11-15T23:00:00Z",
        "2036-11-15T23:00:00Z",
        "2036-11-15T23:00:01Z",
        "9999-12-30T22:00:00Z",
        "2026-11-15T23:00:02Z",
        "2026-11-15T23:00:03Z",
        "2026-11-15T23:00:04Z",
    ],
    ["1970-01-01T00:00:00Z"; 7],
];

fn event(text: &str) -> RunEvent {
    let event = serde_json::from_str(text).unwrap();
    assert!(!matches!(event, RunEvent::Unknown(_)), "{event:?}");
    event
}

fn records(clock: &[&str; 7]) -> Vec<Record> {
    let events = [
        started("r").event,
        event(r#"{"type":"iteration_started","data":{"number":1,"prompt":"p"}}"#),
        event(r#"{"type":"attempt_started","data":{"number":1,"pid":1,"raw_log":"r","program":"p"}}"#),
        warned(4, "a warning").event,
        event(
            r#"{"type":"attempt_ended","data":{"outcome":"succeeded","exit":{"code":0,"signal":null,"was_stopped":false},"totals":{"tokens":{},"cost":5,"turns":1,"duration_ms":1}}}"#,
        ),
        // The pause is over before it begins, by this clock.
        event(r#"{"type":"cooldown_started","data":{"until":"2000-01-01T00:00:00Z","cause":"pause"}}"#),
        ended(7).event,
    ];
    let records = events.into_iter().zip(clock).zip(1..);
    records
        .map(|((event, time), seq)| Record {
            seq,
            at: at(time),
            event,
            ..started("r")
        })
        .collect()
}

#[test]
fn a_run_is_the_same_whatever_its_clock_says() {
    let mut expected = Vec::new();
    for clock in &CLOCKS {
        let mut model = RunModel::new();
        let mut seen = Vec::new();
        for record in records(clock) {
            model.apply(&record);
            let totals = model.totals();
            assert!(totals.duration_ms < 300_000_000_000_000, "{clock:?}");
            seen.push((model.state().clone(), model.seq(), model.iteration(), totals.cost));
        }
        if expected.is_empty() {
            expected.clone_from(&seen);
        }
        assert_eq!(seen, expected, "{clock:?}");
    }
}

#[test]
fn runs_are_told_apart_and_found_whatever_the_clock_says() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::new(directory.path().join("state"), None);
    let mut ids = Vec::new();
    for time in CLOCKS.as_flattened() {
        ids.push(home.create_run(at(time)).unwrap().id().to_owned());
    }
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), ids.len());
    for id in &ids {
        assert_eq!(home.find(id).unwrap().id(), id);
    }
}
