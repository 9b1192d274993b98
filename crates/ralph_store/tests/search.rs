//! What can be found in journals, by words and by characters.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod search_stage;

use std::collections::BTreeSet;

use ralph_store::{Cursor, SearchMode, SearchPage, SearchQuery, StoreError, TextIndex};
use search_stage::{Stage, query};
use serde_json::json;
use test_support::text_from;

fn texts(page: &SearchPage) -> Vec<&str> {
    page.hits.iter().map(|hit| hit.snippet.as_str()).collect()
}

fn found(index: &TextIndex, text: &str) -> Vec<String> {
    let page = index.search(&query(text)).unwrap();
    assert!(page.is_complete);
    texts(&page).into_iter().map(str::to_owned).collect()
}

fn substring(text: &str) -> SearchQuery {
    SearchQuery {
        mode: SearchMode::Substring,
        ..query(text)
    }
}

#[test]
fn words_phrases_and_beginnings_are_found() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    run.say("The quick brown fox");
    run.say("a brown, quick dog");
    run.say("Déjà vu in parse_line()");
    stage.index(&[&run]);
    let index = &stage.index;
    assert_eq!(found(index, "quick brown").len(), 2);
    assert_eq!(found(index, r#""quick brown""#), ["The quick brown fox"]);
    assert_eq!(found(index, "QUICK dog"), ["a brown, quick dog"]);
    assert_eq!(found(index, "deja"), ["Déjà vu in parse_line()"]);
    assert_eq!(found(index, "parse_line"), ["Déjà vu in parse_line()"]);
    assert_eq!(found(index, "line"), ["Déjà vu in parse_line()"]);
    assert_eq!(found(index, "bro*").len(), 2);
    assert!(found(index, "bro").is_empty());
    assert!(found(index, "fox dog").is_empty());
    assert!(matches!(
        index.search(&query("?!")),
        Err(StoreError::BadSearch(_))
    ));
}

#[test]
fn a_hit_says_where_it_stands_and_marks_the_words() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    run.say("nothing here");
    run.say("Zwölf Boxkämpfer jagen");
    stage.index(&[&run]);
    let page = stage.index.search(&query("jagen boxkampfer")).unwrap();
    let hit = &page.hits[0];
    assert_eq!(hit.run, "a");
    assert_eq!((hit.seq, hit.kind.as_str()), (3, "text_block"));
    assert_eq!(hit.marks, [(6, 16), (17, 22)]);
}

#[test]
fn a_search_can_be_narrowed() {
    let stage = Stage::new();
    let mut one = stage.run("one");
    let mut two = stage.run_in("two", "/elsewhere", "codex", 500);
    one.say("needle said");
    one.tool("Bash", "needle called", "needle printed");
    two.tool("Read", "needle read", "needle shown");
    stage.index(&[&one, &two]);
    let count = |change: &dyn Fn(&mut SearchQuery)| {
        let mut words = query("needle");
        change(&mut words);
        let mut characters = words.clone();
        characters.mode = SearchMode::Substring;
        let page = stage.index.search(&words).unwrap();
        assert_eq!(
            page.hits.len(),
            stage.index.search(&characters).unwrap().hits.len()
        );
        page.hits.len()
    };
    assert_eq!(count(&|_| {}), 5);
    assert_eq!(count(&|query| query.run = Some("one".into())), 3);
    assert_eq!(count(&|query| query.run = Some("none".into())), 0);
    assert_eq!(count(&|query| query.workspace = Some("/elsewhere".into())), 2);
    assert_eq!(count(&|query| query.backend = Some("codex".into())), 2);
    assert_eq!(count(&|query| query.tool = Some("Bash".into())), 2);
    assert_eq!(
        count(&|query| query.kinds = vec!["text_block".into(), "tool_finished".into()]),
        3
    );
    assert_eq!(count(&|query| query.kinds = vec!["usage".into()]), 0);
    assert_eq!(count(&|query| query.since = Some(stage.at(500))), 2);
    assert_eq!(count(&|query| query.until = Some(stage.at(500))), 3);
    assert_eq!(count(&|query| query.until = Some(stage.at(0))), 0);
}

