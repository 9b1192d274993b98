//! A journal is readable whatever happened to its writer.
#![expect(
    clippy::unwrap_used,
    dead_code,
    reason = "a test that cannot go on has failed; helpers are shared with other tests"
)]

mod journal_sample;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use journal_sample::{at, ended, my_role, role_after, started, warned};
use ralph_run::{
    Damage, DamageKind, FORMAT_VERSION, JournalError, JournalFollower, JournalWriter, Record, read_journal,
};

fn sample() -> Vec<Record> {
    vec![
        started("r"),
        warned(2, "first"),
        warned(3, "second"),
        warned(4, "third"),
    ]
}

fn append_all(writer: &mut JournalWriter, records: &[Record]) {
    for record in records {
        writer.append(record).unwrap();
    }
}

fn write(path: &Path, records: &[Record]) -> Vec<u8> {
    let mut writer = JournalWriter::create(path).unwrap();
    append_all(&mut writer, records);
    drop(writer);
    fs::read(path).unwrap()
}

fn read(path: &Path) -> (Vec<Record>, Vec<Damage>) {
    let (mut records, mut damage) = (Vec::new(), Vec::new());
    for item in read_journal(path).unwrap() {
        match item {
            Ok(record) => records.push(record),
            Err(problem) => damage.push(problem),
        }
    }
    (records, damage)
}

#[test]
fn what_was_written_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal.ndjson");
    write(&path, &sample());
    let (records, damage) = read(&path);
    assert_eq!(records, sample());
    assert!(damage.is_empty());
}

#[test]
fn a_journal_cut_at_any_byte_is_repaired_before_the_next_record() {
    let directory = tempfile::tempdir().unwrap();
    let whole = write(&directory.path().join("whole"), &sample());
    // Each cut waits for the disk; the waits go together.
    std::thread::scope(|scope| {
        for first in 0..16 {
            let (directory, whole) = (directory.path(), &whole);
            scope.spawn(move || {
                for cut in (first..=whole.len()).step_by(16) {
                    cut_and_resume(directory, whole, cut);
                }
            });
        }
    });
}

fn cut_and_resume(directory: &Path, whole: &[u8], cut: usize) {
    let path = directory.join(format!("cut-{cut}"));
    let kept = &whole[..cut];
    fs::write(&path, kept).unwrap();
    let lines = kept.iter().filter(|byte| **byte == b'\n').count();
    let (records, damage) = read(&path);
    assert_eq!((records.as_slice(), damage.len()), (&sample()[..lines], 0));

    let mut seen = 0;
    let mut resumed = JournalWriter::resume(&path, at("2026-11-16T00:00:00Z"), |_| seen += 1).unwrap();
    assert_eq!((seen, resumed.last_seq), (lines, lines as u64));
    let whole_bytes = kept
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |end| end + 1);
    match &resumed.torn {
        Some(aside) => {
            assert_eq!(fs::read(aside).unwrap(), &kept[whole_bytes..]);
            assert!(aside.to_str().unwrap().ends_with(".torn-20261116T000000Z"));
        }
        None => assert_eq!(whole_bytes, cut),
    }
    let next = warned(lines as u64 + 1, "next");
    resumed.writer.append(&next).unwrap();
    drop(resumed);
    let (records, damage) = read(&path);
    assert!(damage.is_empty(), "cut at {cut}: {damage:?}");
    assert_eq!(records.len(), lines + 1);
    assert_eq!(records.last(), Some(&next));
}

#[test]
fn damage_in_the_middle_is_reported_and_the_rest_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let whole = write(&path, &sample());
    let mut lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let second_ends = lines[0].len() as u64;
    lines[1] = b"\0\0\0secret\n";
    fs::write(&path, lines.concat()).unwrap();
    let (records, damage) = read(&path);
    assert_eq!(
        records.iter().map(|record| record.seq).collect::<Vec<_>>(),
        [1, 3, 4]
    );
    let [problem] = damage.as_slice() else {
        panic!("{damage:?}")
    };
    assert_eq!((problem.line, problem.offset), (2, second_ends));
    assert!(matches!(problem.kind, DamageKind::NotARecord(_)));
    assert!(!problem.to_string().contains("secret"), "{problem}");

    let resumed = JournalWriter::resume(&path, at("2026-11-16T00:00:00Z"), |_| {}).unwrap();
    assert_eq!((resumed.last_seq, resumed.damage.len()), (4, 1));
    assert_eq!(fs::read(&path).unwrap(), lines.concat());
}

