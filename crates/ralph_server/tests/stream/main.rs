//! What clients see of runs while they are written: everything, once, in order.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod client;
mod database_away;
mod journal;
mod stage;

use std::time::Duration;

use client::{Client, Seen};
use journal::Journal;
use ralph_run::control::{ControlCommand, ControlServer, Greeting, Refusal, RefusalCode};
use ralph_run::model::RunState;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::json;
use stage::Stage;

const LONGEST: Duration = Duration::from_secs(60);

fn texts(journal: &Journal) -> Vec<(String, String)> {
    let texts = journal.texts.iter().enumerate();
    texts
        .map(|(item, text)| (format!("m/{item}"), text.clone()))
        .collect()
}

/// The longest of the other records.
const SMALL_BYTES: usize = 3000;
const LARGE_BYTES: usize = 256 << 10;

/// Writes a run of several texts: pieces, with other records and cut lines in between.
fn write_at_random(journal: &mut Journal, random: &mut StdRng, records: usize, longest_bytes: usize) {
    let mut item = 0;
    for number in 0..records {
        match random.random_range(0..10) {
            0 => journal.notice(&"n".repeat(random.random_range(0..longest_bytes))),
            1 if journal.texts.get(item).is_some() => {
                journal.block(item);
                item += 1;
            }
            _ => journal.delta(item, &format!("{number} äöü "), random.random_range(0..200)),
        }
        if random.random_range(0..20) == 0 {
            std::thread::sleep(Duration::from_millis(random.random_range(0..10)));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_come_and_go_miss_nothing_and_see_nothing_twice() {
    come_and_go(3000, SMALL_BYTES, 10).await;
}

/// One of these records pushes all others out of the ring.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_come_and_go_miss_nothing_of_large_records() {
    come_and_go(250, LARGE_BYTES, 3).await;
}

/// Clients leave after fewer messages than `most_messages` and come back until they have seen the end.
async fn come_and_go(records: usize, longest_bytes: usize, most_messages: usize) {
    let stage = Stage::new().await;
    let mut journal = Journal::create(&stage.home);
    let run = journal.id().to_owned();
    let writer = tokio::task::spawn_blocking(move || {
        write_at_random(
            &mut journal,
            &mut StdRng::seed_from_u64(1),
            records,
            longest_bytes,
        );
        journal.end();
        journal
    });
    stage.wait_for(&run).await;
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..8 {
        let (address, run) = (stage.address, run.clone());
        clients.spawn(async move {
            let mut random = StdRng::seed_from_u64(number);
            let (mut seen, mut connections) = (Seen::default(), 0);
            while !seen.has_ended {
                let mut client = Client::connect(address).await;
                connections += 1;
                client.watch(&run, &seen).await;
                client
                    .take(&mut seen, random.random_range(1..most_messages))
                    .await;
            }
            (seen, connections)
        });
    }
    let results = tokio::time::timeout(LONGEST, clients.join_all()).await.unwrap();
    let journal = writer.await.unwrap();
    for (seen, connections) in results {
        assert!(connections > 3, "there were hardly any reconnects: {connections}");
        assert_eq!((seen.seq, seen.lagged), (journal.seq(), 0));
        assert_eq!(
            seen.texts
                .into_iter()
                .collect::<std::collections::BTreeMap<_, _>>(),
            texts(&journal).into_iter().collect()
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_has_ended_is_told_from_its_journal() {
    let stage = Stage::new().await;
    let mut journal = Journal::create(&stage.home);
    write_at_random(&mut journal, &mut StdRng::seed_from_u64(2), 500, SMALL_BYTES);
    journal.end();
    stage.wait_for(journal.id()).await;
    stage.wait_until_indexed(journal.id(), journal.seq()).await;
    let mut seen = Seen::default();
    let mut client = Client::connect(stage.address).await;
    client.watch(journal.id(), &seen).await;
    client.take(&mut seen, usize::MAX).await;
    assert_eq!((seen.seq, seen.lagged), (journal.seq(), 0));
    assert_eq!(
        seen.texts.into_iter().collect::<Vec<_>>().len(),
        journal.texts.len()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_too_far_behind_is_told_to_fetch_pages_and_then_goes_on() {
    let stage = Stage::new().await;
    let mut journal = Journal::create(&stage.home);
    for _ in 0..100 {
        journal.notice(&"x".repeat(60_000));
    }
    stage.wait_for(journal.id()).await;
    stage.wait_until_indexed(journal.id(), journal.seq()).await;
    let mut seen = Seen::default();
    let mut client = Client::connect(stage.address).await;
    client.watch(journal.id(), &seen).await;
    client.take(&mut seen, 2).await;
    assert_eq!((seen.lagged, seen.seq), (1, journal.seq()));
    journal.end();
    client.take(&mut seen, usize::MAX).await;
    assert!(seen.has_ended);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_answer_costs_at_most_three_times_its_length_on_the_wire() {
    let stage = Stage::new().await;
    let mut journal = Journal::create(&stage.home);
    stage.wait_for(journal.id()).await;
    let mut seen = Seen::default();
    let mut client = Client::connect(stage.address).await;
    client.watch(journal.id(), &seen).await;
    // As a runner writes it: pieces of a thirtieth of a second each, here without the wait.
    let length = 64 << 10;
    let writer = tokio::task::spawn_blocking(move || {
        for _ in 0..300 {
            journal.delta(0, &"y".repeat(length / 300), usize::MAX);
            std::thread::sleep(Duration::from_millis(10));
        }
        journal.block(0);
        journal.end();
        journal
    });
    tokio::time::timeout(LONGEST, client.take(&mut seen, usize::MAX))
        .await
        .unwrap();
    let journal = writer.await.unwrap();
    assert_eq!(seen.texts["m/0"], journal.texts[0]);
    assert!(seen.bytes <= 3 * length, "{} bytes", seen.bytes);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_journal_that_was_removed_and_made_anew_is_followed_from_its_start() {
    let stage = Stage::new().await;
    let mut first = Journal::create(&stage.home);
    let run = first.id().to_owned();
    first.notice("the first");
    stage.wait_for(&run).await;
    stage.wait_until_indexed(&run, first.seq()).await;
    std::fs::remove_dir_all(first.run.path()).unwrap();
    let mut second = Journal::create_in(stage.home.create_run_as(&run).unwrap());
    // Longer than the first one: its length does not tell that it is another.
    for _ in 0..10 {
        second.notice("the second");
    }
    second.end();
    let (mut seen, mut client) = (Seen::default(), Client::connect(stage.address).await);
    client.watch(&run, &seen).await;
    let watched = async {
        // Who watched the first one is told that it is another, and how far that is.
        while seen.seq < second.seq() {
            client.take(&mut seen, 1).await;
        }
    };
    tokio::time::timeout(LONGEST, watched).await.unwrap();
    stage.wait_until_indexed(&run, second.seq()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_was_removed_leaves_the_lists_and_may_come_again_under_its_name() {
    let stage = Stage::new().await;
    let mut client = Client::connect(stage.address).await;
    client.say(&json!({"type": "subscribe", "feed": "runs"})).await;
    let runs = async |client: &mut Client, runs: &[&str], is_all: bool| {
        let told = async {
            loop {
                let message = client.next().await.unwrap().1;
                let told = message["runs"].as_array().into_iter().flatten();
                let told: Vec<_> = told.filter_map(|run| run["id"].as_str()).collect();
                if message["is_all"] == is_all && told == runs {
                    return;
                }
            }
        };
        tokio::time::timeout(LONGEST, told).await.unwrap();
    };
    runs(&mut client, &[], true).await;
    let first = Journal::create(&stage.home);
    let run = first.id().to_owned();
    runs(&mut client, &[&run], false).await;
    std::fs::remove_dir_all(first.run.path()).unwrap();
    runs(&mut client, &[], true).await;
    let _second = Journal::create_in(stage.home.create_run_as(&run).unwrap());
    runs(&mut client, &[&run], false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_are_told_when_they_change() {
    let stage = Stage::new().await;
    let mut client = Client::connect(stage.address).await;
    client
        .say(&json!({"type": "subscribe", "id": "a", "feed": "runs"}))
        .await;
    assert_eq!(client.next().await.unwrap().1["id"], "a");
    assert_eq!(client.next().await.unwrap().1["is_all"], true);
    client.say(&json!({"type": "subscribe", "feed": "inbox"})).await;
    let mut journal = Journal::create(&stage.home);
    let data = json!({"request": "r1", "tool": "Bash", "kind": "execute"});
    journal.write(&json!({"agent_kind": "demo", "type": "permission_requested", "data": data}));
    let mut has_run = false;
    let mut has_ask = false;
    while !(has_run && has_ask) {
        let message = tokio::time::timeout(LONGEST, client.next())
            .await
            .unwrap()
            .unwrap()
            .1;
        has_run |= message["runs"][0]["activity"]["state"] == "waiting";
        has_ask |= message["approvals"][0]["request"] == "r1";
    }
    let data = json!({"request": "r1", "reason": "answered"});
    journal.write(&json!({"agent_kind": "demo", "type": "request_closed", "data": data}));
    journal.end();
    let (mut has_ended, mut is_empty) = (false, false);
    while !(has_ended && is_empty) {
        let message = tokio::time::timeout(LONGEST, client.next())
            .await
            .unwrap()
            .unwrap()
            .1;
        has_ended |= message["runs"][0]["activity"]["state"] == "ended";
        is_empty |= message["type"] == "inbox" && message["count"] == 0;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_understood_is_answered_and_the_connection_stays() {
    let stage = Stage::new().await;
    let mut client = Client::connect(stage.address).await;
    for (message, code) in [
        (
            json!({"type": "subscribe", "run": "20260101-000000-000000"}),
            "run_not_found",
        ),
        (json!({"type": "subscribe", "run": "../../etc"}), "run_not_found"),
        (json!({"type": "dance"}), "malformed"),
    ] {
        client.say(&message).await;
        assert_eq!(client.next().await.unwrap().1["code"], code, "{message}");
    }
    let command = json!({"type": "command", "id": "c", "run": "20260101-000000-000000", "command": {"command": "stop"}});
    client.say(&command).await;
    let receipt = client.next().await.unwrap().1;
    assert_eq!(
        (&receipt["id"], &receipt["error"]["code"]),
        (&json!("c"), &json!("run_not_found"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_has_the_code_that_the_api_gives_it() {
    let stage = Stage::new().await;
    let journal = Journal::create(&stage.home);
    let mut client = Client::connect(stage.address).await;
    let mut code_of = async |command: serde_json::Value| {
        let id = command["command"].as_str().unwrap().to_owned();
        let message = json!({"type": "command", "id": id, "run": journal.id(), "command": command});
        client.say(&message).await;
        let receipt = client.next().await.unwrap().1;
        assert_eq!(receipt["id"], json!(id));
        let error = &receipt["error"];
        assert_ne!(error["message"].as_str().unwrap(), "", "{receipt}");
        error["code"].as_str().unwrap().to_owned()
    };
    assert_eq!(code_of(json!({"command": "interrupt"})).await, "run_ended");
    let greeting = Greeting::new(journal.id(), RunState::Thinking);
    let mut runner = ControlServer::bind(journal.run.socket(), greeting).await.unwrap();
    let refusing = tokio::spawn(async move {
        loop {
            let incoming = runner.next().await;
            let code = match &incoming.command {
                ControlCommand::Answer { .. } => RefusalCode::AlreadyAnswered,
                ControlCommand::EditMessage { .. } => RefusalCode::AlreadySent,
                ControlCommand::WithdrawMessage { .. } => RefusalCode::NoSuchMessage,
                ControlCommand::Send { .. } => RefusalCode::Busy,
                _ => RefusalCode::Other,
            };
            incoming.reply.send(Err(Refusal::new(code, "not that")));
        }
    });
    let answer = json!({"command": "answer", "request": "r1", "answer": {"kind": "allow"}});
    assert_eq!(code_of(answer).await, "already_answered");
    let edit = json!({"command": "edit_message", "message_id": "m", "text": "x"});
    assert_eq!(code_of(edit).await, "already_sent");
    let withdraw = json!({"command": "withdraw_message", "message_id": "m"});
    assert_eq!(code_of(withdraw).await, "message_not_found");
    assert_eq!(
        code_of(json!({"command": "send", "text": "x"})).await,
        "runner_busy"
    );
    assert_eq!(code_of(json!({"command": "stop"})).await, "refused");
    refusing.abort();
}
