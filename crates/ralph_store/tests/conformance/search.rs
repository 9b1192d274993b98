//! What can be found.

use std::collections::BTreeSet;

use ralph_store::{Cursor, Hit, SearchMode, SearchPage, SearchQuery, StoreError};

use crate::journal::Journal;
use crate::stage::Stage;

pub(crate) fn query(text: &str) -> SearchQuery {
    SearchQuery {
        text: text.to_owned(),
        limit: 100,
        ..SearchQuery::default()
    }
}

fn substring(text: &str) -> SearchQuery {
    SearchQuery {
        mode: SearchMode::Substring,
        ..query(text)
    }
}

fn texts(page: &SearchPage) -> Vec<&str> {
    page.hits.iter().map(|hit| hit.snippet.as_str()).collect()
}

async fn found(stage: &Stage, text: &str) -> Vec<String> {
    let page = stage.store.search(&query(text)).await.unwrap();
    assert!(page.is_complete);
    texts(&page).into_iter().map(str::to_owned).collect()
}

/// All hits, page after page: a page that takes too long has fewer.
async fn all(stage: &Stage, mut query: SearchQuery) -> Vec<Hit> {
    let mut hits = Vec::new();
    loop {
        let page = stage.store.search(&query).await.unwrap();
        hits.extend(page.hits);
        query.cursor = page.next;
        if query.cursor.is_none() {
            return hits;
        }
    }
}

