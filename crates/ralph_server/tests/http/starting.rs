//! Starting runs.

use ralph_server::{LaunchError, SessionStart};
use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn a_run_is_started_as_asked() {
    let stage = Stage::new().await;
    let body = json!({"workspace": "/w", "prompt": "do it", "backend": "demo", "limits": {"cost_usd": 1.5},
        "permission_mode": "ask", "kind": "session"});
    let answer = stage.post("/api/v1/runs", &body).await;
    assert_eq!(
        (answer.status, &answer.json()["id"]),
        (201, &json!("20261116-000000-000001"))
    );
    let started = stage.launcher.started.lock().unwrap().clone();
    assert_eq!(started[0].prompt.as_deref(), Some("do it"));
    assert_eq!(started[0].max_cost_usd, Some(1.5));
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
    ] {
        let answer = stage.post("/api/v1/runs", &body).await;
        assert_eq!(answer.problem(), (422, "unprocessable".into()), "{body}");
    }
    let large = json!({"workspace": "/w", "prompt": "x".repeat(1_000_000)});
    assert_eq!(
        stage.post("/api/v1/runs", &large).await.problem(),
        (413, "too_large".into())
    );
    assert!(stage.launcher.started.lock().unwrap().is_empty());
}

#[tokio::test]
async fn why_a_run_did_not_start_is_told() {
    let stage = Stage::new().await;
    let body = json!({"workspace": "/w", "prompt": "x"});
    let message = || "because".to_owned();
    for (error, expected) in [
        (
            LaunchError::Invalid { message: message() },
            (422, "unprocessable"),
        ),
        (LaunchError::Busy { message: message() }, (409, "busy")),
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
    // What failed for the moment may be tried again under its key.
    let key = [("idempotency-key", "k2")];
    *stage.launcher.refuse.lock().unwrap() = Some(LaunchError::Busy {
        message: "busy".into(),
    });
    assert_eq!(stage.post_with("/api/v1/runs", &key, &body).await.status, 409);
    *stage.launcher.refuse.lock().unwrap() = None;
    assert_eq!(stage.post_with("/api/v1/runs", &key, &body).await.status, 201);
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
