//! The text index as a file: what it takes in, once, and what becomes of it when things go wrong.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod search_stage;

use std::fs;
use std::time::Duration;

use ralph_store::{SearchOptions, SearchQuery, StoreError, TextIndex};
use search_stage::{Stage, query};

fn count(index: &TextIndex, text: &str) -> usize {
    index.search(&query(text)).unwrap().hits.len()
}

#[test]
fn nothing_is_lost_or_doubled_however_often_it_is_asked() {
    let mut stage = Stage::new();
    let mut run = stage.run("a");
    let mut indexed = 0;
    for round in 1..=20 {
        run.say("needle");
        indexed += stage.index(&[&run]);
        indexed += stage.index(&[&run]);
        if round % 5 == 0 {
            stage.reopen();
        }
        assert_eq!(count(&stage.index, "needle"), round);
    }
    assert_eq!(indexed, 20);
    let known = stage.index.indexed().unwrap();
    assert_eq!((known[0].offset, known[0].seq), (run.offset(), 21));
}

#[test]
fn only_what_the_store_has_is_indexed() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    run.say("first");
    let middle = run.offset();
    run.say("second");
    stage.index.index_run(&run.summary, middle).unwrap();
    assert_eq!(
        (count(&stage.index, "first"), count(&stage.index, "second")),
        (1, 0)
    );
    stage.index(&[&run]);
    assert_eq!(count(&stage.index, "second"), 1);
}

#[test]
fn damaged_and_unfinished_lines_cost_nothing_else() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    run.append(b"{\"seq\":2,\"at\n\xff\xfe\n\n");
    run.say("needle");
    run.append(&b"x".repeat(700_000));
    run.append(b"\n");
    run.say("needle");
    run.append(b"{\"seq\":9,\"at\":");
    assert_eq!(stage.index(&[&run]), 2);
    assert_eq!(count(&stage.index, "needle"), 2);
    assert_eq!(stage.index(&[&run]), 0);
}

#[test]
fn the_end_of_a_call_is_known_by_its_tool_after_a_restart() {
    let mut stage = Stage::new();
    let mut run = stage.run("a");
    run.call("Bash", "ls");
    stage.index(&[&run]);
    stage.reopen();
    run.record(
        "tool_finished",
        &serde_json::json!({"item": "1", "status": "completed", "output": "needle"}),
    );
    stage.index(&[&run]);
    let query = SearchQuery {
        tool: Some("Bash".into()),
        ..query("needle")
    };
    assert_eq!(stage.index.search(&query).unwrap().hits.len(), 1);
}

#[test]
fn removed_runs_are_forgotten_and_others_are_not() {
    let stage = Stage::new();
    let mut one = stage.run("one");
    let mut two = stage.run("two");
    one.say("needle");
    two.say("needle");
    stage.index(&[&one, &two]);
    stage.index.remove(&["one".into(), "unknown".into()]).unwrap();
    let page = stage.index.search(&query("needle")).unwrap();
    assert_eq!((page.hits.len(), page.hits[0].run.as_str()), (1, "two"));
    assert_eq!(stage.index.indexed().unwrap().len(), 1);
    assert_eq!(stage.index(&[&one]), 1, "it can come back");
    assert_eq!(count(&stage.index, "needle"), 2);
    stage.index.clear().unwrap();
    assert_eq!(count(&stage.index, "needle"), 0);
    assert_eq!(stage.index(&[&one, &two]), 2);
    assert_eq!(count(&stage.index, "needle"), 2);
}

#[test]
fn a_run_with_another_journal_begins_anew() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    run.say("old");
    stage.index(&[&run]);
    fs::remove_file(&run.path).unwrap();
    let mut run = stage.run_in("a", "/workspace", "claude", 77);
    run.say("new");
    assert_eq!(stage.index(&[&run]), 1);
    assert_eq!((count(&stage.index, "old"), count(&stage.index, "new")), (0, 1));
}

#[test]
fn somebody_else_can_search_beside_the_one_who_writes() {
    let stage = Stage::new();
    let options = SearchOptions {
        path: stage.path("search.db"),
        runs_directory: stage.runs(),
    };
    let mut run = stage.run("a");
    for many in 1..4 {
        run.say("needle");
        stage.index(&[&run]);
        let page = TextIndex::search_beside(&options, &query("needle")).unwrap();
        assert_eq!(page.hits.len(), many);
    }
    let nowhere = SearchOptions {
        path: stage.path("nowhere.db"),
        ..options
    };
    assert!(TextIndex::search_beside(&nowhere, &query("needle")).is_err());
    assert!(!nowhere.path.exists());
}

#[test]
fn a_journal_that_was_cut_and_went_on_is_indexed_anew() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    run.say("kept");
    let (offset, seq) = (run.offset(), run.seq());
    run.say("lost");
    run.say("lost too");
    stage.index(&[&run]);
    run.cut(offset, seq);
    run.say(&format!("needle {}", "and more ".repeat(100)));
    assert_eq!(stage.index(&[&run]), 2);
    for (text, hits) in [("kept", 1), ("lost", 0), ("needle", 1)] {
        assert_eq!(count(&stage.index, text), hits, "{text}");
    }
    run.say("later");
    assert_eq!(stage.index(&[&run]), 1);
}