pub(crate) async fn words_phrases_and_beginnings_are_found(stage: &Stage) {
    let mut run = stage.run("a");
    run.say("The quick brown fox");
    run.say("a brown, quick dog");
    run.say("Déjà vu in parse_line()");
    run.say("数据库 0x1f 1e5 user@example.org -17");
    assert_eq!(stage.catch_up().await, 4);
    assert_eq!(found(stage, "quick brown").await.len(), 2);
    assert_eq!(found(stage, r#""quick brown""#).await, ["The quick brown fox"]);
    assert_eq!(found(stage, "QUICK dog").await, ["a brown, quick dog"]);
    for text in ["deja", "parse_line", "line", "par*", r#""vu in par*""#] {
        assert_eq!(found(stage, text).await, ["Déjà vu in parse_line()"], "{text}");
    }
    assert_eq!(found(stage, "bro*").await.len(), 2);
    for text in [
        "数据",
        "0x1f",
        "1e5",
        "example.org",
        "17",
        "user@example.org",
        "用 OR 据",
    ] {
        let expected = usize::from(!text.contains("OR"));
        assert_eq!(found(stage, text).await.len(), expected, "{text}");
    }
    for text in [
        "bro",
        "fox dog",
        r#""brown quick fox""#,
        "' | '",
        "a & b",
        "!quick",
        "zebra",
    ] {
        let hits = stage.store.search(&query(text)).await.map(|page| page.hits);
        let is_nothing = match hits {
            Ok(hits) => hits.is_empty() || text == "!quick",
            Err(error) => matches!(error, StoreError::BadSearch(_)),
        };
        assert!(is_nothing, "{text}");
    }
    let nothing = stage.store.search(&query("?!")).await;
    assert!(matches!(nothing, Err(StoreError::BadSearch(_))));
}

pub(crate) async fn a_hit_says_where_it_stands_and_marks_the_words(stage: &Stage) {
    let mut run = stage.run("a");
    run.say("nothing here");
    run.say("Zwölf Boxkämpfer\u{7} jagen");
    stage.catch_up().await;
    let page = stage.store.search(&query("jagen boxkampfer")).await.unwrap();
    assert_eq!((page.hits.len(), page.lag), (1, 0));
    let hit = &page.hits[0];
    assert_eq!(
        (hit.run.as_str(), hit.seq, hit.kind.as_str()),
        ("a", 3, "text_block")
    );
    assert_eq!(hit.at.as_second(), Journal::at(0).as_second());
    assert_eq!(hit.snippet, "Zwölf Boxkämpfer\u{fffd} jagen");
    assert_eq!(hit.marks, [(6, 16), (18, 23)]);
}

pub(crate) async fn what_was_said_after_the_clock_went_back_is_found_by_its_time(stage: &Stage) {
    let mut run = stage.run("a");
    run.clock = jiff::SignedDuration::from_secs(50_000);
    run.say("needle before");
    run.clock = jiff::SignedDuration::from_secs(100);
    run.say("needle after");
    let seq = run.seq;
    stage.catch_up().await;
    for mode in [SearchMode::Words, SearchMode::Substring] {
        let asked = SearchQuery {
            since: Some(Journal::at(90)),
            until: Some(Journal::at(110)),
            mode,
            ..query("needle")
        };
        let hits = all(stage, asked).await;
        assert_eq!(hits.len(), 1, "{mode:?}");
        assert_eq!(hits[0].seq, seq);
    }
}

pub(crate) async fn a_search_can_be_narrowed(stage: &Stage) {
    let mut one = stage.run("one");
    let mut two = stage.run_in("two", "/elsewhere", "codex");
    one.say("needle said");
    one.call("Bash", "needle called");
    one.finish_call("needle printed");
    two.clock = jiff::SignedDuration::from_secs(500);
    two.call("Read", "needle read");
    // The end of a call is known by its tool, also when it is indexed later.
    stage.catch_up().await;
    two.finish_call("needle shown");
    stage.catch_up().await;
    let count = async |change: &dyn Fn(&mut SearchQuery)| {
        let mut words = query("needle");
        change(&mut words);
        let mut characters = words.clone();
        characters.mode = SearchMode::Substring;
        let hits = all(stage, words).await;
        assert_eq!(hits.len(), all(stage, characters).await.len());
        hits.len()
    };
    assert_eq!(count(&|_| {}).await, 5);
    assert_eq!(count(&|query| query.run = Some("one".into())).await, 3);
    assert_eq!(count(&|query| query.run = Some("none".into())).await, 0);
    assert_eq!(
        count(&|query| query.workspace = Some("/elsewhere".into())).await,
        2
    );
    assert_eq!(count(&|query| query.backend = Some("codex".into())).await, 2);
    assert_eq!(count(&|query| query.tool = Some("Bash".into())).await, 2);
    assert_eq!(count(&|query| query.tool = Some("Read".into())).await, 2);
    let kinds = ["text_block", "tool_finished"].map(str::to_owned).to_vec();
    assert_eq!(count(&|query| query.kinds.clone_from(&kinds)).await, 3);
    assert_eq!(count(&|query| query.kinds = vec!["usage".into()]).await, 0);
    assert_eq!(count(&|query| query.since = Some(Journal::at(500))).await, 2);
    assert_eq!(count(&|query| query.until = Some(Journal::at(500))).await, 3);
    assert_eq!(count(&|query| query.until = Some(Journal::at(0))).await, 0);
}

pub(crate) async fn what_is_better_and_newer_comes_first(stage: &Stage) {
    let mut run = stage.run("a");
    run.say("red then green");
    run.say("green red green red green");
    run.say("a red green light");
    run.call("Bash", "x");
    run.finish_call("red and green");
    stage.catch_up().await;
    let page = stage.store.search(&query("red green")).await.unwrap();
    let expected = [
        "green red green red green",
        "a red green light",
        "red then green",
        "red and green",
    ];
    assert_eq!(texts(&page), expected);
}

pub(crate) async fn pages_have_every_hit_once_while_more_come_in(stage: &Stage) {
    let mut run = stage.run("a");
    for number in 0..2_300 {
        run.say(&format!("common text {number}"));
    }
    stage.catch_up().await;
    for mode in [SearchMode::Words, SearchMode::Substring] {
        let mut query = SearchQuery {
            mode,
            limit: 300,
            ..query("common")
        };
        let mut seen = BTreeSet::new();
        let head = run.seq;
        loop {
            let page = stage.store.search(&query).await.unwrap();
            assert!(page.hits.len() <= 300);
            for hit in &page.hits {
                assert!(hit.seq <= head, "what came later moves nothing");
                assert!(seen.insert(hit.seq), "{} came twice", hit.seq);
            }
            run.say("one more common text");
            stage.catch_up().await;
            query.cursor = page.next;
            if query.cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen.len() as u64, head - 1);
    }
}

pub(crate) async fn more_hits_than_are_ranked_are_said(stage: &Stage) {
    let mut run = stage.run("a");
    for _ in 0..2_001 {
        run.say("common");
    }
    stage.catch_up().await;
    let page = stage.store.search(&query("common")).await.unwrap();
    assert!(!page.is_complete && page.next.is_some());
}

pub(crate) async fn phrases_are_found_far_behind_in_a_long_text(stage: &Stage) {
    let mut run = stage.run("a");
    // A word that is there very often, and places beyond what an index may keep.
    run.say(&format!("{} far behind", "red ".repeat(400)));
    run.say(&format!("{} red far", "a b ".repeat(9_000)));
    run.say("far from red");
    stage.catch_up().await;
    assert_eq!(found(stage, r#""red far""#).await.len(), 2);
    assert_eq!(found(stage, r#""far behind""#).await.len(), 1);
    assert_eq!(found(stage, r#""behind far""#).await.len(), 0);
    assert_eq!(found(stage, "far red").await.len(), 3);
}

pub(crate) async fn characters_are_found_anywhere(stage: &Stage) {
    let mut run = stage.run("a");
    run.say("path C:\\Temp\\x \"quoted\"\tTab/slash");
    run.say("naïve übung");
    run.call("Bash", "escaped");
    stage.catch_up().await;
    for text in ["EMP\\x", "\"QUOT", "\tTab", "b/s", "ïve ü", "cape", "\""] {
        let hits = all(stage, substring(text)).await;
        assert_eq!(hits.len(), 1, "{text}");
        let (from, until) = hits[0].marks[0];
        let marked = hits[0].snippet.chars().skip(from as usize);
        let marked: String = marked.take((until - from) as usize).collect();
        assert_eq!(marked.to_lowercase(), text.replace('\t', " ").to_lowercase());
    }
    for text in ["text_block", "seq", "2026-"] {
        assert!(all(stage, substring(text)).await.is_empty(), "{text}");
    }
    let nothing = stage.store.search(&substring("")).await;
    assert!(matches!(nothing, Err(StoreError::BadSearch(_))));
}

pub(crate) async fn a_cursor_of_another_search_is_refused(stage: &Stage) {
    let mut run = stage.run("a");
    run.say("one two");
    run.say("one two");
    stage.catch_up().await;
    let first = SearchQuery {
        limit: 1,
        ..query("one")
    };
    let next = stage.store.search(&first).await.unwrap().next;
    assert!(next.is_some());
    for cursor in [next, Some(Cursor("w.1.2.3".into())), Some(Cursor(String::new()))] {
        for mode in [SearchMode::Words, SearchMode::Substring] {
            let other = SearchQuery {
                cursor: cursor.clone(),
                mode,
                ..query("two")
            };
            let refused = stage.store.search(&other).await;
            assert!(matches!(refused, Err(StoreError::BadCursor)));
        }
    }
}

pub(crate) async fn nothing_is_lost_or_doubled_however_often_it_is_indexed(stage: &Stage) {
    let mut run = stage.run("a");
    for round in 1..=10 {
        run.say("needle");
        assert_eq!(stage.catch_up().await, 1);
        assert_eq!(stage.store.index_texts().await.unwrap(), 0);
        assert_eq!(found(stage, "needle").await.len(), round);
    }
    // What was taken in and not indexed is said.
    run.say("needle");
    stage.store.ingest(vec![run.take()]).await.unwrap();
    assert!(stage.store.health().await.text_lag > 0);
    assert_eq!(found(stage, "needle").await.len(), 10);
    // Two at once do not index anything twice.
    let (one, other) = tokio::join!(stage.store.index_texts(), stage.store.index_texts());
    assert_eq!(one.unwrap() + other.unwrap(), 1);
    assert_eq!(found(stage, "needle").await.len(), 11);
    assert_eq!(stage.store.health().await.text_lag, 0);
}

pub(crate) async fn a_run_with_another_journal_has_other_words(stage: &Stage) {
    let mut run = stage.run_in("a", "/one", "claude_code");
    run.say("old");
    stage.catch_up().await;
    // Exactly as long as the old one.
    let mut run = stage.run_in("a", "/two", "claude_code");
    run.say("new");
    stage.store.ingest(vec![run.take()]).await.unwrap();
    assert_eq!(stage.store.run("a").await.unwrap().unwrap().workspace, "/two");
    assert_eq!(stage.store.index_texts().await.unwrap(), 1);
    assert!(found(stage, "old").await.is_empty());
    assert_eq!(found(stage, "new").await, ["new"]);
}
