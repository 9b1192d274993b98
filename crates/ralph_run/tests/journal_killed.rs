//! `kill -9` of a writer, at any moment: nothing that was synced is lost, nothing is merged.
#![expect(
    clippy::unwrap_used,
    dead_code,
    reason = "a test that cannot go on has failed; helpers are shared with other tests"
)]

mod journal_sample;

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use journal_sample::{at, my_role, role, started, warned};
use ralph_run::{JournalWriter, read_journal};

const ROUNDS: u64 = 200;

/// Not the same in each run, and told when something fails.
fn drawn(seed: &RandomState, what: (u64, u64), below: u64) -> u64 {
    seed.hash_one(what) % below
}

#[test]
fn nothing_that_was_synced_is_lost_when_the_writer_is_killed() {
    let seed = RandomState::new();
    for round in 0..ROUNDS {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let mut child = role("a_writer_that_gets_killed", directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        // Killed somewhere behind a random number of syncs.
        let mut synced = 0;
        let mut line = String::new();
        for _ in 0..=drawn(&seed, (round, 0), 8) {
            line.clear();
            output.read_line(&mut line).unwrap();
            synced = synced.max(reported(&line));
        }
        for _ in 0..drawn(&seed, (round, 1), 20_000) {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        // A last report may itself be cut short: only whole lines count.
        let whole = rest.rsplit_once('\n').map_or("", |(whole, _)| whole);
        synced = whole.lines().map(reported).fold(synced, u64::max);

        let mut last = 0;
        for item in read_journal(&path).into_iter().flatten() {
            let record = item.unwrap();
            assert_eq!(record.seq, last + 1, "round {round}");
            if record.seq > 1 {
                assert_eq!(record, warned(record.seq, &filling(record.seq)));
            }
            last = record.seq;
        }
        assert!(
            last >= synced,
            "round {round}: {synced} records were synced, {last} are there"
        );
        let Ok(mut resumed) = JournalWriter::resume(&path, at("2026-11-16T00:00:00Z"), |_| {}) else {
            assert_eq!(synced, 0, "round {round}");
            continue;
        };
        assert!(resumed.damage.is_empty());
        resumed.writer.append(&warned(last + 1, "after")).unwrap();
        drop(resumed);
        assert!(read_journal(&path).unwrap().all(|item| item.is_ok()));
    }
}

/// The number in `synced 17`; the test harness writes lines of its own.
fn reported(line: &str) -> u64 {
    line.trim_end()
        .strip_prefix("synced ")
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

fn filling(seq: u64) -> String {
    "x".repeat((seq * 7919 % 5000) as usize)
}

#[test]
fn a_writer_that_gets_killed() {
    let Some(directory) = my_role() else { return };
    let mut writer = JournalWriter::create(&directory.join("journal")).unwrap();
    writer.append(&started("r")).unwrap();
    let mut report = std::io::stdout();
    for seq in 2.. {
        let line = serde_json::to_vec(&warned(seq, &filling(seq))).unwrap();
        writer.push(seq, &line).unwrap();
        if seq % 5 == 0 {
            writer.flush().unwrap();
        }
        if seq % 17 == 0 {
            writer.sync().unwrap();
            writeln!(report, "synced {seq}").unwrap();
        }
    }
}
