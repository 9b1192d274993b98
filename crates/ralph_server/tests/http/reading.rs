//! Reading what happened.

use std::sync::Arc;
use std::time::Duration;

use ralph_store::{PostgresOptions, PostgresStore};
use serde_json::{Value, json};
use test_support::postgres::PostgresServer;
use test_support::{FUTURE_RUN, future_journal, text_from};

use crate::stage::{Stage, asked, ended, wrote};

#[tokio::test]
async fn runs_are_listed_page_by_page_and_shown_one_by_one() {
    let stage = Stage::new().await;
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(stage.run(&[wrote(number, "hello")]).await.id().to_owned());
    }
    let mut seen = Vec::new();
    let mut path = "/api/v1/runs?limit=2".to_owned();
    loop {
        let page = stage.get(&path).await.json();
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 2);
        seen.extend(items.iter().map(|run| run["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else {
            break;
        };
        path = format!("/api/v1/runs?limit=2&cursor={next}");
    }
    seen.sort();
    assert_eq!(seen, ids);
    let run = stage.get(&format!("/api/v1/runs/{}", ids[0])).await.json();
    assert_eq!((&run["id"], &run["backend"]), (&json!(ids[0]), &json!("demo")));
    assert_eq!(stage.get("/api/v1/runs?cursor=mine").await.problem().0, 422);
    assert_eq!(stage.get("/api/v1/runs?limit=0").await.problem().0, 400);
    assert_eq!(stage.get("/api/v1/runs?limit=201").await.problem().0, 400);
    assert_eq!(stage.get("/api/v1/runs?colour=red").await.problem().0, 400);
    assert_eq!(stage.get("/api/v1/runs?since=yesterday").await.problem().0, 400);
}

#[tokio::test]
async fn records_are_read_forwards_and_backwards_without_a_gap() {
    let stage = Stage::new().await;
    let events: Vec<Value> = (0..25)
        .map(|number| wrote(number, &format!("text {number}")))
        .collect();
    let run = stage.run(&events).await;
    let path = format!("/api/v1/runs/{}/records", run.id());
    let seqs = |page: &Value| -> Vec<u64> {
        let records = page["items"].as_array().unwrap();
        records
            .iter()
            .map(|record| record["seq"].as_u64().unwrap())
            .collect()
    };
    let (mut forwards, mut after) = (Vec::new(), 0);
    loop {
        let page = stage.get(&format!("{path}?after={after}&limit=10")).await.json();
        assert_eq!(page["head_seq"], 26);
        forwards.extend(seqs(&page));
        match page["next_after"].as_u64() {
            Some(next) => after = next,
            None => break,
        }
    }
    assert_eq!(forwards, (1..=26).collect::<Vec<u64>>());
    let (mut backwards, mut before) = (Vec::new(), 27);
    loop {
        let page = stage
            .get(&format!("{path}?before={before}&limit=10"))
            .await
            .json();
        let mut seqs = seqs(&page);
        seqs.extend(backwards);
        backwards = seqs;
        match page["next_before"].as_u64() {
            Some(next) => before = next,
            None => break,
        }
    }
    assert_eq!(backwards, forwards);
    let one = stage.get(&format!("{path}/3")).await.json();
    assert_eq!(one["event"]["data"]["text"], "text 1");
    assert_eq!(
        seqs(
            &stage
                .get(&format!("{path}?kinds=run_started,nothing"))
                .await
                .json()
        ),
        [1]
    );
    for missing in ["0", "27", "18446744073709551615"] {
        let answer = stage.get(&format!("{path}/{missing}")).await;
        assert_eq!(answer.problem(), (404, "record_not_found".into()), "{missing}");
    }
    assert_eq!(stage.get(&format!("{path}/-1")).await.problem().0, 400);
}

#[tokio::test]
async fn a_page_of_long_records_is_bounded() {
    let stage = Stage::new().await;
    let text = "x".repeat(600_000);
    let events: Vec<Value> = (0..10).map(|number| wrote(number, &text)).collect();
    let run = stage.run(&events).await;
    let answer = stage
        .get(&format!("/api/v1/runs/{}/records?limit=1000", run.id()))
        .await;
    assert!(answer.body.len() < 2_200_000, "{}", answer.body.len());
    assert_eq!(answer.json()["next_after"], 4);
}

