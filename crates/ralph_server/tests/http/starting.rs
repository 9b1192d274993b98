//! Starting runs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ralph_server::{LaunchError, SessionStart, UntrustedWorkspace};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::agent::Runner;
use crate::stage::{Gate, Stage, write_journal};

#[tokio::test]
async fn a_run_is_started_as_asked() {
    let stage = Stage::new().await;
    let body = json!({"workspace": "/w", "prompt": "do it", "backend": "demo", "limits": {"cost_micro_usd": 1_500_000},
        "permission_mode": "ask", "kind": "session"});
    let answer = stage.post("/api/v1/runs", &body).await;
    // Nobody asks for it again: whoever makes its directory names it, so that no other run has the name.
    let name = "20261116-030000-000000";
    assert_eq!(answer.status, 201);
    let path = format!("/api/v1/runs/{name}");
    assert_eq!(answer.header("location"), Some(path.as_str()));
    assert_eq!(answer.json(), stage.get(&path).await.json());
    let started = stage.launcher.started.lock().unwrap().clone();
    assert_eq!(started[0].prompt.as_deref(), Some("do it"));
    assert_eq!(started[0].max_cost_micro_usd, Some(1_500_000));
    assert_eq!(started[0].session, SessionStart::New);
}

#[tokio::test]
async fn what_cannot_be_started_is_refused_before_it_is_tried() {
    let stage = Stage::new().await;
    for body in [
        json!({"workspace": "relative", "prompt": "x"}),
        json!({"workspace": "/w"}),
        json!({"workspace": "/w", "prompt": "  "}),
        json!({"workspace": "/w\u{0}", "prompt": "x"}),
        json!({"workspace": "/w", "prompt": "x\u{0}"}),
        json!({"workspace": "/w", "prompt": "x", "backend": "a\nb"}),
        json!({"workspace": "/w", "prompt": "x", "limits": {"cost_usd": -1.0}}),
        json!({"workspace": "/w", "prompt": "x", "limits": {"cost_usd": 1.0, "cost_micro_usd": 1}}),
    ] {
        let answer = stage.post("/api/v1/runs", &body).await;
        assert_eq!(answer.problem(), (422, "unprocessable".into()), "{body}");
        let error = &answer.json()["errors"][0];
        let pointer = error["pointer"].as_str().unwrap();
        assert!(pointer.starts_with('/') && error["detail"].is_string(), "{error}");
    }
    let large = json!({"workspace": "/w", "prompt": "x".repeat(1_000_000)});
    assert_eq!(
        stage.post("/api/v1/runs", &large).await.problem(),
        (413, "too_large".into())
    );
    assert!(stage.launcher.started.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_limit_in_dollars_is_still_read() {
    let stage = Stage::new().await;
    for (dollars, micros) in [
        (json!(1.5), 1_500_000),
        (json!(0.1), 100_000),
        (json!(0.000_000_1), 1),
        (json!(0), 0),
    ] {
        let body = json!({"workspace": "/w", "prompt": "x", "limits": {"cost_usd": dollars}});
        assert_eq!(stage.post("/api/v1/runs", &body).await.status, 201, "{body}");
        let started = stage.launcher.started.lock().unwrap().pop().unwrap();
        assert_eq!(started.max_cost_micro_usd, Some(micros), "{body}");
    }
}

#[tokio::test]
async fn a_body_that_does_not_fit_says_where() {
    let stage = Stage::new().await;
    for (body, pointer) in [
        (json!({"workspace": "/w", "prompt": 3}), "/prompt"),
        (
            json!({"workspace": "/w", "limits": {"turns": -1}}),
            "/limits/turns",
        ),
        (json!({"workspace": "/w", "verify": ["a", 1]}), "/verify/1"),
        (json!({"workspace": "/w", "a/b~c": 1}), "/a~1b~0c"),
        (json!({"prompt": "x"}), ""),
    ] {
        let answer = stage.post("/api/v1/runs", &body).await;
        assert_eq!(answer.problem(), (400, "invalid_body".into()), "{body}");
        assert_eq!(answer.json()["errors"][0]["pointer"], pointer, "{body}");
    }
    let answer = stage.post_with("/api/v1/runs", &[], "{} x").await;
    assert_eq!(answer.problem(), (400, "invalid_body".into()));
    let answer = stage
        .post_with("/api/v1/runs", &[], r#"{"workspace": "/w"} x"#)
        .await;
    assert_eq!(answer.problem(), (400, "malformed_json".into()));
    assert!(answer.json().get("errors").is_none());
}

fn untrusted() -> UntrustedWorkspace {
    UntrustedWorkspace {
        settings: Vec::new(),
        files: Vec::new(),
        digest: None,
    }
}

#[tokio::test]
async fn why_a_run_did_not_start_is_told() {
    let stage = Stage::new().await;
    let body = json!({"workspace": "/w", "prompt": "x"});
    let message = || "because".to_owned();
    for (error, expected) in [
        (
            LaunchError::Invalid {
                message: message(),
                pointer: None,
            },
            (422, "unprocessable"),
        ),
        (LaunchError::Busy { message: message() }, (409, "busy")),
        (
            LaunchError::Untrusted {
                message: message(),
                workspace: untrusted(),
            },
            (409, "untrusted_workspace"),
        ),
        (
            LaunchError::BackendUnavailable { message: message() },
            (422, "backend_unavailable"),
        ),
        (LaunchError::Failed { message: message() }, (500, "internal")),
    ] {
        *stage.launcher.refuse.lock().unwrap() = Some(error);
        let answer = stage.post("/api/v1/runs", &body).await;
        assert_eq!(answer.problem(), (expected.0, expected.1.to_owned()));
    }
}

#[tokio::test]
async fn a_start_with_a_key_happens_once() {
    let stage = Stage::new().await;
    let body = json!({"workspace": "/w", "prompt": "x"}).to_string();
    let key = [("idempotency-key", "k1")];
    let first = stage.post_with("/api/v1/runs", &key, &body).await;
    let again = stage.post_with("/api/v1/runs", &key, &body).await;
    assert_eq!((first.json(), 201), (again.json(), again.status));
    let other = json!({"workspace": "/w", "prompt": "y"}).to_string();
    let answer = stage.post_with("/api/v1/runs", &key, &other).await;
    assert_eq!(answer.problem(), (422, "key_reused".into()));
    assert_eq!(stage.launcher.started.lock().unwrap().len(), 1);
    for bad in ["", &"k".repeat(256)] {
        let answer = stage
            .post_with("/api/v1/runs", &[("idempotency-key", bad)], &body)
            .await;
        assert_eq!(answer.problem(), (400, "invalid_parameter".into()), "{bad:?}");
    }
    // What was refused may be tried again under its key.
    let key = [("idempotency-key", "k2")];
    for (error, status) in [
        (
            LaunchError::Busy {
                message: "busy".into(),
            },
            409,
        ),
        (
            LaunchError::Untrusted {
                message: "not trusted".into(),
                workspace: untrusted(),
            },
            409,
        ),
        (
            LaunchError::BackendUnavailable {
                message: "not logged in".into(),
            },
            422,
        ),
    ] {
        *stage.launcher.refuse.lock().unwrap() = Some(error);
        let answer = stage.post_with("/api/v1/runs", &key, &body).await;
        assert_eq!(answer.status, status);
    }
    *stage.launcher.refuse.lock().unwrap() = None;
    assert_eq!(stage.post_with("/api/v1/runs", &key, &body).await.status, 201);
}

#[tokio::test]
async fn a_name_is_given_again_only_while_something_is_there_under_it() {
    let stage = Stage::new().await;
    let body = json!({"workspace": "/w", "prompt": "x"}).to_string();
    let key = [("idempotency-key", "k")];
    let message = "busy".to_owned();
    *stage.launcher.refuse.lock().unwrap() = Some(LaunchError::Busy { message });
    for _ in 0..2 {
        assert_eq!(stage.post_with("/api/v1/runs", &key, &body).await.status, 409);
    }
    let names = stage.launcher.names.lock().unwrap().clone();
    assert_ne!(names[0], names[1], "of the first one nothing was left");
    // Somebody is still on it: another start must find that one.
    *stage.launcher.occupied.lock().unwrap() = Some(stage.home.clone());
    for _ in 0..2 {
        assert_eq!(stage.post_with("/api/v1/runs", &key, &body).await.status, 409);
    }
    let names = stage.launcher.names.lock().unwrap().clone();
    assert_eq!(names[2], names[3]);
}

#[tokio::test]
async fn runs_cannot_be_started_faster_than_anybody_needs() {
    let stage = Stage::new().await;
    let body = json!({"workspace": "/w", "prompt": "x"});
    let mut statuses = Vec::new();
    for _ in 0..70 {
        statuses.push(stage.post("/api/v1/runs", &body).await.status);
    }
    assert!(statuses.contains(&201) && statuses.contains(&429), "{statuses:?}");
}

#[tokio::test]
async fn a_run_without_a_conversation_cannot_be_gone_on_with() {
    let stage = Stage::new().await;
    let run = stage.run(&[]).await;
    let path = |rest: &str| format!("/api/v1/runs/{}/{rest}", run.id());
    let body = json!({"prompt": "go on"});
    assert_eq!(
        stage.post(&path("resume"), &body).await.problem(),
        (409, "busy".into())
    );
    assert_eq!(
        stage.post(&path("fork"), &body).await.problem(),
        (422, "unprocessable".into())
    );
    assert!(stage.launcher.started.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_client_that_leaves_and_asks_again_is_told_of_the_run_it_started() {
    let stage = Stage::new().await;
    let gate = Arc::new(Gate::default());
    *stage.launcher.gate.lock().unwrap() = Some(gate.clone());
    let body = json!({"workspace": "/w", "prompt": "x"}).to_string();
    let (bearer, key) = (stage.bearer(), ("idempotency-key", "k"));
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        key,
    ];
    let mut leaving = TcpStream::connect(stage.address).await.unwrap();
    let request = stage.request("POST", "/api/v1/runs", &headers, &body);
    leaving.write_all(&request).await.unwrap();
    gate.begun.notified().await;
    drop(leaving);
    // The server has seen that by the time it has answered others.
    for _ in 0..10 {
        assert_eq!(stage.get("/health").await.status, 200);
    }
    let again = stage.post_with("/api/v1/runs", &[key], &body).await;
    assert_eq!(again.problem(), (409, "key_in_progress".into()));
    gate.go_on.notify_one();
    let answered = async {
        loop {
            let again = stage.post_with("/api/v1/runs", &[key], &body).await;
            if again.status != 409 {
                return again;
            }
        }
    };
    let again = timeout(Duration::from_secs(10), answered).await.unwrap();
    assert_eq!(
        (again.status, again.header("idempotent-replayed")),
        (201, Some("true"))
    );
    assert_eq!(stage.launcher.started.lock().unwrap().len(), 1);
}

/// Asks for a run at a server that gets no further than starting it, and gives what the run is to be called.
async fn half_started(stage: &Stage, key: &str, body: &str) -> String {
    let gate = Arc::new(Gate::default());
    *stage.launcher.gate.lock().unwrap() = Some(gate.clone());
    let bearer = stage.bearer();
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("idempotency-key", key),
    ];
    let mut asking = TcpStream::connect(stage.address).await.unwrap();
    let request = stage.request("POST", "/api/v1/runs", &headers, body);
    asking.write_all(&request).await.unwrap();
    gate.begun.notified().await;
    stage.launcher.names.lock().unwrap()[0].clone()
}

#[tokio::test]
async fn a_run_that_a_killed_server_had_not_started_yet_is_started_under_its_name() {
    let stage = Stage::new().await;
    let body = json!({"workspace": "/w", "prompt": "x"}).to_string();
    let name = half_started(&stage, "k", &body).await;
    // It knows what was written down, and nothing else.
    let next = stage.beside().await;
    let key = [("idempotency-key", "k")];
    for _ in 0..2 {
        let again = next.post_with("/api/v1/runs", &key, &body).await;
        assert_eq!((again.status, &again.json()["id"]), (201, &json!(name)));
    }
    assert_eq!(*next.launcher.names.lock().unwrap(), [name]);
}

#[tokio::test]
async fn a_run_that_a_killed_server_had_started_is_not_started_again() {
    let stage = Stage::new().await;
    let body = json!({"workspace": "/w", "prompt": "x"}).to_string();
    let name = half_started(&stage, "k", &body).await;
    let run = stage.home.create_run_as(&name).unwrap();
    std::fs::write(run.run_file(), "{}").unwrap();
    write_journal(&run, &stage.workspace(), &[]);
    let next = stage.beside().await;
    let key = [("idempotency-key", "k")];
    let again = next.post_with("/api/v1/runs", &key, &body).await;
    assert_eq!((again.status, &again.json()["id"]), (201, &json!(name)));
    assert!(next.launcher.names.lock().unwrap().is_empty());
}

#[tokio::test]
async fn without_the_index_commands_are_told_and_runs_are_started_once() {
    let stage = Stage::new().await;
    let run = stage.run(&[]).await;
    let runner = Runner::of(&run).await;
    stage.app.store.close().await.unwrap();
    let key = [("idempotency-key", "k")];
    let path = format!("/api/v1/runs/{}/messages", run.id());
    let told = stage.post_with(&path, &key, r#"{"text":"hello"}"#).await;
    assert_eq!((told.status, runner.heard().len()), (202, 1));
    let body = json!({"workspace": "/w", "prompt": "x"}).to_string();
    let started = stage.post_with("/api/v1/runs", &key, &body).await;
    assert_eq!(started.status, 201);
    let location = started.header("location").unwrap();
    assert!(location.ends_with(started.json()["id"].as_str().unwrap()));
    let again = stage.post_with("/api/v1/runs", &key, &body).await;
    assert_eq!((again.status, again.json()), (201, started.json()));
    assert_eq!(again.header("location"), Some(location));
    assert_eq!(stage.launcher.started.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_run_that_was_started_can_be_asked_about_at_once() {
    let stage = Stage::new().await;
    stage.launcher.is_unindexed.store(true, Ordering::Relaxed);
    let working = tokio::spawn(stage.app.live.clone().work());
    for _ in 0..5 {
        let body = json!({"workspace": "/w", "prompt": "x"});
        let started = stage.post("/api/v1/runs", &body).await;
        let id = started.json()["id"].clone();
        let path = format!("/api/v1/runs/{}", id.as_str().unwrap());
        let run = stage.get(&path).await;
        assert_eq!((run.status, &run.json()["id"]), (200, &id));
        assert_eq!(started.header("location"), Some(path.as_str()));
        assert_eq!(stage.get(&format!("{path}/records")).await.status, 200);
        let list = stage.get("/api/v1/runs").await.json();
        let items = list["items"].as_array().unwrap();
        assert!(items.iter().any(|run| run["id"] == id), "{list}");
    }
    working.abort();
}
