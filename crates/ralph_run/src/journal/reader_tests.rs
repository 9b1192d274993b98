//! `JournalReader` against journals of every shape: long lines, deltas, damage, writers that go on.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use super::super::page::PageQuery;
use super::super::record_filter::RecordFilter;
use super::{CHUNK_BYTES, JournalItem, JournalMatch, JournalReader, MAX_LINE_BYTES};

fn line(seq: u64, kind: &str, padding: usize) -> String {
    let text = "x".repeat(padding);
    format!(
        r#"{{"seq":{seq},"at":"2026-01-01T00:00:00Z","iteration":1,"attempt":1,"event":{{"type":"{kind}","data":"{text}"}}}}"#
    ) + "\n"
}

/// The lengths of lines, or of what was skipped.
fn forward(reader: &mut JournalReader) -> Vec<(bool, u64)> {
    let (mut buffer, mut lengths) = (Vec::new(), Vec::new());
    let mut each = |item: JournalItem<'_>| match item {
        JournalItem::Line(line) => lengths.push((true, line.bytes.len() as u64)),
        JournalItem::Overlong(bytes) => lengths.push((false, bytes)),
    };
    while reader.read(&mut buffer, &mut each).unwrap() {}
    assert!(buffer.capacity() <= 2 * CHUNK_BYTES, "a long line is not kept");
    lengths
}

fn backward(path: &Path) -> Vec<(bool, u64)> {
    let mut lengths = Vec::new();
    let reader = JournalReader::open(path).unwrap();
    let each = |item: JournalItem<'_>| {
        match item {
            JournalItem::Line(line) => lengths.push((true, line.bytes.len() as u64)),
            JournalItem::Overlong(_) => lengths.push((false, 0)),
        }
        ControlFlow::Continue(())
    };
    reader.read_backward(u64::MAX, each).unwrap();
    lengths
}

#[test]
fn an_incomplete_line_is_returned_once_it_is_complete() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let mut file = std::fs::File::create(&path).unwrap();
    let mut reader = JournalReader::open(&path).unwrap();
    file.write_all(b"one\ntw").unwrap();
    assert_eq!(forward(&mut reader), [(true, 3)]);
    assert_eq!(forward(&mut reader), []);
    file.write_all(b"o\n").unwrap();
    assert_eq!(forward(&mut reader), [(true, 3)]);
    assert_eq!(reader.offset(), 8);
}

#[test]
fn lines_of_any_length_are_returned_whole_in_both_directions() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let lengths = [
        0,
        1,
        4096,
        CHUNK_BYTES - 1,
        CHUNK_BYTES,
        5 * CHUNK_BYTES + 3,
        7,
        0,
        5,
    ];
    let mut text = String::new();
    for length in lengths {
        text.push_str(&"x".repeat(length));
        text.push('\n');
    }
    std::fs::write(file.path(), text + "half").unwrap();
    let mut expected: Vec<_> = lengths.iter().map(|length| (true, *length as u64)).collect();
    assert_eq!(forward(&mut JournalReader::open(file.path()).unwrap()), expected);
    assert_eq!(
        forward(&mut JournalReader::open_at(file.path(), 1).unwrap()),
        expected[1..]
    );
    expected.reverse();
    assert_eq!(backward(file.path()), expected);
}

#[test]
fn an_overlong_line_is_skipped_and_its_neighbours_are_read() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let long = 2 * MAX_LINE_BYTES + 7;
    std::fs::write(file.path(), format!("a\n{}\nbc\n", "x".repeat(long))).unwrap();
    let mut reader = JournalReader::open(file.path()).unwrap();
    let skipped = (false, long as u64 + 1);
    assert_eq!(forward(&mut reader), [(true, 1), skipped, (true, 2)]);
    let backward = backward(file.path());
    assert_eq!(backward.first(), Some(&(true, 2)));
    assert_eq!(backward.last(), Some(&(true, 1)));
    assert_eq!(backward.iter().filter(|(is_line, _)| *is_line).count(), 2);
}