#[tokio::test]
async fn a_run_that_is_not_there_is_not_found_anywhere() {
    let stage = Stage::new().await;
    for id in [
        "20261116-000000-000000",
        "last",
        "2026",
        "..",
        "%2e%2e",
        "%00",
        "a%2fb",
        "x",
    ] {
        for rest in [
            "",
            "/records",
            "/records/1",
            "/raw/1",
            "/raw/1/stderr",
            "/messages",
            "/queue",
            "/files?path=a",
        ] {
            let answer = stage.get(&format!("/api/v1/runs/{id}{rest}")).await;
            assert_eq!(answer.problem().0, 404, "{id}{rest}");
        }
        let answer = stage
            .post_with(&format!("/api/v1/runs/{id}/stop"), &[], "{}")
            .await;
        assert_eq!(answer.problem().0, 404, "{id}");
    }
}

#[tokio::test]
async fn every_list_is_paged_by_its_cursor() {
    let stage = Stage::new().await;
    let message = |number: usize| {
        let data = json!({"command_id": format!("c{number}"), "command": "send", "mode": "queue",
            "message_id": format!("m{number}"), "text": "hello"});
        json!({"type": "command_received", "data": data})
    };
    let events: Vec<Value> = (0..5)
        .flat_map(|number| [message(number), asked(&format!("r{number}"))])
        .collect();
    let run = stage.run(&events).await;
    for _ in 0..4 {
        stage.run(&[asked("other")]).await;
    }
    let id = run.id();
    for (list, items) in [
        ("/api/v1/runs?".to_owned(), 5),
        (format!("/api/v1/runs/{id}/records?"), 11),
        (format!("/api/v1/runs/{id}/records?before=12&"), 11),
        (format!("/api/v1/runs/{id}/messages?"), 5),
        ("/api/v1/approvals?".to_owned(), 9),
        ("/api/v1/workspaces?".to_owned(), 1),
    ] {
        let whole = stage.get(&list).await.json();
        assert_eq!(whole["items"].as_array().unwrap().len(), items, "{list}: {whole}");
        let (mut paged, mut page) = (Vec::new(), stage.get(&format!("{list}limit=2")).await.json());
        loop {
            paged.extend(page["items"].as_array().unwrap().clone());
            let Some(next) = page["next"].as_str() else { break };
            let list = list.split("before").next().unwrap();
            page = stage.get(&format!("{list}limit=2&cursor={next}")).await.json();
        }
        let key = |item: &Value| item.to_string();
        let (mut paged, mut whole): (Vec<String>, Vec<String>) = (
            paged.iter().map(key).collect(),
            whole["items"].as_array().unwrap().iter().map(key).collect(),
        );
        // Backwards, each page is in order.
        paged.sort();
        whole.sort();
        assert_eq!(paged, whole, "{list}");
        let list = list.split("before").next().unwrap();
        let wrong = stage.get(&format!("{list}cursor=wrong")).await;
        assert_eq!(wrong.problem().0, 422, "{list}");
    }
    assert_eq!(stage.get("/api/v1/backends").await.json()["next"], Value::Null);
    let both = format!("/api/v1/runs/{id}/records?cursor=after:1&after=1");
    assert_eq!(stage.get(&both).await.problem(), (422, "unprocessable".into()));
}

#[tokio::test]
async fn runs_are_listed_by_their_state() {
    let stage = Stage::new().await;
    let working = stage.run(&[wrote(0, "x")]).await;
    let waiting = stage.run(&[asked("r")]).await;
    let over = stage.run(&[ended()]).await;
    for (state, expected) in [
        ("active", vec![waiting.id(), working.id()]),
        ("working", vec![working.id()]),
        ("waiting", vec![waiting.id()]),
        ("ended", vec![over.id()]),
    ] {
        let page = stage.get(&format!("/api/v1/runs?state={state}")).await.json();
        let mut ids: Vec<&str> = page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["id"].as_str().unwrap())
            .collect();
        ids.sort_unstable();
        let mut expected = expected;
        expected.sort_unstable();
        assert_eq!(ids, expected, "{state}");
    }
    for query in ["state=gone", "state=active&ended=false"] {
        let answer = stage.get(&format!("/api/v1/runs?{query}")).await;
        assert_eq!(answer.problem(), (400, "invalid_parameter".into()), "{query}");
    }
    let no_tag = stage.get("/api/v1/runs?tag=").await;
    assert_eq!(no_tag.problem(), (422, "unprocessable".into()));
}

