//! A database that goes away while runs are followed, and comes back.

use ralph_store::{CostGroup, CostQuery};
use serde_json::{Value, json};
use test_support::postgres::PostgresServer;

use crate::LONGEST;
use crate::client::Client;
use crate::journal::Journal;
use crate::stage::Stage;

/// What each message of the model uses.
const INPUT: u64 = 7;
const OUTPUT: u64 = 3;
const MESSAGES_AT_A_TIME: u64 = 40;

/// A run that uses tokens and asks.
struct Work {
    journal: Journal,
    messages: u64,
}

impl Work {
    fn begin(stage: &Stage) -> Self {
        Self {
            journal: Journal::create(&stage.home),
            messages: 0,
        }
    }

    fn write(&mut self, event: &Value) {
        self.journal.write(event);
    }

    fn go_on(&mut self) {
        for _ in 0..MESSAGES_AT_A_TIME {
            self.journal.delta(0, "piece ", usize::MAX);
            self.messages += 1;
            let tokens = json!({"input": INPUT * self.messages, "output": OUTPUT * self.messages});
            let data = json!({
                "scope": "step", "tokens": {}, "model": "m", "run": {"tokens": tokens, "is_partial": true},
            });
            self.write(&json!({"agent_kind": "demo", "type": "usage", "data": data}));
        }
    }

    fn ask(&mut self, request: &str) {
        let data = json!({"request": request, "tool": "Bash", "kind": "execute"});
        self.write(&json!({"agent_kind": "demo", "type": "permission_requested", "data": data}));
    }

    /// The rows of a run that has ended add up to the totals in its last record.
    fn end(&mut self) {
        let tokens = json!({"input": INPUT * self.messages, "output": OUTPUT * self.messages});
        let data = json!({
            "reason": "completed", "exit_code": 0, "iterations": 1, "totals": {"tokens": tokens},
        });
        self.write(&json!({"type": "run_ended", "data": data}));
    }
}

/// Waits until the inbox has a request and the list shows a run at a record.
async fn hear(client: &mut Client, request: &str, run: &str, seq: u64) {
    let (mut is_asked, mut is_listed) = (false, false);
    while !(is_asked && is_listed) {
        let message = tokio::time::timeout(LONGEST, client.next()).await;
        let (_, message) = message.unwrap().unwrap();
        let items = |name: &str| message[name].as_array().cloned().unwrap_or_default();
        is_asked |= items("approvals").iter().any(|item| item["request"] == request);
        is_listed |= items("runs")
            .iter()
            .any(|item| item["id"] == run && item["head_seq"].as_u64() >= Some(seq));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_goes_away_delays_no_list_and_lacks_nothing_when_it_is_back() {
    let server = PostgresServer::start().unwrap();
    let stage = Stage::with_postgres(&server.create_database().unwrap()).await;
    let mut client = Client::connect(stage.address).await;
    for feed in ["runs", "inbox"] {
        client.say(&json!({"type": "subscribe", "feed": feed})).await;
    }
    // One goes on all the time, one ends and one begins while the database is away.
    let mut works = vec![Work::begin(&stage), Work::begin(&stage)];
    for work in &mut works {
        work.go_on();
    }
    works[0].ask("before");
    hear(
        &mut client,
        "before",
        works[0].journal.id(),
        works[0].journal.seq(),
    )
    .await;
    for work in &works {
        stage
            .wait_until_indexed(work.journal.id(), work.journal.seq())
            .await;
    }

    tokio::task::block_in_place(|| server.stop()).unwrap();
    works.push(Work::begin(&stage));
    for work in &mut works {
        work.go_on();
    }
    works[0].ask("during");
    works[1].end();
    // Nobody starts the database until this has been told: it cannot have come from there.
    hear(
        &mut client,
        "during",
        works[0].journal.id(),
        works[0].journal.seq(),
    )
    .await;
    // The index has failed at least once, so something was dropped that has to be read again.
    stage.until(async || stage.live.index_problem().is_some()).await;
    assert!(stage.store.run(works[0].journal.id()).await.is_err());

    tokio::task::block_in_place(|| server.start_again()).unwrap();
    works[2].go_on();
    works[2].ask("after");
    hear(
        &mut client,
        "after",
        works[2].journal.id(),
        works[2].journal.seq(),
    )
    .await;
    for work in &works {
        let (id, head) = (work.journal.id(), work.journal.seq());
        stage.wait_until_indexed(id, head).await;
    }
    let by_run = CostQuery {
        group: CostGroup::Run,
        ..CostQuery::default()
    };
    let costs = stage.store.costs(&by_run).await.unwrap();
    assert_eq!(costs.len(), works.len());
    for work in &works {
        let cost = costs.iter().find(|cost| cost.key == work.journal.id()).unwrap();
        let (input, output) = (INPUT * work.messages, OUTPUT * work.messages);
        assert_eq!((cost.tokens.input, cost.tokens.output), (input, output));
        assert_eq!(cost.messages, work.messages);
    }
    stage.until(async || stage.live.index_problem().is_none()).await;
}