#[test]
fn another_file_of_the_same_name_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    std::fs::write(&path, "one\n").unwrap();
    let mut reader = JournalReader::open(&path).unwrap();
    assert_eq!(forward(&mut reader), [(true, 3)]);
    assert!(!reader.was_replaced());
    std::fs::write(&path, "x").unwrap();
    assert!(reader.was_replaced(), "it is shorter than what was read");
    let other = directory.path().join("other");
    std::fs::write(&other, "another\nfile\n").unwrap();
    std::fs::rename(&other, &path).unwrap();
    assert!(reader.was_replaced());
    let reader = JournalReader::open(&path).unwrap();
    assert!(!reader.was_replaced());
    std::fs::remove_file(&path).unwrap();
    assert!(reader.was_replaced());
}

#[test]
fn every_record_is_found_by_its_number() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let (mut text, mut starts) = (String::new(), Vec::new());
    for seq in 1..=2000_u64 {
        starts.push(text.len() as u64);
        // Some are long, and some lines are not records.
        let padding = if seq % 97 == 0 {
            300_000
        } else {
            usize::try_from(seq % 50).unwrap()
        };
        text.push_str(&line(seq, "warned", padding));
        if seq % 100 == 0 {
            text.push_str("not a record\n");
        }
    }
    std::fs::write(file.path(), &text).unwrap();
    let reader = JournalReader::open(file.path()).unwrap();
    for (index, start) in starts.iter().enumerate() {
        assert_eq!(reader.find_after(index as u64).unwrap(), *start, "after {index}");
    }
    let end = text.len() as u64;
    assert_eq!(reader.find_after(2000).unwrap(), end);
    assert_eq!(reader.find_after(u64::MAX).unwrap(), end);
    assert_eq!(reader.last().unwrap(), Some((2000, end)));
}

#[test]
fn a_reader_can_continue_only_where_its_last_record_ends() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let (one, two) = (line(1, "t", 5), line(2, "t", 100_000));
    let text = format!("{one}{two}no record\n{}", line(3, "t", 2_000_000));
    std::fs::write(file.path(), &text).unwrap();
    let reader = JournalReader::open(file.path()).unwrap();
    let epoch = reader.epoch().unwrap();
    let compare = |offset: usize, seq| reader.compare(&epoch, seq, offset as u64).unwrap();
    let (first, second) = (one.len(), one.len() + two.len());
    for (offset, seq) in [(0, 0), (first, 1), (second, 2), (second + 10, 2), (text.len(), 3)] {
        assert_eq!(compare(offset, seq), JournalMatch::Same, "{offset} {seq}");
    }
    for (offset, seq) in [
        (first, 2),
        (second, 1),
        (second - 1, 2),
        (first + 1, 1),
        (text.len() + 1, 3),
    ] {
        assert_eq!(compare(offset, seq), JournalMatch::Cut, "{offset} {seq}");
    }
    assert_eq!(
        reader.compare("other", 1, first as u64).unwrap(),
        JournalMatch::Replaced
    );
}

#[test]
fn a_journal_without_a_complete_line_has_no_head() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "half").unwrap();
    assert_eq!(JournalReader::open(file.path()).unwrap().last().unwrap(), None);
}

/// Ten records, each after three deltas, and every third one a `notice`.
fn journal() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut text = String::new();
    for record in 1..=10_u64 {
        for before in [3, 2, 1] {
            text.push_str(&line(4 * record - before, "delta", 10));
        }
        let kind = if record % 3 == 0 { "notice" } else { "warned" };
        text.push_str(&line(4 * record, kind, 100));
    }
    std::fs::write(file.path(), text).unwrap();
    file
}

fn page(query: PageQuery) -> (Vec<u64>, Option<u64>) {
    let journal = journal();
    let page = JournalReader::open(journal.path()).unwrap().page(&query).unwrap();
    (page.records.iter().map(|record| record.seq).collect(), page.next)
}

const ALL: PageQuery = PageQuery {
    after: None,
    before: None,
    kinds: Vec::new(),
    filter: None,
    limit: 100,
    max_bytes: usize::MAX,
};