#[test]
fn what_is_better_and_newer_comes_first() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    run.say("red then green");
    run.say("green red green red green");
    run.say("a red green light");
    run.tool("Bash", "x", "red and green");
    stage.index(&[&run]);
    let page = stage.index.search(&query("red green")).unwrap();
    let expected = [
        "green red green red green",
        "a red green light",
        "red then green",
        "red and green",
    ];
    assert_eq!(texts(&page), expected);
}

#[test]
fn pages_have_every_hit_once_while_more_come_in() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    for number in 0..2_300 {
        run.say(&format!("common text {number}"));
    }
    stage.index(&[&run]);
    for mode in [SearchMode::Words, SearchMode::Substring] {
        let mut query = SearchQuery {
            mode,
            limit: 170,
            ..query("common")
        };
        let mut seen = BTreeSet::new();
        let head = run.seq();
        loop {
            let page = stage.index.search(&query).unwrap();
            for hit in &page.hits {
                assert!(hit.seq <= head, "what came later moves nothing");
                assert!(seen.insert(hit.seq), "{} came twice", hit.seq);
            }
            run.say("one more common text");
            stage.index(&[&run]);
            query.cursor = page.next;
            if query.cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen.len() as u64, head - 1);
    }
}

#[test]
fn more_hits_than_are_ranked_are_said() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    for _ in 0..2_001 {
        run.say("common");
    }
    stage.index(&[&run]);
    let page = stage.index.search(&query("common")).unwrap();
    assert!(!page.is_complete && page.next.is_some());
}

#[test]
fn a_cursor_that_somebody_made_up_costs_no_more_than_another() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    for number in 0..3_000 {
        run.say(&format!("needle {number}"));
    }
    stage.index(&[&run]);
    let first = SearchQuery {
        limit: 10,
        ..query("needle")
    };
    let Cursor(given) = stage.index.search(&first).unwrap().next.unwrap();
    let parts: Vec<&str> = given.split('.').collect();
    for top in [i64::MIN, -1, 0, 1, i64::MAX] {
        for low in [i64::MIN, 0, 2, i64::MAX] {
            let (top, low) = (top.to_string(), low.to_string());
            let forged = [parts[0], parts[1], &top, &low, "-", "-", "-", "-"].join(".");
            let page = stage
                .index
                .search(&SearchQuery {
                    cursor: Some(Cursor(forged)),
                    ..first.clone()
                })
                .unwrap();
            assert!(page.hits.len() <= 10, "{top} {low}");
            // No more than a window is ranked, wherever it is said to end.
            if let Some(Cursor(next)) = page.next {
                let next: Vec<&str> = next.split('.').collect();
                let (top, low) = (next[2].parse::<i64>().unwrap(), next[3].parse().unwrap_or(1));
                assert!((0..=3_001).contains(&top) && top - low < 2_000, "{next:?}");
            }
        }
    }
}

#[test]
fn a_cursor_of_another_search_is_refused() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    run.say("one two");
    run.say("one two");
    stage.index(&[&run]);
    let next = stage
        .index
        .search(&SearchQuery {
            limit: 1,
            ..query("one")
        })
        .unwrap()
        .next;
    assert!(next.is_some());
    for cursor in [next, Some(Cursor("w.1.2.3".into())), Some(Cursor(String::new()))] {
        let other = SearchQuery {
            cursor,
            ..query("two")
        };
        assert!(matches!(stage.index.search(&other), Err(StoreError::BadCursor)));
    }
}

