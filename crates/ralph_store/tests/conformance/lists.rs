//! Lists and pages.

use jiff::SignedDuration;
use ralph_store::{Cursor, RunQuery, StoreError};

use crate::journal::Journal;
use crate::stage::Stage;

pub(crate) async fn pages_of_runs_neither_lose_nor_repeat_any_while_others_begin(stage: &Stage) {
    let store = &stage.store;
    for run in 0..25 {
        // Some began at the same time: then the name decides.
        let mut journal = Journal::of(&format!("run-{run:02}"));
        journal.clock = SignedDuration::from_secs(run / 3);
        store.ingest(vec![journal.take()]).await.unwrap();
    }
    let mut query = RunQuery {
        limit: 7,
        ..RunQuery::default()
    };
    let all = store.runs(&RunQuery::default()).await.unwrap();
    assert!(all.next.is_none());
    let expected: Vec<String> = all.items.into_iter().map(|run| run.id).collect();
    let mut seen = Vec::new();
    loop {
        let page = store.runs(&query).await.unwrap();
        assert!(page.items.len() <= 7);
        seen.extend(page.items.into_iter().map(|run| run.id));
        let mut newer = Journal::of(&format!("z-{}", seen.len()));
        newer.clock = SignedDuration::from_secs(60);
        newer.say("hello");
        // Its first record says when a run began.
        store.ingest(vec![newer.take()]).await.unwrap();
        let Some(next) = page.next else { break };
        query.cursor = Some(next);
    }
    assert_eq!(seen, expected);
    for nonsense in ["nonsense", "", "x.y", "12"] {
        query.cursor = Some(Cursor(nonsense.to_owned()));
        assert!(
            matches!(store.runs(&query).await, Err(StoreError::BadCursor)),
            "{nonsense}"
        );
    }
}

pub(crate) async fn runs_are_found_by_what_is_asked(stage: &Stage) {
    let store = &stage.store;
    let mut ended = stage.run_in("a", "/one", "claude_code");
    ended.end();
    let mut waiting = stage.run_in("b", "/two", "codex");
    waiting.ask("q");
    stage.run_in("c", "/two", "claude_code").say("hello");
    stage.catch_up().await;
    let find = async |change: &dyn Fn(&mut RunQuery)| -> String {
        let mut query = RunQuery::default();
        change(&mut query);
        let page = store.runs(&query).await.unwrap();
        page.items.into_iter().map(|run| run.id).collect()
    };
    let began = store.run("a").await.unwrap().unwrap().started_at;
    assert_eq!(find(&|_| {}).await, "cba");
    assert_eq!(find(&|query| query.has_ended = Some(true)).await, "a");
    assert_eq!(find(&|query| query.has_ended = Some(false)).await, "cb");
    assert_eq!(find(&|query| query.is_waiting = Some(true)).await, "b");
    assert_eq!(find(&|query| query.is_waiting = Some(false)).await, "ca");
    assert_eq!(find(&|query| query.workspace = Some("/two".into())).await, "cb");
    assert_eq!(find(&|query| query.backend = Some("codex".into())).await, "b");
    assert_eq!(find(&|query| query.since = Some(began)).await, "cba");
    assert_eq!(find(&|query| query.until = Some(began)).await, "");
    let both = |query: &mut RunQuery| {
        query.workspace = Some("/two".into());
        query.backend = Some("claude_code".into());
        query.has_ended = Some(false);
        query.limit = 1;
    };
    assert_eq!(find(&both).await, "c");
    let mut offsets = store.indexed_runs().await.unwrap();
    offsets.sort_by(|one, other| one.run.cmp(&other.run));
    let ended: Vec<bool> = offsets.iter().map(|run| run.ended_at.is_some()).collect();
    assert_eq!(ended, [true, false, false]);
}

pub(crate) async fn runs_of_a_conversation_are_newest_first(stage: &Stage) {
    let store = &stage.store;
    for (run, sessions) in [("a", vec!["s", "t"]), ("b", vec!["t"]), ("c", vec!["t", "t"])] {
        let mut journal = Journal::of(run);
        sessions.into_iter().for_each(|session| journal.greet(session));
        store.ingest(vec![journal.take()]).await.unwrap();
    }
    let pages = async |session: &str| -> Vec<String> {
        let mut query = RunQuery {
            session: Some(session.to_owned()),
            limit: 2,
            ..RunQuery::default()
        };
        let mut pages = Vec::new();
        loop {
            let page = store.runs(&query).await.unwrap();
            pages.push(page.items.into_iter().map(|run| run.id).collect());
            query.cursor = page.next;
            if query.cursor.is_none() {
                return pages;
            }
        }
    };
    assert_eq!(pages("t").await, ["cb", "a"]);
    assert_eq!(pages("s").await, ["a"]);
    assert_eq!(pages("u").await, [""]);
}

pub(crate) async fn every_character_is_kept(stage: &Stage) {
    let store = &stage.store;
    let odd = "'\"\\ \u{0} \u{1a}0 \u{1a} \u{7f} é 日本 🦀 %_ \u{feff}";
    let mut journal = Journal::begin(None, "a", odd, odd);
    journal.greet(odd);
    journal.ask(odd);
    journal.send(odd, odd);
    journal.use_tokens(1, 1, Some(odd));
    journal.agent(odd, &serde_json::json!({}));
    store.ingest(vec![journal.take()]).await.unwrap();
    let summary = store.run("a").await.unwrap().unwrap();
    assert_eq!((summary.workspace.as_str(), summary.backend.as_str()), (odd, odd));
    let query = RunQuery {
        session: Some(odd.to_owned()),
        workspace: Some(odd.to_owned()),
        backend: Some(odd.to_owned()),
        ..RunQuery::default()
    };
    assert_eq!(store.runs(&query).await.unwrap().items.len(), 1);
    let progress = store.progress("a").await.unwrap().unwrap();
    assert_eq!(progress.approvals[0].request, odd);
    let data: serde_json::Value = serde_json::from_str(progress.approvals[0].data.get()).unwrap();
    assert_eq!(data["request"], odd);
    let message = &store.messages("a").await.unwrap()[0];
    assert_eq!((message.id.as_str(), message.text.as_str()), (odd, odd));
    let query = ralph_store::CostQuery {
        group: ralph_store::CostGroup::Model,
        ..Default::default()
    };
    assert_eq!(store.costs(&query).await.unwrap()[0].key, odd);
    for text in ["unknown\0run", "\u{1a}"] {
        assert!(store.run(text).await.unwrap().is_none());
        assert!(store.progress(text).await.unwrap().is_none());
        assert!(store.response(text).await.unwrap().is_none());
    }
}