#[tokio::test]
async fn a_run_that_has_not_changed_is_not_sent_again() {
    let stage = Stage::new().await;
    let run = stage.run(&[]).await;
    let path = format!("/api/v1/runs/{}", run.id());
    let first = stage.get(&path).await;
    let tag = first.header("etag").unwrap().to_owned();
    let bearer = stage.bearer();
    let headers = [
        ("authorization", bearer.as_str()),
        ("if-none-match", tag.as_str()),
    ];
    let again = stage.ask("GET", &path, &headers, "").await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(again.header("etag"), Some(tag.as_str()));
    stage.append(&run, &[wrote(0, "x")]);
    stage.index().await;
    let changed = stage.ask("GET", &path, &headers, "").await;
    assert_eq!(changed.status, 200);
    assert_ne!(changed.header("etag"), Some(tag.as_str()));
}

#[tokio::test]
async fn raw_output_is_given_byte_for_byte_and_in_ranges() {
    let stage = Stage::new().await;
    let run = stage.run(&[]).await;
    let bytes: Vec<u8> = (0..300_000_u32).map(|number| (number % 251) as u8).collect();
    std::fs::write(run.raw_log(1), &bytes).unwrap();
    std::fs::write(run.stderr_log(1), b"oops").unwrap();
    let path = format!("/api/v1/runs/{}/raw/1", run.id());
    let bearer = stage.bearer();
    let all = stage.get(&path).await;
    assert_eq!((all.status, &all.body), (200, &bytes));
    assert_eq!(stage.get(&format!("{path}/stderr")).await.body, b"oops");
    for (range, from, to) in [
        ("bytes=0-0", 0, 1),
        ("bytes=100000-199999", 100_000, 200_000),
        ("bytes=-7", 299_993, 300_000),
    ] {
        let headers = [("authorization", bearer.as_str()), ("range", range)];
        let answer = stage.ask("GET", &path, &headers, "").await;
        assert_eq!(
            (answer.status, answer.body.as_slice()),
            (206, &bytes[from..to]),
            "{range}"
        );
        let said = format!("bytes {from}-{}/300000", to - 1);
        assert_eq!(answer.header("content-range"), Some(said.as_str()));
    }
    let headers = [("authorization", bearer.as_str()), ("range", "bytes=300000-")];
    let answer = stage.ask("GET", &path, &headers, "").await;
    assert_eq!(answer.problem(), (416, "invalid_range".into()));
    assert_eq!(answer.header("content-range"), Some("bytes */300000"));
    assert_eq!(
        stage
            .get(&format!("/api/v1/runs/{}/raw/2", run.id()))
            .await
            .problem()
            .0,
        404
    );
    assert_eq!(
        stage
            .get(&format!("/api/v1/runs/{}/raw/x", run.id()))
            .await
            .problem()
            .0,
        400
    );
}

