//! `PATCH` and `DELETE` of a run: titles, tags, and what is left after a deletion.

use std::io::Read as _;

use agent_api::AgentKind;
use ralph_run::model::RunState;
use ralph_run::{EndReason, RunDirectory, RunFile, RunKind, RunStatus, Runner};
use serde_json::json;

use crate::stage::{Stage, asked, ended, wrote};

/// Writes what a runner leaves when its run is over.
pub(crate) fn write_end(run: &RunDirectory) {
    let reason = EndReason::Completed.into();
    let file = RunFile {
        version: RunFile::VERSION,
        run_id: run.id().to_owned(),
        workspace: "/w".to_owned(),
        backend: AgentKind::DEMO,
        display_name: "Demo".to_owned(),
        model: None,
        agent_version: None,
        permission_mode: None,
        cwd: None,
        tools: Vec::new(),
        mcp_servers: Vec::new(),
        session_ids: Vec::new(),
        mode: None,
        task: None,
        kind: RunKind::Loop.into(),
        by: None,
        resumed_from: None,
        is_ephemeral: false,
        prompt: "do it".to_owned(),
        started_at: jiff::Timestamp::now(),
        ended_at: None,
        status: RunStatus {
            state: RunState::Ended { reason },
            ..RunStatus::default()
        },
        reason: None,
        exit_code: None,
        runner: Runner::current(),
        ralph_version: "0.1.0".to_owned(),
        other: serde_json::Map::new(),
    };
    std::fs::write(run.run_file(), serde_json::to_vec(&file).unwrap()).unwrap();
}

#[tokio::test]
async fn a_deleted_run_is_gone_from_every_view() {
    let stage = Stage::new().await;
    let run = stage
        .run(&[wrote(0, "findable words"), asked("r1"), ended()])
        .await;
    let other = stage.run(&[wrote(0, "findable words"), ended()]).await;
    let path = format!("/api/v1/runs/{}", run.id());
    assert_eq!(
        stage.with_body("DELETE", &path, &[], "").await.problem(),
        (409, "busy".into()),
        "nothing says that it has ended"
    );
    write_end(&run);
    let deleted = stage.with_body("DELETE", &path, &[], "").await;
    assert_eq!(
        (deleted.status, deleted.body.len()),
        (204, 0),
        "{}",
        deleted.text()
    );
    assert!(!run.path().exists());
    for view in [
        "",
        "/records",
        "/records/1",
        "/raw/1",
        "/messages",
        "/files?path=a",
        "/events",
    ] {
        let answer = stage.get(&format!("{path}{view}")).await;
        assert_eq!(answer.problem(), (404, "run_not_found".into()), "{view}");
    }
    for command in ["stop", "resume", "fork", "interrupt"] {
        let answer = stage.post_with(&format!("{path}/{command}"), &[], "").await;
        assert_eq!(answer.problem(), (404, "run_not_found".into()), "{command}");
    }
    let again = stage.with_body("DELETE", &path, &[], "").await;
    assert_eq!(again.problem(), (404, "run_not_found".into()));
    for (list, left) in [
        ("/api/v1/runs", 1),
        ("/api/v1/search?q=findable", 1),
        ("/api/v1/approvals", 0),
    ] {
        let list = stage.get(list).await.json();
        assert_eq!(list["items"].as_array().unwrap().len(), left, "{list}");
    }
    assert_eq!(
        stage.get(&format!("/api/v1/runs/{}", other.id())).await.status,
        200
    );
}