#[test]
fn missing_and_doubled_records_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    write(
        &path,
        &[started("r"), warned(2, "a"), warned(2, "a"), warned(6, "b")],
    );
    let (records, damage) = read(&path);
    assert_eq!(
        records.iter().map(|record| record.seq).collect::<Vec<_>>(),
        [1, 2, 6]
    );
    assert!(matches!(
        damage[0].kind,
        DamageKind::OutOfOrder {
            expected: 3,
            found: 2
        }
    ));
    assert!(matches!(
        damage[1].kind,
        DamageKind::Missing { first: 3, last: 5 }
    ));
}

#[test]
fn a_broken_line_does_not_let_earlier_records_in_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let whole = write(&path, &sample());
    let doubled = [whole.as_slice(), b"broken\n", whole.as_slice()].concat();
    fs::write(&path, doubled).unwrap();
    let (records, damage) = read(&path);
    assert_eq!(records, sample());
    assert_eq!(damage.len(), 5);
}

#[test]
fn a_newer_format_is_refused_whatever_its_shape() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let newer = FORMAT_VERSION + 1;
    fs::write(
        &path,
        format!("{{\"seq\":\"one\",\"event\":{{\"data\":{{\"format_version\":{newer}}}}}}}\n{{}}\n"),
    )
    .unwrap();
    let (records, damage) = read(&path);
    assert!(records.is_empty());
    let [problem] = damage.as_slice() else {
        panic!("{damage:?}")
    };
    assert_eq!(
        problem.to_string(),
        "the journal has format 2; this version of ralph reads up to 1. Upgrade ralph to read it."
    );
    let resumed = JournalWriter::resume(&path, at("2026-11-16T00:00:00Z"), |_| {});
    assert!(matches!(resumed, Err(JournalError::NewerFormat(_))));
}

#[test]
fn a_clock_that_goes_back_does_not_change_the_order() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let mut records = sample();
    for (record, minute) in records.iter_mut().zip([59, 30, 45, 0]) {
        record.at = at(&format!("2026-11-15T23:{minute:02}:00Z"));
    }
    write(&path, &records);
    let (read, damage) = read(&path);
    assert_eq!(read, records);
    assert!(damage.is_empty());
}

#[test]
fn reading_can_start_at_any_record() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    write(&path, &sample());
    for seq in 0..=5_u64 {
        let found: Vec<u64> = read_journal(&path)
            .unwrap()
            .from_seq(seq)
            .map(|item| item.unwrap().seq)
            .collect();
        assert_eq!(found, (seq.max(1)..=4).collect::<Vec<_>>());
    }
}

#[test]
fn a_journal_has_one_writer() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let writer = JournalWriter::create(&path).unwrap();
    let second = JournalWriter::resume(&path, at("2026-11-16T00:00:00Z"), |_| {});
    assert!(matches!(second, Err(JournalError::Held(_))));
    drop(writer);
    assert!(JournalWriter::resume(&path, at("2026-11-16T00:00:00Z"), |_| {}).is_ok());
    assert!(JournalWriter::create(&path).is_err(), "nothing is overwritten");
}

#[cfg(unix)]
#[test]
fn a_planted_link_is_neither_created_through_nor_resumed() {
    let directory = tempfile::tempdir().unwrap();
    let (victim, path) = (directory.path().join("victim"), directory.path().join("journal"));
    fs::write(&victim, "precious").unwrap();
    std::os::unix::fs::symlink(&victim, &path).unwrap();
    assert!(JournalWriter::create(&path).is_err());
    assert!(JournalWriter::resume(&path, at("2026-11-16T00:00:00Z"), |_| {}).is_err());
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
}