#[test]
fn a_page_has_records_without_deltas_from_either_end() {
    let all: Vec<u64> = (1..=10).map(|record| 4 * record).collect();
    assert_eq!(page(ALL), (all.clone(), None));
    let last = PageQuery {
        before: Some(u64::MAX),
        ..ALL
    };
    assert_eq!(page(last.clone()), (all, None));
    let (records, next) = page(PageQuery {
        limit: 3,
        ..last.clone()
    });
    assert_eq!(records, [32, 36, 40]);
    // Wherever it continues: what comes before is the next record.
    let before = PageQuery {
        before: next,
        limit: 1,
        ..last
    };
    assert_eq!(page(before).0, [28]);
    let middle = PageQuery {
        after: Some(9),
        limit: 2,
        ..ALL
    };
    let (records, next) = page(middle);
    assert_eq!(records, [12, 16]);
    // Wherever it continues: what follows is the next record.
    let (records, _) = page(PageQuery {
        after: next,
        limit: 1,
        ..ALL
    });
    assert_eq!(records, [20]);
    let between = PageQuery {
        after: Some(8),
        before: Some(20),
        ..ALL
    };
    assert_eq!(page(between), (vec![12, 16], None));
}

#[test]
fn a_page_is_bounded_by_bytes_but_has_a_record() {
    let (records, next) = page(PageQuery { max_bytes: 1, ..ALL });
    assert_eq!(records, [4]);
    assert!(next.is_some());
    let (records, next) = page(PageQuery {
        max_bytes: 500,
        before: Some(41),
        ..ALL
    });
    assert_eq!(records, [36, 40]);
    assert!(next.is_some());
}

#[test]
fn a_page_has_only_the_kinds_that_are_asked_for() {
    let notices = PageQuery {
        kinds: vec!["notice".to_owned()],
        ..ALL
    };
    assert_eq!(page(notices.clone()), (vec![12, 24, 36], None));
    let before = PageQuery {
        before: Some(36),
        limit: 1,
        ..notices
    };
    let (records, next) = page(before.clone());
    assert_eq!(records, [24]);
    assert_eq!(
        page(PageQuery {
            before: next,
            ..before
        }),
        (vec![12], None)
    );
    let none = PageQuery {
        kinds: vec!["delta".to_owned()],
        ..ALL
    };
    assert_eq!(page(none), (vec![], None));
}

#[test]
fn a_page_of_failures_has_nothing_else() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let events = [
        r#"{"agent_kind":"x","type":"tool_finished","data":{"item":"t","status":"completed","output":"failed"}}"#,
        r#"{"agent_kind":"x","type":"tool_finished","data":{"item":"t","status":"failed","output":""}}"#,
        r#"{"type":"verify_finished","data":{"command":"c","is_ok":true}}"#,
        r#"{"type":"verify_finished","data":{"command":"c","is_ok":false}}"#,
        r#"{"type":"attempt_ended","data":{"outcome":"completed"}}"#,
        r#"{"type":"attempt_ended","data":{"outcome":"failed","error":{"class":"x"}}}"#,
        r#"{"agent_kind":"x","type":"error","data":null}"#,
        r#"{"agent_kind":"x","type":"tool_finished","data":{"item":"t","status":"completed","output":"","changes":[{"path":"a","kind":"added"}]}}"#,
        r#"{"agent_kind":"x","type":"tool_finished","data":"odd"}"#,
    ];
    let mut text = String::new();
    for (index, event) in events.iter().enumerate() {
        let seq = index + 1;
        text.push_str(&format!(
            "{{\"seq\":{seq},\"at\":\"2026-01-01T00:00:00Z\",\"iteration\":1,\"attempt\":1,\"event\":{event}}}\n"
        ));
    }
    std::fs::write(file.path(), text).unwrap();
    let page = |filter, before| {
        let query = PageQuery {
            filter: Some(filter),
            before,
            ..ALL
        };
        let page = JournalReader::open(file.path()).unwrap().page(&query).unwrap();
        page.records.iter().map(|record| record.seq).collect::<Vec<_>>()
    };
    for before in [None, Some(u64::MAX)] {
        assert_eq!(page(RecordFilter::Failures, before), [2, 4, 6, 7]);
        assert_eq!(page(RecordFilter::FileChanges, before), [8]);
    }
}