#[test]
fn characters_are_found_anywhere_whatever_they_are_in_json() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    run.say("path C:\\Temp\\x \"quoted\"\tTab/slash");
    run.say("naïve übung");
    run.tool("Bash", "escaped", "nothing");
    stage.index(&[&run]);
    for text in ["EMP\\x", "\"QUOT", "\tTab", "b/s", "ïve ü", "cape", "\"", "/"] {
        let page = stage.index.search(&substring(text)).unwrap();
        assert_eq!((page.hits.len(), page.is_complete), (1, true), "{text}");
        let hit = &page.hits[0];
        let (from, until) = hit.marks[0];
        let marked: String = hit
            .snippet
            .chars()
            .skip(from as usize)
            .take((until - from) as usize)
            .collect();
        assert_eq!(marked.to_lowercase(), text.replace('\t', " ").to_lowercase());
    }
    for text in ["text_block", "seq", "2026-"] {
        assert!(
            stage.index.search(&substring(text)).unwrap().hits.is_empty(),
            "{text}"
        );
    }
    assert!(matches!(
        stage.index.search(&substring("")),
        Err(StoreError::BadSearch(_))
    ));
}

#[test]
fn records_of_runs_side_by_side_are_in_the_order_of_time() {
    let stage = Stage::new();
    let mut one = stage.run("one");
    let mut two = stage.run("two");
    for number in 0..10 {
        one.say_at(number * 20, &format!("word {}", number * 2));
        two.say_at(number * 20 + 10, &format!("word {}", number * 2 + 1));
    }
    stage.index(&[&two, &one]);
    let page = stage.index.search(&substring("word")).unwrap();
    let expected: Vec<_> = (0..20).rev().map(|number| format!("word {number}")).collect();
    assert_eq!(texts(&page), expected);
}

#[test]
fn a_run_that_is_gone_from_disk_is_not_found() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    run.say("needle");
    stage.index(&[&run]);
    std::fs::remove_dir_all(stage.runs().join("a")).unwrap();
    assert!(found(&stage.index, "needle").is_empty());
    assert!(stage.index.search(&substring("needle")).unwrap().hits.is_empty());
}

#[test]
fn text_that_a_block_leaves_to_its_deltas_is_found_in_the_block() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    run.say("before");
    let delta = |text: &str| json!({"item": "m/1", "part": "text", "text": text});
    let (start, _) = run.record("delta", &delta("The quick bro"));
    run.record("delta", &delta("wn fox "));
    let from = text_from(usize::try_from(start).unwrap(), "The quick brown fox ");
    let block = json!({"item": "m/1", "text": "jumps.", "text_from": from});
    run.record("text_block_rest", &block);
    // A tool may name a field as it likes.
    run.record(
        "user_message",
        &json!({"item": "m/2", "text": "the fox", "text_from": "x", "origin": "user"}),
    );
    stage.index(&[&run]);
    let whole = "The quick brown fox jumps.";
    assert_eq!(found(&stage.index, "brown jumps"), [whole]);
    assert_eq!(found(&stage.index, "fox"), ["the fox", whole]);
    let page = stage.index.search(&substring("k brown fox jum")).unwrap();
    assert_eq!(texts(&page), [whole]);
    assert_eq!(page.hits[0].kind, "text_block");
    assert_eq!(
        texts(&stage.index.search(&substring("the fox")).unwrap()),
        ["the fox"]
    );
}

#[test]
fn text_that_is_lost_is_not_made_up() {
    let stage = Stage::new();
    let mut run = stage.run("a");
    let (start, _) = run.record(
        "delta",
        &json!({"item": "m/1", "part": "text", "text": "changed"}),
    );
    let from = text_from(usize::try_from(start).unwrap(), "written");
    run.record(
        "text_block_rest",
        &json!({"item": "m/1", "text": " rest", "text_from": from}),
    );
    stage.index(&[&run]);
    assert!(found(&stage.index, "changed").is_empty());
    assert_eq!(found(&stage.index, "rest"), ["rest"]);
}