#[tokio::test]
async fn files_are_shown_beneath_the_workspace_and_nowhere_else() {
    let stage = Stage::new().await;
    let workspace = stage.workspace();
    std::fs::create_dir_all(workspace.join("src")).unwrap();
    std::fs::write(workspace.join("src/a b.rs"), "fn main() {}").unwrap();
    std::fs::write(workspace.join("image"), [0, 1, 2, 255]).unwrap();
    std::fs::write(workspace.join("large"), "é".repeat(700_000)).unwrap();
    std::fs::write(stage.directory.path().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink("../secret", workspace.join("link")).unwrap();
    let run = stage.run(&[]).await;
    let path = format!("/api/v1/runs/{}/files?path=", run.id());
    let text = stage.get(&format!("{path}src/a%20b.rs")).await.json();
    assert_eq!(
        (&text["encoding"], &text["content"]),
        (&json!("utf-8"), &json!("fn main() {}"))
    );
    let image = stage.get(&format!("{path}image")).await.json();
    assert_eq!(
        (&image["encoding"], &image["content"]),
        (&json!("base64"), &json!("AAEC/w=="))
    );
    let large = stage.get(&format!("{path}large")).await.json();
    assert_eq!(
        (&large["is_truncated"], &large["size_bytes"]),
        (&json!(true), &json!(1_400_000))
    );
    assert_eq!(large["content"].as_str().unwrap().len(), 1024 * 1024);
    for outside in [
        "../secret",
        "..%2fsecret",
        "%2e%2e/secret",
        "src/../../secret",
        "src%2f..%2f..%2fsecret",
        "/etc/hostname",
        "%2fetc%2fhostname",
        "link",
        "src",
        ".",
        "..",
        "",
        "%00",
        "src/a%20b.rs%00",
        "..\\secret",
        "..%5csecret",
        "%252e%252e/secret",
        "....//secret",
        "nothing",
    ] {
        let answer = stage.get(&format!("{path}{outside}")).await;
        assert_eq!(answer.problem(), (404, "file_not_found".into()), "{outside}");
    }
    let long = "x".repeat(5000);
    assert_eq!(stage.get(&format!("{path}{long}")).await.problem().0, 404);
}

#[tokio::test]
async fn what_agents_ask_what_is_found_and_what_is_spent_can_be_read() {
    let stage = Stage::new().await;
    let run = stage
        .run(&[wrote(0, "the needle in the haystack"), asked("r1")])
        .await;
    let over = stage.run(&[asked("r2"), ended()]).await;
    let all = stage.get("/api/v1/approvals").await.json();
    assert_eq!(all["items"].as_array().unwrap().len(), 2);
    let pending = stage.get("/api/v1/approvals?pending=true").await.json();
    assert_eq!(pending["items"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&pending["items"][0]["run"], &pending["items"][0]["request"]),
        (&json!(run.id()), &json!("r1"))
    );
    assert_eq!(pending["items"][0]["data"]["tool"], "Bash");
    let found = stage.get("/api/v1/search?q=needle").await.json();
    assert_eq!(
        (&found["items"][0]["run"], &found["items"][0]["seq"]),
        (&json!(run.id()), &json!(2))
    );
    assert_eq!(stage.get("/api/v1/search").await.problem().0, 400);
    assert_eq!(stage.get("/api/v1/search?q=").await.problem().0, 400);
    assert!(stage.get("/api/v1/costs?group=model").await.json()["items"].is_array());
    assert!(stage.get("/api/v1/sessions").await.json()["items"].is_array());
    assert!(stage.get("/api/v1/sessions/s/runs").await.json()["items"].is_array());
    assert_eq!(
        stage.get("/api/v1/backends").await.json()["items"][0]["name"],
        "demo"
    );
    let metrics = stage.get("/metrics").await;
    assert!(metrics.header("content-type").unwrap().starts_with("text/plain"));
    for line in [
        "ralph_runs_ended{reason=\"completed\"} 1",
        "ralph_pending_approvals 1",
        "ralph_queued_messages 0",
        "ralph_websocket_clients 0",
        "ralph_tool_duration_seconds_count 0",
    ] {
        assert!(
            metrics.text().lines().any(|there| there == line),
            "{line}\n{}",
            metrics.text()
        );
    }
    assert!(metrics.text().lines().any(|line| line == "ralph_index_up 1"));
    drop(over);
}

#[tokio::test]
async fn what_the_server_counts_itself_is_told_without_the_index() {
    let stage = Stage::new().await;
    stage.app.metrics.observe_tool(Duration::from_millis(20));
    stage.app.store.close().await.unwrap();
    let metrics = stage.get("/metrics").await;
    assert_eq!(metrics.status, 200);
    for line in [
        "ralph_index_up 0",
        "ralph_websocket_clients 0",
        "ralph_tool_duration_seconds_count 1",
    ] {
        assert!(
            metrics.text().lines().any(|there| there == line),
            "{}",
            metrics.text()
        );
    }
    assert!(!metrics.text().contains("ralph_runs_ended"));
}

#[tokio::test]
async fn figures_that_cannot_be_added_up_leave_the_others_on_the_page() {
    let server = PostgresServer::shared().unwrap();
    let url = server.create_database().unwrap();
    let store = PostgresStore::connect(PostgresOptions::new(&url), |_| {});
    let stage = Stage::with_index(Arc::new(store.await.unwrap())).await;
    let database = url.rsplit('/').next().unwrap();
    server.execute(database, "DROP TABLE ralph.usage_day").unwrap();
    assert_eq!(stage.get("/api/v1/costs").await.problem().0 / 100, 5);
    let metrics = stage.get("/metrics").await;
    assert_eq!(metrics.status, 200);
    for line in [
        "ralph_index_up 1",
        "ralph_pending_approvals 0",
        "ralph_text_index_lag_records 0",
        "ralph_websocket_clients 0",
    ] {
        assert!(
            metrics.text().lines().any(|there| there == line),
            "{line}\n{}",
            metrics.text()
        );
    }
    assert!(!metrics.text().contains("ralph_tokens"));
}

#[tokio::test]
async fn health_is_for_everybody_and_tells_nothing() {
    let stage = Stage::new().await;
    let health = stage.ask("GET", "/health", &[], "").await;
    assert_eq!(health.text(), r#"{"status":"ok"}"#);
    let ready = stage.get("/ready").await.json();
    assert_eq!(
        (&ready["is_ready"], &ready["engine"]),
        (&json!(true), &json!("sqlite"))
    );
    stage.app.store.close().await.unwrap();
    assert_eq!(stage.get("/api/v1/runs").await.problem().0 / 100, 5);
}

#[tokio::test]
async fn the_page_and_the_document_are_there() {
    let stage = Stage::new().await;
    let page = stage.ask("GET", "/", &[], "").await;
    assert_eq!(
        (page.status, page.header("content-type")),
        (200, Some("text/html; charset=utf-8"))
    );
    // Nothing inline: the policy would not run it.
    assert!(!page.text().contains("<script>") && !page.text().contains("<style"));
    let document = stage.get("/api/v1/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
}

#[tokio::test]
async fn requests_costs_and_the_runs_of_a_conversation_come_in_pages() {
    let stage = Stage::new().await;
    let session = json!({"agent_kind": "demo", "type": "session_started", "data": {"session_id": "s"}});
    let used = json!({"agent_kind": "demo", "type": "usage", "data": {"scope": "step", "model": "m",
        "tokens": {}, "run": {"tokens": {"input": 1, "output": 1}, "is_partial": true}}});
    for _ in 0..3 {
        stage
            .run(&[session.clone(), asked("one"), asked("two"), used.clone()])
            .await;
    }
    for (path, count) in [
        ("/api/v1/approvals?pending=true", 6),
        ("/api/v1/costs?group=run", 3),
        ("/api/v1/sessions/s/runs?", 3),
    ] {
        let whole = stage.get(path).await.json();
        let all = whole["items"].as_array().unwrap();
        assert_eq!(
            (all.len(), &whole["next"]),
            (count, &Value::Null),
            "{path}: {whole}"
        );
        let mut pages: Vec<Value> = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = stage.get(&format!("{path}&limit=2{cursor}")).await.json();
            let items = page["items"].as_array().unwrap();
            assert!((1..=2).contains(&items.len()), "{path}: {page}");
            pages.extend(items.iter().cloned());
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={}", next.replace('+', "%2B")),
                None => break,
            }
        }
        assert_eq!(pages, *all, "{path}");
    }
    let wrong = stage.get("/api/v1/approvals?cursor=mine").await;
    assert_eq!(wrong.problem(), (422, "unprocessable".into()));
}

#[tokio::test]
async fn what_a_new_run_can_be_asked_is_told() {
    let stage = Stage::new().await;
    let run = stage.run(&[wrote(1, "hello"), ended()]).await;
    let backend = stage.get("/api/v1/backends").await.json()["items"][0].clone();
    assert_eq!(backend["permission_modes"], json!(["ask", "accept_edits"]));
    assert_eq!(
        (&backend["takes_model"], &backend["can_fork"]),
        (&json!(true), &json!(false))
    );
    // Nobody knows where this one was.
    let lost = stage.home.create_run(jiff::Timestamp::now()).unwrap();
    let second =
        json!({"seq": 2, "at": "2026-11-16T04:00:00Z", "iteration": 1, "attempt": 1, "event": wrote(1, "x")});
    std::fs::write(lost.journal(), format!("damaged\n{second}\n")).unwrap();
    stage.index().await;
    let known = stage.get(&format!("/api/v1/runs/{}", lost.id())).await.json();
    assert_eq!(known["workspace"], "");
    let places = stage.get("/api/v1/workspaces").await.json();
    assert_eq!(places["items"].as_array().unwrap().len(), 1);
    let place = &places["items"][0];
    assert_eq!(place["path"], stage.workspace().to_string_lossy().as_ref());
    assert_eq!(
        (&place["last_run"], &place["is_there"], &place["runs"]),
        (&json!(run.id()), &json!(false), &json!(1))
    );
    assert_eq!(stage.get("/api/v1/workspaces?limit=0").await.problem().0, 400);
}

#[tokio::test]
async fn a_run_is_searched_for_characters_in_all_that_was_said_and_done() {
    let stage = Stage::new().await;
    let event = |kind: &str, data: Value| json!({"agent_kind": "demo", "type": kind, "data": data});
    let told = |words: &str| {
        [
            event(
                "thinking_block",
                json!({"item": "a", "text": format!("x{words}1x")}),
            ),
            event(
                "tool_started",
                json!({"item": "b", "name": "Bash", "kind": "execute", "state": "running",
                    "input": {"command": format!("x{words}2x")}}),
            ),
            event(
                "tool_finished",
                json!({"item": "b", "status": "failed", "output": format!("x{words}3x")}),
            ),
            event(
                "user_message",
                json!({"item": "c", "text": format!("x{words}4x")}),
            ),
            wrote(5, &format!("x{words}5x")),
        ]
    };
    let run = stage.run(&told("needle")).await;
    stage.run(&told("needle")).await;
    for number in 1..=5 {
        let path = format!("/api/v1/search?run={}&mode=substring&q=edle{number}", run.id());
        let found = stage.get(&path).await.json();
        let items = found["items"].as_array().unwrap();
        assert_eq!(items.len(), 1, "{number}: {found}");
        assert_eq!(
            (&items[0]["run"], &items[0]["seq"]),
            (&json!(run.id()), &json!(number + 1))
        );
        assert_eq!(found["is_complete"], true);
    }
}

#[tokio::test]
async fn a_run_of_a_newer_version_is_listed_and_its_records_are_passed_on_as_written() {
    let stage = Stage::new().await;
    let run = stage.home.create_run_as(FUTURE_RUN).unwrap();
    std::fs::write(run.journal(), future_journal(1)).unwrap();
    stage.index().await;
    let summary = stage.get(&format!("/api/v1/runs/{FUTURE_RUN}")).await.json();
    assert_eq!(summary["reason"], json!({"limit": "energy"}));
    assert_eq!(summary["kind"], "swarm");
    assert_eq!(
        summary["activity"],
        json!({"state": "ended", "reason": {"limit": "energy"}})
    );
    assert_eq!(summary["totals"]["cost_micro_usd"], 2000);
    let page = stage
        .get(&format!("/api/v1/runs/{FUTURE_RUN}/records"))
        .await
        .json();
    let written: Vec<Value> = future_journal(1)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(page["items"], json!(written));
}

#[tokio::test]
async fn a_run_of_a_newer_format_is_listed_with_what_to_do() {
    let stage = Stage::new().await;
    let run = stage.home.create_run_as(FUTURE_RUN).unwrap();
    std::fs::write(run.journal(), future_journal(2)).unwrap();
    stage.index().await;
    let summary = stage.get(&format!("/api/v1/runs/{FUTURE_RUN}")).await.json();
    assert_eq!(
        summary["message"],
        "the journal has format 2; this version of ralph reads up to 1. Upgrade ralph to read it."
    );
    assert_eq!(summary["totals"].get("cost_micro_usd"), None);
    let page = stage
        .get(&format!("/api/v1/runs/{FUTURE_RUN}/records"))
        .await
        .json();
    assert_eq!(page["items"], json!([]));
}

#[tokio::test]
async fn text_that_a_block_leaves_to_its_deltas_is_in_pages_and_in_events() {
    let stage = Stage::new().await;
    let delta = |text: &str| {
        let data = json!({"item": "m/1", "part": "text", "text": text});
        json!({"agent_kind": "demo", "type": "delta", "data": data})
    };
    let run = stage.run(&[delta("The quick "), delta("brown fox ")]).await;
    let journal = std::fs::read_to_string(run.journal()).unwrap();
    let start = journal.find('\n').unwrap() + 1;
    let rest = json!({"agent_kind": "demo", "type": "text_block_rest", "data": {
        "item": "m/1", "text": "jumps.", "text_from": text_from(start, "The quick brown fox "),
    }});
    let mut whole_text = text_from(start, "The quick brown fox jumps.");
    whole_text["item"] = json!("m/1");
    let turn = json!({"agent_kind": "demo", "type": "turn_finished", "data": {
        "number": 1, "outcome": "succeeded", "text_from": whole_text,
    }});
    stage.append(&run, &[rest, turn, ended()]);
    let path = format!("/api/v1/runs/{}", run.id());
    // From the journal alone, and with the index.
    for _ in 0..2 {
        let page = stage
            .get(&format!("{path}/records?kinds=text_block,turn_finished"))
            .await
            .json();
        let records = page["items"].as_array().unwrap();
        let data = json!({"item": "m/1", "text": "The quick brown fox jumps."});
        assert_eq!(records[0]["event"]["data"], data, "{page}");
        assert_eq!(records[1]["event"]["data"]["text"], data["text"]);
        stage.index().await;
    }
    for after in [1, 3] {
        let events = stage.get(&format!("{path}/events?after={after}")).await.text();
        assert!(
            events.contains(r#""text":"The quick brown fox jumps.""#),
            "{events}"
        );
        assert!(!events.contains("text_from"), "{events}");
    }
}
