//! Getting in, and out again.

use jiff::{SignedDuration, Timestamp};
use ralph_server::{NewToken, Scope, StartLimits};
use serde_json::{Value, json};

use crate::client::Answer;
use crate::stage::Stage;

const JSON: (&str, &str) = ("content-type", "application/json");

async fn log_in(stage: &Stage, body: &Value) -> Answer {
    stage
        .ask("POST", "/api/v1/login", &[JSON], &body.to_string())
        .await
}

fn bearer_of(answer: &Answer) -> String {
    format!("Bearer {}", answer.json()["key"].as_str().unwrap())
}

async fn status(stage: &Stage, bearer: &str) -> u16 {
    stage
        .ask("GET", "/api/v1/runs", &[("authorization", bearer)], "")
        .await
        .status
}

#[tokio::test]
async fn the_code_of_the_printed_address_opens_one_session_and_no_server_sees_it_in_an_address() {
    let stage = Stage::new().await;
    let url = stage.app.auth.login_url().unwrap();
    let (page, code) = url.split_once("#code=").unwrap();
    assert_eq!(page, format!("http://{}/login", stage.address));
    let shown = stage.ask("GET", "/login", &[], "").await;
    assert!(
        shown.header("set-cookie").is_none() && [200, 404].contains(&shown.status),
        "{shown:?}"
    );
    let answer = log_in(&stage, &json!({"code": code})).await;
    assert_eq!((answer.status, answer.header("set-cookie")), (201, None));
    assert!(!answer.text().contains(&stage.token) && !answer.text().contains(code));
    let bearer = bearer_of(&answer);
    assert_eq!(status(&stage, &bearer).await, 200);
    assert_eq!(log_in(&stage, &json!({"code": code})).await.problem().0, 401);
    let out = stage
        .ask("POST", "/api/v1/logout", &[("authorization", &bearer)], "")
        .await;
    assert_eq!(out.status, 204);
    assert_eq!(status(&stage, &bearer).await, 401);
}

#[tokio::test]
async fn only_the_server_token_makes_links() {
    let stage = Stage::new().await;
    let session = bearer_of(&log_in(&stage, &json!({"token": stage.token})).await);
    let admin = stage.token_named("admin", Scope::Admin);
    for bearer in [&session, &admin] {
        let answer = stage
            .ask("POST", "/api/v1/login-links", &[("authorization", bearer)], "")
            .await;
        assert_eq!(answer.problem(), (403, "insufficient_scope".into()));
    }
    let answer = stage.post("/api/v1/login-links", &json!({})).await;
    assert_eq!(answer.status, 201);
    let url = answer.json()["url"].as_str().unwrap().to_owned();
    let code = url
        .strip_prefix(&format!("http://{}/login#code=", stage.address))
        .unwrap();
    assert_eq!(log_in(&stage, &json!({"code": code})).await.status, 201);
    // It is a secret: nothing of it is kept for those who ask again.
    let again = || stage.post_with("/api/v1/login-links", &[("idempotency-key", "k")], "");
    assert_ne!(again().await.json()["url"], again().await.json()["url"]);
}

#[tokio::test]
async fn a_login_needs_one_secret_that_is_right() {
    let stage = Stage::new().await;
    for body in [
        json!({}),
        json!({"token": stage.token, "code": "x"}),
        json!({"token": null}),
    ] {
        assert_eq!(log_in(&stage, &body).await.problem().0, 400, "{body}");
    }
    let wrong = json!({"token": stage.token.to_uppercase()});
    assert_eq!(log_in(&stage, &wrong).await.problem().0, 401);
    // A session is not a token: it opens no other session.
    let session = log_in(&stage, &json!({"token": stage.token})).await.json();
    let by_session = json!({"token": session["key"]});
    assert_eq!(log_in(&stage, &by_session).await.problem().0, 401);
}

