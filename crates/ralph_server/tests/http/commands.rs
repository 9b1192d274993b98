//! Telling runs something.

use ralph_run::control::{ControlCommand, PermissionChoice, SendMode};
use serde_json::json;

use crate::agent::Runner;
use crate::stage::Stage;

#[tokio::test]
async fn every_command_reaches_the_runner() {
    let stage = Stage::new().await;
    let run = stage.run(&[]).await;
    let runner = Runner::of(&run).await;
    let path = |rest: &str| format!("/api/v1/runs/{}/{rest}", run.id());
    let sent = stage
        .post(&path("messages"), &json!({"text": "hello", "mode": "queue"}))
        .await;
    assert_eq!(
        (sent.status, &sent.json()["message_id"]),
        (202, &json!("message-1"))
    );
    for (rest, body) in [
        ("interrupt", ""),
        ("stop", ""),
        ("stop", r#"{"kill":true}"#),
        ("model", r#"{"model":"m"}"#),
        ("permission-mode", r#"{"mode":"plan"}"#),
    ] {
        let answer = stage.post_with(&path(rest), &[], body).await;
        assert_eq!(answer.status, 202, "{rest}: {}", answer.text());
    }
    let edit = stage
        .with_body("PATCH", &path("messages/message-1"), &[], r#"{"text":"bye"}"#)
        .await;
    assert_eq!(edit.status, 202);
    assert_eq!(
        stage
            .with_body("DELETE", &path("queue/message-1"), &[], "")
            .await
            .status,
        202
    );
    let text = "hello".to_owned();
    let mode = SendMode::Queue;
    let message_id = "message-1".to_owned();
    let expected = [
        ControlCommand::Send { text, mode },
        ControlCommand::Interrupt,
        ControlCommand::Stop,
        ControlCommand::Kill,
        ControlCommand::SetModel {
            model: Some("m".into()),
        },
        ControlCommand::SetPermissionMode {
            mode: PermissionChoice::Plan,
        },
        ControlCommand::EditMessage {
            message_id: message_id.clone(),
            text: "bye".into(),
        },
        ControlCommand::WithdrawMessage { message_id },
    ];
    assert_eq!(runner.heard(), expected);
}

#[tokio::test]
async fn what_a_runner_refuses_is_said_with_a_code() {
    let stage = Stage::new().await;
    let run = stage.run(&[]).await;
    let path = format!("/api/v1/runs/{}", run.id());
    // Nobody is there at all.
    let answer = stage.post(&format!("{path}/interrupt"), &json!({})).await;
    assert_eq!(answer.problem(), (409, "run_ended".into()));
    let runner = Runner::of(&run).await;
    let answer = stage
        .post(&format!("{path}/approvals/r9"), &json!({"kind": "allow"}))
        .await;
    assert_eq!(answer.problem(), (404, "request_not_found".into()));
    let answer = stage
        .post(&format!("{path}/messages"), &json!({"text": " "}))
        .await;
    assert_eq!(answer.problem(), (422, "unprocessable".into()));
    assert_eq!(runner.heard().len(), 1);
}

#[tokio::test]
async fn bodies_that_cannot_be_read_say_where_they_are_wrong() {
    let stage = Stage::new().await;
    let run = stage.run(&[]).await;
    let path = format!("/api/v1/runs/{}/messages", run.id());
    for (body, code, line, column) in [
        ("{\n  \"text\": x", "malformed_json", 2, 11),
        ("{", "malformed_json", 1, 1),
        ("\n []", "invalid_body", 2, 2),
        (r#"{"text":1}"#, "invalid_body", 1, 9),
        (r#"{"text":"x","more":1}"#, "invalid_body", 1, 18),
        (r#"{"text":"x","mode":"fly"}"#, "invalid_body", 1, 24),
    ] {
        let answer = stage.post_with(&path, &[], body).await;
        assert_eq!(answer.problem(), (400, code.into()), "{body}");
        let place = (
            answer.json()["line"].as_u64().unwrap(),
            answer.json()["column"].as_u64().unwrap(),
        );
        assert_eq!(place, (line, column), "{body}");
    }
    let deep = format!("{{\"text\":{}", "[".repeat(100_000));
    assert_eq!(stage.post_with(&path, &[], &deep).await.problem().0, 400);
    assert_eq!(
        stage.post_with(&path, &[], "").await.problem(),
        (400, "malformed_json".into())
    );
}

#[tokio::test]
async fn a_command_with_a_key_is_told_once_even_if_the_server_has_forgotten_it() {
    let stage = Stage::new().await;
    let run = stage.run(&[]).await;
    let runner = Runner::of(&run).await;
    let path = format!("/api/v1/runs/{}/messages", run.id());
    let key = [("idempotency-key", "my key 1")];
    let body = r#"{"text":"once"}"#;
    let first = stage.post_with(&path, &key, body).await;
    let again = stage.post_with(&path, &key, body).await;
    assert_eq!((first.status, first.json()), (again.status, again.json()));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(runner.heard().len(), 1);
    // The runner knows it by the same name, whoever tells it.
    assert_eq!(first.json()["command_id"], runner.ids()[0]);
}