#[tokio::test]
async fn a_title_and_tags_are_shown_everywhere_and_survive_a_rebuilt_index() {
    let stage = Stage::new().await;
    let run = stage.run(&[ended()]).await;
    let other = stage.run(&[]).await;
    let path = format!("/api/v1/runs/{}", run.id());
    let change = json!({"title": " Fix the parser ", "tags": ["bug", "q4", "bug"]}).to_string();
    let changed = stage.with_body("PATCH", &path, &[], &change).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    let (title, tags) = (json!("Fix the parser"), json!(["bug", "q4"]));
    assert_eq!(
        (&changed.json()["title"], &changed.json()["tags"]),
        (&title, &tags)
    );
    // What is left out stays as it is.
    let one = stage
        .with_body("PATCH", &path, &[], r#"{"tags":["bug"]}"#)
        .await
        .json();
    assert_eq!((&one["title"], &one["tags"]), (&title, &json!(["bug"])));
    stage
        .with_body(
            "PATCH",
            &format!("/api/v1/runs/{}", other.id()),
            &[],
            r#"{"tags":["bug"]}"#,
        )
        .await;
    stage.app.store.clear().await.unwrap();
    let next = stage.beside().await;
    next.index().await;
    assert_eq!(next.get(&path).await.json()["title"], title);
    let ids = |page: serde_json::Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap().clone();
        items
            .iter()
            .map(|run| run["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let tagged = next.get("/api/v1/runs?tag=bug&state=ended").await.json();
    assert_eq!(ids(tagged), [run.id()]);
    assert!(ids(next.get("/api/v1/runs?tag=none").await.json()).is_empty());
    let first = next.get("/api/v1/runs?tag=bug&limit=1").await.json();
    let cursor = first["next"].as_str().unwrap();
    let second = next
        .get(&format!("/api/v1/runs?tag=bug&limit=1&cursor={cursor}"))
        .await;
    let mut both = [ids(first.clone()), ids(second.json())].concat();
    both.sort();
    let mut expected = [run.id().to_owned(), other.id().to_owned()];
    expected.sort();
    assert_eq!(both, expected);
    let reset = next.with_body("PATCH", &path, &[], r#"{"title":null}"#).await;
    assert_ne!(reset.json()["title"], title);
}

#[tokio::test]
async fn what_is_not_a_title_or_a_tag_is_refused() {
    let stage = Stage::new().await;
    let run = stage.run(&[]).await;
    let path = format!("/api/v1/runs/{}", run.id());
    for (body, pointer) in [
        (json!({"title": ""}), "/title"),
        (json!({"title": "a\nb"}), "/title"),
        (json!({"title": "x".repeat(201)}), "/title"),
        (json!({"tags": ["ok", "not ok"]}), "/tags/1"),
        (json!({"tags": [""]}), "/tags/0"),
        (json!({"tags": vec!["t"; 21]}), "/tags"),
    ] {
        let answer = stage.with_body("PATCH", &path, &[], &body.to_string()).await;
        assert_eq!(answer.problem(), (422, "unprocessable".into()), "{body}");
        assert_eq!(answer.json()["errors"][0]["pointer"], pointer);
    }
    let none = stage.with_body("PATCH", "/api/v1/runs/x", &[], "{}").await;
    assert_eq!(none.problem(), (404, "run_not_found".into()));
}

#[tokio::test]
async fn long_answers_are_compressed_for_those_who_ask_and_commands_never() {
    let stage = Stage::new().await;
    let events: Vec<_> = (0..50).map(|number| wrote(number, "the same words")).collect();
    let run = stage.run(&events).await;
    let bearer = stage.bearer();
    let headers = [
        ("authorization", bearer.as_str()),
        ("accept-encoding", "gzip, br"),
    ];
    let path = format!("/api/v1/runs/{}/records", run.id());
    let short = stage.ask("GET", &path, &headers, "").await;
    assert_eq!(short.header("content-encoding"), Some("gzip"));
    let plain = stage.get(&path).await;
    assert!(plain.header("content-encoding").is_none());
    assert!(short.body.len() * 4 < plain.body.len());
    for (path, method, body) in [
        ("/health", "GET", ""),
        ("/api/v1/runs", "POST", r#"{"workspace":"/w","prompt":"x"}"#),
        ("/api/v1/login-links", "POST", ""),
    ] {
        let json = [headers[0], headers[1], ("content-type", "application/json")];
        let answer = stage.ask(method, path, &json, body).await;
        assert_eq!(answer.status / 100, 2, "{path}: {}", answer.text());
        assert!(answer.header("content-encoding").is_none(), "{path}");
    }
    let mut long = Vec::new();
    let body = dechunked(&short.body);
    flate2::read::GzDecoder::new(body.as_slice())
        .read_to_end(&mut long)
        .unwrap();
    assert_eq!(long, plain.body);
}

/// The content of a body that was sent in chunks.
fn dechunked(mut body: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    loop {
        let end = body.windows(2).position(|pair| pair == b"\r\n").unwrap();
        let size = std::str::from_utf8(&body[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return content;
        }
        content.extend(&body[end + 2..end + 2 + size]);
        body = &body[end + 2 + size + 2..];
    }
}
