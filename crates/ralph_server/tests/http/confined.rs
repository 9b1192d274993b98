//! What a token that is confined to a workspace is shown: all of its own, and nothing of another one.

use std::path::PathBuf;

use axum::http::Method;
use ralph_run::RunDirectory;
use ralph_server::http::{Policy, RouteInfo, routes};
use ralph_server::{NewToken, Scope, StartLimits};
use serde_json::{Value, json};

use crate::changing::write_end;
use crate::socket::Socket;
use crate::stage::{Stage, asked, ended, wrote};

/// A server with a run in each of two workspaces, and a token for the first.
struct Confined {
    stage: Stage,
    own: RunDirectory,
    bearer: String,
}

impl Confined {
    async fn new() -> Self {
        let stage = Stage::new().await;
        let own = stage.run_in(&workspace(&stage, "own"), &events()).await;
        let bearer = confined_token(&stage, "own");
        Self { stage, own, bearer }
    }

    /// A run elsewhere that fits every question about the own one.
    async fn add_other(&self) -> RunDirectory {
        let other = self
            .stage
            .run_in(&workspace(&self.stage, "own-not"), &events())
            .await;
        self.tag(&other).await;
        other
    }

    async fn tag(&self, run: &RunDirectory) {
        let path = format!("/api/v1/runs/{}", run.id());
        let body = r#"{"tags":["shared"]}"#;
        let answer = self.stage.with_body("PATCH", &path, &[], body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        let headers = [("authorization", self.bearer.as_str())];
        let answer = self.stage.ask("GET", path, &headers, "").await;
        (answer.status, answer.json())
    }
}

fn workspace(stage: &Stage, name: &str) -> PathBuf {
    stage.directory.path().join(name)
}

fn confined_token(stage: &Stage, name: &str) -> String {
    stage.token_with(NewToken {
        name: name.to_owned(),
        scope: Scope::Admin,
        workspaces: vec![workspace(stage, name)],
        expires_at: None,
        limits: StartLimits::default(),
    })
}

fn events() -> [Value; 4] {
    let usage = json!({
        "scope": "step", "tokens": {}, "model": "model",
        "run": {"tokens": {"input": 10, "output": 1}, "is_partial": true},
    });
    [
        json!({"agent_kind": "demo", "type": "session_started", "data": {"session_id": "shared"}}),
        wrote(1, "needle"),
        json!({"agent_kind": "demo", "type": "usage", "data": usage}),
        asked("request-1"),
    ]
}

/// Every address that lists something, with everything that it can be asked.
fn questions() -> Vec<String> {
    let lists = routes().into_iter().filter(|route| {
        route.method == Method::GET
            && route.is_confined
            && matches!(route.policy, Policy::Scope(_))
            && !route.path.contains("{id}")
            && !route.path.ends_with("/stream")
    });
    let asked = |route: RouteInfo| {
        let path = route.path.replace("{session}", "shared");
        let queries: &[&str] = match route.path.as_str() {
            "/api/v1/runs" => &["", "?tag=shared", "?state=waiting", "?limit=1", "?backend=demo"],
            "/api/v1/approvals" => &["", "?pending=true", "?limit=1"],
            "/api/v1/costs" => &[
                "?group=day",
                "?group=model",
                "?group=workspace",
                "?group=backend",
                "?group=run",
            ],
            "/api/v1/search" => &[
                "?q=needle",
                "?q=needle&mode=substring",
                "?q=Bash",
                "?q=needle&limit=1",
            ],
            _ => &[""],
        };
        queries
            .iter()
            .map(|query| format!("{path}{query}"))
            .collect::<Vec<_>>()
    };
    lists.flat_map(asked).collect()
}

#[tokio::test]
async fn no_list_changes_with_what_happens_in_another_workspace() {
    let stage = Confined::new().await;
    stage.tag(&stage.own).await;
    let questions = questions();
    for list in [
        "runs?",
        "approvals",
        "costs",
        "search",
        "sessions",
        "sessions/shared",
        "workspaces",
    ] {
        let is_asked = |question: &String| question.starts_with(&format!("/api/v1/{list}"));
        assert!(questions.iter().any(is_asked), "{list} is not tried");
    }
    let mut before = Vec::new();
    for question in &questions {
        let (status, answer) = stage.get(question).await;
        assert_eq!(status, 200, "{question}: {answer}");
        before.push(answer);
    }
    let other = stage.add_other().await;
    let mut with_other = 0;
    for (question, before) in questions.iter().zip(before) {
        let (status, answer) = stage.get(question).await;
        assert_eq!((status, &answer), (200, &before), "{question}");
        // The owner, who may see both, is told more.
        with_other += usize::from(stage.stage.get(question).await.json() != before);
    }
    assert!(
        with_other >= 15,
        "only {with_other} questions have an answer that the other run changes"
    );
    let own = workspace(&stage.stage, "own");
    for (question, found) in [
        ("/api/v1/runs", "id"),
        ("/api/v1/approvals", "run"),
        ("/api/v1/search?q=needle", "run"),
    ] {
        let (_, answer) = stage.get(question).await;
        assert_eq!(answer["items"][0][found], stage.own.id(), "{question}");
        let narrowed = question.replace("?q", "?x").contains('?');
        let link = if narrowed { '&' } else { '?' };
        if question != "/api/v1/approvals" {
            let path = other_question(question, link, &workspace(&stage.stage, "own-not"));
            assert_eq!(stage.get(&path).await.1["items"], json!([]), "{path}");
        }
    }
    let (_, spent) = stage.get("/api/v1/costs?group=workspace").await;
    assert_eq!(spent["items"][0]["key"], own.to_str().unwrap());
    // What a deleted run cost is still asked for by its workspace.
    let path = format!("/api/v1/runs/{}", other.id());
    write_end(&other);
    let bearer = stage.stage.bearer();
    let deleted = stage
        .stage
        .ask("DELETE", &path, &[("authorization", &bearer)], "")
        .await;
    assert_eq!(deleted.status, 204, "{deleted:?}");
    assert_eq!(stage.get("/api/v1/costs?group=workspace").await.1, spent);
}

fn other_question(question: &str, link: char, workspace: &std::path::Path) -> String {
    format!("{question}{link}workspace={}", workspace.display())
}

#[tokio::test]
async fn a_search_goes_on_where_it_was_and_its_cursor_says_nothing_of_the_index() {
    let stage = Confined::new().await;
    let own = workspace(&stage.stage, "own");
    for _ in 0..3 {
        stage.add_other().await;
        stage.stage.run_in(&own, &events()).await;
    }
    for mode in ["words", "substring"] {
        let path = format!("/api/v1/search?q=needle&limit=1&mode={mode}");
        let (mut found, mut next) = (Vec::new(), String::new());
        loop {
            let (status, page) = stage.get(&format!("{path}{next}")).await;
            assert_eq!(status, 200, "{page}");
            found.extend(
                page["items"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|hit| hit["run"].clone()),
            );
            let Some(cursor) = page["next"].as_str() else {
                break;
            };
            assert!(
                cursor.len() == 32 && cursor.bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{cursor}"
            );
            next = format!("&cursor={cursor}");
        }
        assert_eq!(found.len(), 4, "{mode}: {found:?}");
    }
    // A cursor is of use to the token that it was given to, and to nobody else.
    let (_, page) = stage.get("/api/v1/search?q=needle&limit=1").await;
    let next = format!(
        "/api/v1/search?q=needle&limit=1&cursor={}",
        page["next"].as_str().unwrap()
    );
    let other = confined_token(&stage.stage, "own-not");
    let refused = stage
        .stage
        .ask("GET", &next, &[("authorization", &other)], "")
        .await;
    assert_eq!(refused.problem(), (422, "unprocessable".into()));
    assert_eq!(stage.get(&next).await.0, 200);
}

#[tokio::test]
async fn what_cannot_be_shown_in_part_is_refused() {
    let stage = Confined::new().await;
    for path in ["/metrics", "/ready"] {
        let headers = [("authorization", stage.bearer.as_str())];
        let answer = stage.stage.ask("GET", path, &headers, "").await;
        assert_eq!(answer.problem(), (403, "insufficient_scope".into()), "{path}");
    }
}

#[tokio::test]
async fn the_live_lists_have_the_own_runs_and_say_nothing_of_others() {
    let Confined { stage, own, bearer } = Confined::new().await;
    let other = stage.run_in(&workspace(&stage, "own-not"), &events()).await;
    let working = tokio::spawn(stage.app.live.clone().work());
    let mut owner = Socket::open(&stage, &stage.bearer()).await;
    let mut socket = Socket::open(&stage, &bearer).await;
    let runs = json!({"type": "subscribe", "feed": "runs", "protocol": 2});
    let has = |message: &Value, run: &RunDirectory| message.to_string().contains(run.id());
    for each in [&mut owner, &mut socket] {
        assert_eq!(each.ask(&runs).await["type"], "subscribed");
    }
    owner.until(|message| has(message, &other)).await;
    let mut told = socket.next().await;
    if !has(&told, &own) {
        told = socket.next().await;
    }
    assert!(has(&told, &own), "{told}");
    let version = told["version"].as_u64().unwrap();
    // Other runs work and are deleted, and the owner is told.
    stage.append(&other, &[asked("request-2"), ended()]);
    owner
        .until(|message| has(message, &other) && message.to_string().contains("completed"))
        .await;
    write_end(&other);
    let path = format!("/api/v1/runs/{}", other.id());
    let owner_bearer = stage.bearer();
    let deleted = stage
        .ask("DELETE", &path, &[("authorization", &owner_bearer)], "")
        .await;
    assert_eq!(deleted.status, 204, "{deleted:?}");
    owner
        .until(|message| message["removed"] == json!([other.id()]))
        .await;
    // The next thing that a confined client hears is of its own, and no number is left out.
    stage.append(&own, &[asked("request-2")]);
    let next = socket.next().await;
    assert_eq!(next["version"], version + 1, "{next}");
    assert_eq!(next["runs"][0]["id"], own.id());
    let inbox = json!({"type": "subscribe", "feed": "inbox"});
    assert_eq!(socket.ask(&inbox).await["type"], "subscribed");
    let told = socket.until(|message| message["type"] == "inbox").await;
    assert_eq!(
        (&told["version"], &told["count"]),
        (&json!(1), &json!(2)),
        "{told}"
    );
    working.abort();
}

#[tokio::test]
async fn a_run_is_watched_by_its_workspace_also_after_its_end() {
    let stage = Confined::new().await;
    let (own, other) = (
        stage
            .stage
            .run_in(&workspace(&stage.stage, "own"), &[ended()])
            .await,
        stage
            .stage
            .run_in(&workspace(&stage.stage, "own-not"), &[ended()])
            .await,
    );
    for run in [&own, &other] {
        stage.stage.lose_runner(run);
    }
    let mut socket = Socket::open(&stage.stage, &stage.bearer).await;
    let subscribe = |run: &str| json!({"type": "subscribe", "run": run, "after": 0, "id": "x"});
    assert_eq!(socket.ask(&subscribe(own.id())).await["type"], "subscribed");
    socket.until(|message| message["type"] == "records").await;
    let command =
        json!({"type": "command", "id": "c", "run": other.id(), "command": {"command": "interrupt"}});
    let refused = socket.ask(&command).await;
    assert_eq!(refused["error"]["code"], "run_not_found", "{refused}");
    // What it may not see is refused as what is not there.
    let refused = |run: &str| json!({"type": "error", "id": "x", "code": "run_not_found", "message": format!("there is no run `{run}`")});
    for run in [other.id(), "20200101-000000-000000"] {
        assert_eq!(socket.ask(&subscribe(run)).await, refused(run));
    }
    let headers = [("authorization", stage.bearer.as_str())];
    for (run, status) in [(&own, 200), (&other, 404)] {
        let path = format!("/api/v1/runs/{}/events?after=0", run.id());
        assert_eq!(stage.stage.ask("GET", &path, &headers, "").await.status, status);
    }
}