#[test]
fn syncing_is_due_after_a_mebibyte_or_five_seconds() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = JournalWriter::create(&directory.path().join("journal")).unwrap();
    let (now, later) = (Instant::now(), Instant::now() + Duration::from_secs(6));
    assert!(!writer.needs_sync(later), "there is nothing to sync");
    writer.append(&started("r")).unwrap();
    assert!(!writer.needs_sync(now));
    assert!(writer.needs_sync(later));
    writer.start_sync().unwrap().wait().unwrap();
    assert!(!writer.needs_sync(later));
    writer.append(&warned(2, &"x".repeat(1 << 20))).unwrap();
    assert!(writer.needs_sync(now));
}

#[tokio::test]
async fn a_follower_sees_records_as_they_are_written_and_ends_with_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let mut writer = JournalWriter::create(&path).unwrap();
    append_all(&mut writer, &sample());
    let mut follower = JournalFollower::open(&path, 3).unwrap();
    for seq in 3..20 {
        if seq > 4 {
            writer.append(&warned(seq, "more")).unwrap();
        }
        assert_eq!(follower.next().await.unwrap().unwrap().seq, seq);
    }
    writer.append(&ended(20)).unwrap();
    assert_eq!(follower.next().await.unwrap().unwrap(), ended(20));
    assert!(follower.next().await.is_none());
}

#[tokio::test]
async fn a_follower_does_not_merge_a_torn_line_with_what_replaces_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let whole = write(&path, &sample());
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&whole[..40]).unwrap();
    let mut follower = JournalFollower::open(&path, 1).unwrap();
    for record in sample() {
        assert_eq!(follower.next().await.unwrap().unwrap(), record);
    }
    // It has seen the piece and waits for the rest.
    let waiting = tokio::time::timeout(Duration::ZERO, follower.next()).await;
    assert!(waiting.is_err());
    let mut resumed = JournalWriter::resume(&path, at("2026-11-16T00:00:00Z"), |_| {}).unwrap();
    resumed.writer.append(&warned(5, "after")).unwrap();
    resumed.writer.append(&ended(6)).unwrap();
    assert_eq!(follower.next().await.unwrap().unwrap(), warned(5, "after"));
    assert_eq!(follower.next().await.unwrap().unwrap(), ended(6));
    assert!(follower.next().await.is_none());
}

#[tokio::test]
async fn a_follower_of_a_journal_that_nobody_writes_ends_when_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    write(&path, &sample());
    let mut follower = JournalFollower::open(&path, 4).unwrap();
    follower.stop_at_end();
    assert_eq!(follower.next().await.unwrap().unwrap().seq, 4);
    assert!(follower.next().await.is_none());
}

/// The system itself takes only a part of a line, and then nothing.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_grow_ends_with_a_whole_line() {
    let directory = tempfile::tempdir().unwrap();
    let limited = "trap '' XFSZ; ulimit -f 64";
    let output = role_after(limited, "a_writer_without_room", directory.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let (records, damage) = read(&directory.path().join("journal"));
    assert!(damage.is_empty(), "{damage:?}");
    assert!(records.len() > 10);
    assert_eq!(
        fs::read(directory.path().join("journal")).unwrap().last(),
        Some(&b'\n')
    );
}

#[test]
fn a_writer_without_room() {
    let Some(directory) = my_role() else { return };
    let mut writer = JournalWriter::create(&directory.join("journal")).unwrap();
    writer.append(&started("r")).unwrap();
    let mut seq = 2;
    let problem = loop {
        match writer.append(&warned(seq, &"x".repeat(1000))) {
            Ok(()) => seq += 1,
            Err(problem) => break problem,
        }
    };
    assert!(
        matches!(problem, JournalError::Write { pending_bytes, .. } if pending_bytes > 1000),
        "{problem:?}"
    );
    for later in 1..10 {
        writer.append(&warned(seq + later, "later")).unwrap_err();
    }
}