#[test]
fn a_journal_that_cannot_be_read_does_not_keep_the_others_out() {
    let stage = Stage::new();
    let mut one = stage.run("one");
    let mut two = stage.run("two");
    one.say("needle");
    two.say("needle");
    fs::rename(&one.path, stage.path("away")).unwrap();
    assert_eq!(stage.index(&[&one, &two]), 1);
    fs::rename(stage.path("away"), &one.path).unwrap();
    assert_eq!(stage.index(&[&one, &two]), 1);
    assert_eq!(count(&stage.index, "needle"), 2);
}

#[test]
fn a_file_that_is_no_database_is_moved_aside_and_rebuilt() {
    let mut stage = Stage::new();
    let mut run = stage.run("a");
    run.say("needle");
    stage.index(&[&run]);
    stage.index.close().unwrap();
    fs::write(stage.path("search.db"), b"rubbish ".repeat(1_000)).unwrap();
    stage.reopen();
    let moved = stage.index.moved_to().expect("it says where the old one is");
    assert!(fs::read(moved).unwrap().starts_with(b"rubbish"));
    assert_eq!(stage.index(&[&run]), 1);
    assert_eq!(count(&stage.index, "needle"), 1);
}

#[test]
fn damage_that_is_met_in_use_is_told_and_the_index_begins_anew() {
    let mut stage = Stage::new();
    let mut run = stage.run("a");
    for number in 0..500 {
        run.say(&format!("needle number{number}"));
    }
    stage.index(&[&run]);
    stage.index.close().unwrap();
    let mut bytes = fs::read(stage.path("search.db")).unwrap();
    // The first page says what there is; all the others are overwritten.
    bytes[8_192..].fill(0xa5);
    fs::write(stage.path("search.db"), bytes).unwrap();
    stage.reopen();
    let _ = stage.index.search(&query("needle"));
    assert!(stage.index.moved_to().is_some());
    assert_eq!(stage.index(&[&run]), 500);
    assert_eq!(stage.index.search(&query("needle")).unwrap().hits.len(), 100);
}

#[test]
fn an_index_that_was_not_closed_is_looked_at_once() {
    let mut stage = Stage::new();
    let mut run = stage.run("a");
    run.say("needle");
    stage.index(&[&run]);
    stage.reopen();
    while stage.index.maintain(Duration::from_millis(20)).unwrap() {}
    assert_eq!(count(&stage.index, "needle"), 1);
    assert_eq!(stage.index.moved_to(), None);
}

#[test]
fn an_older_file_is_made_anew() {
    let mut stage = Stage::new();
    let mut run = stage.run("a");
    run.say("needle");
    stage.index(&[&run]);
    stage.index.close().unwrap();
    let mut bytes = fs::read(stage.path("search.db")).unwrap();
    bytes[60..64].copy_from_slice(&1_u32.to_be_bytes());
    fs::write(stage.path("search.db"), &bytes).unwrap();
    stage.reopen();
    assert_eq!(count(&stage.index, "needle"), 0);
    stage.index(&[&run]);
    assert_eq!(count(&stage.index, "needle"), 1);
    assert_eq!(stage.index.moved_to(), None);
}

#[test]
fn a_newer_file_is_never_touched() {
    let mut stage = Stage::new();
    stage.index.close().unwrap();
    let mut bytes = fs::read(stage.path("search.db")).unwrap();
    bytes[60..64].copy_from_slice(&9_u32.to_be_bytes());
    fs::write(stage.path("search.db"), &bytes).unwrap();
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(stage.path(&format!("search.db{suffix}")));
    }
    stage.reopen();
    let mut run = stage.run("a");
    run.say("needle");
    stage.index(&[&run]);
    assert_eq!(count(&stage.index, "needle"), 1);
    assert_eq!(fs::read(stage.path("search.db")).unwrap(), bytes);
    assert!(stage.path("search-v2.db").exists());
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let stage = Stage::new();
    let mut run = stage.run("a");
    run.say("needle");
    stage.index(&[&run]);
    for name in ["search.db", "search.db-wal", "search.db-shm"] {
        let mode = fs::metadata(stage.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn an_index_without_a_directory_is_refused() {
    let stage = Stage::new();
    let options = ralph_store::SearchOptions {
        path: stage.path("missing/search.db"),
        runs_directory: stage.runs(),
    };
    assert!(matches!(
        TextIndex::open(options),
        Err(StoreError::Unavailable(_))
    ));
}

#[test]
fn pieces_are_put_together_until_nothing_is_left_to_do() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    for number in 0..40 {
        run.say(&format!("needle {number}"));
        stage.index(&[&run]);
    }
    while stage.index.maintain(Duration::from_millis(50)).unwrap() {}
    assert!(!stage.index.maintain(Duration::from_millis(50)).unwrap());
    assert_eq!(count(&stage.index, "needle"), 40);
}

#[test]
fn searching_goes_on_while_the_index_is_written() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    run.say("needle");
    stage.index(&[&run]);
    std::thread::scope(|scope| {
        let index = &stage.index;
        let readers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(move || (0..50).all(|_| !index.search(&query("needle")).unwrap().hits.is_empty()))
            })
            .collect();
        for _ in 0..30 {
            run.say("needle");
            stage.index(&[&run]);
        }
        assert!(readers.into_iter().all(|reader| reader.join().unwrap()));
    });
    assert_eq!(count(&stage.index, "needle"), 31);
}
