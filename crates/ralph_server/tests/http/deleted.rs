//! A run that is deleted while it is watched, and asked for afterwards in every view.

use axum::http::Method;
use ralph_run::RunDirectory;
use ralph_server::http::routes;
use serde_json::json;

use crate::changing::write_end;
use crate::doors::path_of;
use crate::socket::Socket;
use crate::stage::{Stage, ended, wrote};

/// A run that has ended, with a tag.
async fn make(stage: &Stage) -> RunDirectory {
    let run = stage.run(&[wrote(1, "needle"), ended()]).await;
    write_end(&run);
    stage.lose_runner(&run);
    let path = format!("/api/v1/runs/{}", run.id());
    let tagged = stage.with_body("PATCH", &path, &[], r#"{"tags":["kept"]}"#).await;
    assert_eq!(tagged.status, 200);
    run
}

async fn delete(stage: &Stage, run: &RunDirectory) {
    let bearer = stage.bearer();
    let path = format!("/api/v1/runs/{}", run.id());
    let deleted = stage
        .ask("DELETE", &path, &[("authorization", &bearer)], "")
        .await;
    assert_eq!(deleted.status, 204, "{deleted:?}");
}

#[tokio::test]
async fn whoever_watches_a_run_that_is_deleted_is_told_why_nothing_more_comes() {
    let stage = Stage::new().await;
    let run = make(&stage).await;
    let working = tokio::spawn(stage.app.live.clone().work());
    let mut socket = Socket::open(&stage, &stage.bearer()).await;
    let runs = json!({"type": "subscribe", "feed": "runs", "protocol": 2});
    assert_eq!(socket.ask(&runs).await["type"], "subscribed");
    socket.until(|message| message["is_all"] == true).await;
    let watch = json!({"type": "subscribe", "run": run.id(), "after": 0, "id": "x"});
    assert_eq!(socket.ask(&watch).await["type"], "subscribed");
    socket.until(|message| message["type"] == "records").await;
    delete(&stage, &run).await;
    let mut told = Vec::new();
    while told.len() < 2 {
        told.push(socket.until(|message| message["type"] != "heartbeat").await);
    }
    told.sort_by_key(|message| message["type"].as_str().unwrap().to_owned());
    let closed = json!({
        "type": "closed", "run": run.id(), "code": "run_deleted",
        "message": format!("the run `{}` was deleted", run.id()),
    });
    assert_eq!(told[0], closed);
    assert_eq!(told[1]["removed"], json!([run.id()]), "{told:?}");
    // It is not watched any more, and cannot be.
    let refused = socket.ask(&watch).await;
    assert_eq!(
        (&refused["type"], &refused["code"]),
        (&json!("error"), &json!("run_not_found"))
    );
    working.abort();
}

#[tokio::test]
async fn events_of_a_run_that_is_deleted_end_with_the_reason() {
    let stage = Stage::new().await;
    // It goes on as far as anybody knows, so its events do.
    let run = stage.run(&[wrote(1, "needle")]).await;
    let working = tokio::spawn(stage.app.live.clone().work());
    let mut events = crate::watching::open_events(&stage, run.id(), b"needle").await;
    std::fs::remove_dir_all(run.path()).unwrap();
    stage.app.live.remove(run.id(), None);
    let rest = crate::watching::rest_of(&mut events).await;
    assert!(
        rest.contains("event: problem") && rest.contains(r#""code":"run_deleted""#),
        "{rest}"
    );
    working.abort();
}

#[tokio::test]
async fn no_view_has_a_run_that_was_deleted() {
    let stage = Stage::new().await;
    let run = make(&stage).await;
    let kept = stage.run(&[wrote(1, "hay"), ended()]).await;
    assert_eq!(
        stage.get("/api/v1/search?q=needle").await.json()["items"][0]["run"],
        run.id()
    );
    delete(&stage, &run).await;
    let mut views = 0;
    for route in routes() {
        if route.method != Method::GET || !route.path.starts_with("/api/v1/runs/{id}") {
            continue;
        }
        let path = path_of(&route).replace("20261116-000000-000000", run.id());
        let query = if path.ends_with("/files") { "?path=a" } else { "" };
        let answer = stage.get(&format!("{path}{query}")).await;
        assert_eq!(answer.problem(), (404, "run_not_found".into()), "{path}");
        assert!(
            answer.json()["detail"].as_str().unwrap().contains(run.id()),
            "{path}"
        );
        views += 1;
    }
    assert!(views >= 10, "{views}");
    for list in [
        "/api/v1/runs",
        "/api/v1/runs?tag=kept",
        "/api/v1/search?q=needle",
        "/api/v1/search?q=needle&mode=substring",
    ] {
        let answer = stage.get(list).await;
        assert!(
            answer.status == 200 && !answer.text().contains(run.id()),
            "{list}: {answer:?}"
        );
    }
    assert_eq!(
        stage.get("/api/v1/runs").await.json()["items"][0]["id"],
        kept.id()
    );
}
