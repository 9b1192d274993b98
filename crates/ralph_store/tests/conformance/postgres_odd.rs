//! Rows that mean nothing to us: another version put them there.

use std::sync::Arc;

use ralph_store::{ApprovalQuery, PostgresOptions, PostgresStore, RunQuery, SearchQuery, Store, catch_up};
use tempfile::TempDir;
use test_support::postgres::PostgresServer;

use crate::journal::Journal;

struct Place {
    home: TempDir,
    server: Arc<PostgresServer>,
    database: String,
    store: PostgresStore,
}

impl Place {
    /// Two runs, `a` and `b`, with a question, a message and words each.
    async fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let server = PostgresServer::shared().unwrap();
        let url = server.create_database().unwrap();
        let options = PostgresOptions::new(&url);
        let place = Self {
            database: url.rsplit('/').next().unwrap().to_owned(),
            store: PostgresStore::connect(options, |_| {}).await.unwrap(),
            home,
            server,
        };
        for run in ["a", "b"] {
            let mut journal = Journal::begin(Some(place.home.path()), run, "/work", "claude_code");
            journal.greet("one conversation");
            journal.ask("may I?");
            journal.send("m1", "a message");
            journal.say("something");
        }
        place.catch_up().await;
        place
    }

    async fn catch_up(&self) -> usize {
        let caught_up = catch_up(&self.store, self.home.path(), |_| {}).await.unwrap();
        self.store.index_texts().await.unwrap();
        caught_up.runs
    }

    fn change(&self, sql: &str) {
        self.server.execute(&self.database, sql).unwrap();
    }

    async fn found(&self, text: &str) -> usize {
        let query = SearchQuery {
            text: text.to_owned(),
            ..SearchQuery::default()
        };
        self.store.search(&query).await.unwrap().hits.len()
    }
}

fn one_conversation() -> RunQuery {
    RunQuery {
        session: Some("one conversation".to_owned()),
        ..RunQuery::default()
    }
}

#[tokio::test]
async fn a_row_that_means_nothing_is_left_out_of_lists_and_its_run_is_read_again() {
    let place = Place::new().await;
    let store = &place.store;
    for change in [
        "UPDATE ralph.run SET summary = '{\"id\":7}' WHERE id = 'b'",
        "UPDATE ralph.run SET state = '7' WHERE id = 'b'",
        "UPDATE ralph.approval SET kind = 77 WHERE run = (SELECT number FROM ralph.run WHERE id = 'b')",
        "UPDATE ralph.approval SET data = '{' WHERE run = (SELECT number FROM ralph.run WHERE id = 'b')",
        "UPDATE ralph.message SET state = 77 WHERE run = (SELECT number FROM ralph.run WHERE id = 'b')",
    ] {
        place.change(change);
        place.change(
            "UPDATE ralph.text_run SET seq = 0 WHERE run = (SELECT number FROM ralph.run WHERE id = 'b')",
        );
        store.index_texts().await.unwrap();
        let approvals = store.approvals(&ApprovalQuery::default()).await.unwrap().items;
        assert!(approvals.iter().any(|row| row.run == "a"), "{change}");
        store.messages("b").await.unwrap();
        let listed = store.runs(&one_conversation()).await.unwrap().items;
        assert!(listed.iter().any(|run| run.id == "a"), "{change}");
        assert!(store.progress("b").await.unwrap().is_none(), "{change}");
        assert!(store.run("b").await.unwrap().is_none(), "{change}");
        assert_eq!(place.catch_up().await, 1, "{change}");
        let approvals = store.approvals(&ApprovalQuery::default()).await.unwrap().items;
        assert_eq!(approvals.len(), 2, "{change}");
        assert_eq!(store.messages("b").await.unwrap().len(), 1, "{change}");
        let listed = store.runs(&one_conversation()).await.unwrap().items;
        assert_eq!(listed.len(), 2, "{change}");
        assert_eq!(place.found("something").await, 2, "{change}");
    }
}

#[tokio::test]
async fn a_page_of_runs_that_mean_nothing_says_where_to_go_on() {
    let place = Place::new().await;
    place.change("UPDATE ralph.run SET summary = '7' WHERE id = 'b'");
    let query = RunQuery {
        limit: 1,
        ..RunQuery::default()
    };
    let page = place.store.runs(&query).await.unwrap();
    assert!(page.items.is_empty());
    let next = RunQuery {
        cursor: page.next,
        ..query
    };
    assert_eq!(place.store.runs(&next).await.unwrap().items[0].id, "a");
}

#[tokio::test]
async fn a_question_that_means_nothing_does_not_end_the_list_of_them() {
    let place = Place::new().await;
    for (odd, other) in [("a", "b"), ("b", "a")] {
        place.change(&format!(
            "UPDATE ralph.approval SET kind = 77 WHERE run = (SELECT number FROM ralph.run WHERE id = '{odd}')"
        ));
        let mut query = ApprovalQuery {
            limit: 1,
            ..ApprovalQuery::default()
        };
        let mut runs = Vec::new();
        loop {
            let page = place.store.approvals(&query).await.unwrap();
            runs.extend(page.items.into_iter().map(|row| row.run));
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
        assert_eq!(runs, [other]);
        assert_eq!(place.catch_up().await, 1);
    }
}