#[tokio::test]
async fn sessions_are_listed_and_ended_one_by_one_and_all_at_once() {
    let stage = Stage::new().await;
    let mut bearers = Vec::new();
    for _ in 0..4 {
        bearers.push(format!("Bearer {}", stage.log_in().await));
    }
    let ask = async |method: &str, path: &str, bearer: &str| {
        let path = format!("/api/v1/login-sessions{path}");
        stage.ask(method, &path, &[("authorization", bearer)], "").await
    };
    let list = ask("GET", "", &bearers[0]).await.json();
    let items = list["items"].as_array().unwrap();
    assert_eq!(items.len(), 4);
    let current: Vec<_> = items.iter().filter(|item| item["is_current"] == true).collect();
    assert!(
        current.len() == 1 && current[0]["user_agent"] == "Firefox/1",
        "{list}"
    );
    assert!(!list.to_string().contains(&bearers[0][7..]));
    let other = items.iter().find(|item| item["is_current"] == false).unwrap();
    let other = format!("/{}", other["id"].as_str().unwrap());
    assert_eq!(ask("DELETE", &other, &bearers[0]).await.status, 204);
    assert_eq!(ask("DELETE", &other, &bearers[0]).await.problem().0, 404);
    let mut valid = 0;
    for bearer in &bearers {
        valid += usize::from(status(&stage, bearer).await == 200);
    }
    assert_eq!(valid, 3);
    assert_eq!(ask("DELETE", "?keep_current=true", &bearers[0]).await.status, 204);
    assert_eq!(
        ask("GET", "", &bearers[0]).await.json()["items"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(ask("DELETE", "", &bearers[0]).await.status, 204);
    assert_eq!(status(&stage, &bearers[0]).await, 401);
}

#[tokio::test]
async fn a_token_without_admin_sees_and_ends_only_its_own_sessions() {
    let stage = Stage::new().await;
    let token = stage.token_named("phone", Scope::Read);
    sees_and_ends_only_its_own_sessions(&stage, &token).await;
}

#[tokio::test]
async fn a_token_that_is_confined_to_workspaces_sees_and_ends_only_its_own_sessions() {
    let stage = Stage::new().await;
    let token = stage.token_with(NewToken {
        name: "there".to_owned(),
        scope: Scope::Admin,
        workspaces: vec![stage.directory.path().to_owned()],
        limits: StartLimits::default(),
        expires_at: None,
    });
    sees_and_ends_only_its_own_sessions(&stage, &token).await;
}

async fn sees_and_ends_only_its_own_sessions(stage: &Stage, token: &str) {
    let owner = format!("Bearer {}", stage.log_in().await);
    let own = bearer_of(&log_in(stage, &json!({"token": token[7..]})).await);
    let headers = [("authorization", own.as_str())];
    let list = stage
        .ask("GET", "/api/v1/login-sessions", &headers, "")
        .await
        .json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(
        stage
            .ask("DELETE", "/api/v1/login-sessions", &headers, "")
            .await
            .status,
        204
    );
    assert_eq!(
        (status(stage, &own).await, status(stage, &owner).await),
        (401, 200)
    );
}

#[tokio::test]
async fn sessions_end_with_the_token_that_opened_them() {
    let stage = Stage::new().await;
    let token = stage.token_named("phone", Scope::Read);
    let phone = bearer_of(&log_in(&stage, &json!({"token": token[7..]})).await);
    let owner = format!("Bearer {}", stage.log_in().await);
    assert_eq!(
        (status(&stage, &phone).await, status(&stage, &owner).await),
        (200, 200)
    );
    stage.tokens().revoke("phone").unwrap();
    assert_eq!(
        (status(&stage, &phone).await, status(&stage, &owner).await),
        (401, 200)
    );
    ralph_server::rotate_server_token(stage.home.state_directory()).unwrap();
    assert_eq!(
        (
            status(&stage, &owner).await,
            stage.get("/api/v1/runs").await.status
        ),
        (401, 401)
    );
    // A server that starts later knows that, too.
    let later = stage.beside().await;
    assert_eq!(status(&later, &owner).await, 401);
}

#[tokio::test]
async fn who_guesses_is_slowed_down_and_who_knows_is_not() {
    let stage = Stage::new().await;
    let mut last = 0;
    for guess in 0..25 {
        let bearer = format!("Bearer {guess:064}");
        last = stage
            .ask("GET", "/api/v1/runs", &[("authorization", &bearer)], "")
            .await
            .problem()
            .0;
    }
    assert_eq!(last, 429);
    let answer = log_in(&stage, &json!({"code": "guess"})).await;
    assert_eq!(answer.problem(), (429, "rate_limited".into()));
    assert!(answer.header("retry-after").unwrap().parse::<u64>().unwrap() > 0);
    assert_eq!(stage.get("/api/v1/runs").await.status, 200);
}

#[tokio::test]
async fn only_a_whole_and_single_token_counts() {
    let stage = Stage::new().await;
    let token = &stage.token;
    for value in [
        token.clone(),
        format!("Basic {token}"),
        format!("Bearer {}", &token[..63]),
        format!("Bearer {token}0"),
        format!("Bearer {token} {token}"),
        "Bearer ".to_owned(),
        "Bearer".to_owned(),
    ] {
        let answer = stage
            .ask("GET", "/api/v1/runs", &[("authorization", &value)], "")
            .await;
        assert_eq!(answer.problem().0, 401, "{value}");
    }
    let bearer = stage.bearer();
    let twice = [
        ("authorization", bearer.as_str()),
        ("authorization", bearer.as_str()),
    ];
    assert_eq!(
        stage.ask("GET", "/api/v1/runs", &twice, "").await.problem().0,
        401
    );
    let in_address = format!("/api/v1/runs?token={token}");
    assert_eq!(stage.ask("GET", &in_address, &[], "").await.problem().0, 401);
}

#[tokio::test]
async fn whoever_shows_a_token_that_does_not_work_is_told_why() {
    let stage = Stage::new().await;
    let expires_at = Timestamp::now() - SignedDuration::from_hours(1);
    let expired = stage.token_with(NewToken {
        name: "old".to_owned(),
        scope: Scope::Read,
        workspaces: Vec::new(),
        limits: StartLimits::default(),
        expires_at: Some(expires_at),
    });
    let other = Stage::new().await.token_named("ci", Scope::Read);
    let told = async |bearer: &str| {
        let answer = stage
            .ask("GET", "/api/v1/runs", &[("authorization", bearer)], "")
            .await;
        assert_eq!(answer.problem(), (401, "unauthenticated".into()));
        answer.json()["detail"].as_str().unwrap().to_owned()
    };
    let detail = told(&expired).await;
    assert!(
        detail.starts_with(&format!(
            "this token expired at {expires_at:.0}, and the clock of this server says"
        )),
        "{detail}"
    );
    for foreign in [other.as_str(), "Bearer nonsense"] {
        let detail = told(foreign).await;
        assert!(detail.contains("belongs to another server"), "{detail}");
    }
}
