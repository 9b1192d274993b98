//! Every route of the table, tried with everything that must not open it. A new route is tried without further ado.

use jiff::{SignedDuration, Timestamp};
use ralph_server::http::{Policy, RouteInfo, routes};
use ralph_server::{NewToken, Scope, StartLimits};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::{Answer, send_raw};
use crate::doors::path_of;
use crate::stage::Stage;

fn guarded() -> impl Iterator<Item = RouteInfo> {
    routes()
        .into_iter()
        .filter(|route| route.policy != Policy::Public)
}

async fn ask(stage: &Stage, route: &RouteInfo, headers: &[(&str, &str)]) -> Answer {
    stage
        .ask(route.method.as_str(), &path_of(route), headers, "")
        .await
}

#[tokio::test]
async fn no_route_opens_to_a_secret_that_is_not_valid_here() {
    let stage = Stage::new().await;
    let elsewhere = Stage::new().await;
    let revoked = stage.token_named("revoked", Scope::Admin);
    let revoked_session = format!("Bearer {}", stage.log_in().await);
    let expired = stage.token_with(NewToken {
        name: "expired".to_owned(),
        scope: Scope::Admin,
        workspaces: Vec::new(),
        limits: StartLimits::default(),
        expires_at: Some(Timestamp::now() - SignedDuration::from_secs(1)),
    });
    let valid = stage.token_named("valid", Scope::Admin);
    let runs = guarded().find(|route| route.path == "/api/v1/runs").unwrap();
    for opens in [&revoked, &revoked_session, &valid] {
        assert_eq!(ask(&stage, &runs, &[("authorization", opens)]).await.status, 200);
    }
    stage.tokens().revoke("revoked").unwrap();
    let owner = stage.bearer();
    let ended = stage
        .ask(
            "DELETE",
            "/api/v1/login-sessions",
            &[("authorization", &owner)],
            "",
        )
        .await;
    assert_eq!(ended.status, 204);
    let used_ticket = stage.ticket(&valid).await;
    let used = format!("/api/v1/runs/x/events?ticket={used_ticket}");
    assert_eq!(stage.ask("GET", &used, &[], "").await.problem().0, 404);
    let secrets = [
        revoked,
        revoked_session,
        expired,
        elsewhere.bearer(),
        elsewhere.token_named("other", Scope::Admin),
        format!("Bearer {}", elsewhere.log_in().await),
        format!("Bearer {used_ticket}"),
        // A digest, which is what is on disk.
        format!("Bearer {}", "0".repeat(64)),
    ];
    for route in guarded() {
        for secret in &secrets {
            let answer = ask(&stage, &route, &[("authorization", secret)]).await;
            // After twenty of them it only says to wait.
            assert!(
                [401, 429].contains(&answer.problem().0),
                "{} {}",
                route.method,
                route.path
            );
        }
        let path = format!("{}?ticket={used_ticket}", path_of(&route));
        let answer = stage.ask(route.method.as_str(), &path, &[], "").await;
        assert!([401, 429].contains(&answer.problem().0), "{path}");
    }
    // Whoever knows a right one is never kept waiting.
    assert_eq!(ask(&stage, &runs, &[("authorization", &valid)]).await.status, 200);
}

#[tokio::test]
async fn no_route_opens_to_less_than_its_scope() {
    let stage = Stage::new().await;
    for scope in Scope::ALL {
        let token = stage.token_named(scope.name(), scope);
        let body = serde_json::json!({"token": token[7..]}).to_string();
        let json = [("content-type", "application/json")];
        for route in guarded() {
            for by_session in [false, true] {
                // Some of them end every session of the token.
                let session = stage.ask("POST", "/api/v1/login", &json, &body).await.json();
                let session = format!("Bearer {}", session["key"].as_str().unwrap());
                let secret = if by_session { &session } else { &token };
                let answer = ask(&stage, &route, &[("authorization", secret)]).await;
                let is_enough = match route.policy {
                    Policy::Public => true,
                    Policy::Scope(needed) => scope >= needed,
                    Policy::ServerToken => false,
                };
                let is_refused = answer.status == 403 && answer.problem().1 == "insufficient_scope";
                let what = format!("{scope} {} {}: {answer:?}", route.method, route.path);
                assert_eq!(is_refused, !is_enough, "{what}");
                assert_ne!(answer.status, 401, "{what}");
            }
        }
    }
}

#[tokio::test]
async fn a_token_that_is_confined_to_workspaces_finds_nothing_of_others() {
    let stage = Stage::new().await;
    let run = stage
        .run(&[crate::stage::wrote(1, "a secret plan"), crate::stage::ended()])
        .await;
    let confined = |name: &str, directory: std::path::PathBuf| {
        stage.token_with(NewToken {
            name: name.to_owned(),
            scope: Scope::Admin,
            workspaces: vec![directory],
            limits: StartLimits::default(),
            expires_at: None,
        })
    };
    let own = confined("own", stage.directory.path().to_owned());
    // The name of a directory that another one begins with is not a directory above it.
    let beside = confined("beside", stage.directory.path().join("work"));
    for route in guarded() {
        let path = route.path.replace("{id}", run.id());
        let route = RouteInfo { path, ..route };
        let answer = ask(&stage, &route, &[("authorization", &beside)]).await;
        let what = format!("{} {}: {}", route.method, route.path, answer.status);
        assert!(!answer.text().contains("secret plan"), "{what}");
        if route.path.starts_with("/api/v1/runs/") {
            assert_eq!(answer.problem(), (404, "run_not_found".into()), "{what}");
        } else if !route.is_confined {
            assert_eq!(answer.problem(), (403, "insufficient_scope".into()), "{what}");
        }
    }
    let path = format!("/api/v1/runs/{}/records", run.id());
    let answer = stage.ask("GET", &path, &[("authorization", &own)], "").await;
    assert!(
        answer.status == 200 && answer.text().contains("a secret plan"),
        "{answer:?}"
    );
}

#[tokio::test]
async fn no_route_opens_to_another_name_or_another_page_whatever_it_shows() {
    let stage = Stage::new().await;
    let session = format!("Bearer {}", stage.log_in().await);
    let other_port = format!("http://127.0.0.1:{}", stage.address.port() ^ 1);
    let same_port = format!("http://localhost.evil.example:{}", stage.address.port());
    for route in guarded() {
        for secret in [&stage.bearer(), &session] {
            for origin in [
                other_port.as_str(),
                &same_port,
                "null",
                "https://127.0.0.1",
                "file://",
            ] {
                let headers = [("authorization", secret.as_str()), ("origin", origin)];
                let answer = ask(&stage, &route, &headers).await;
                assert_eq!(
                    answer.problem(),
                    (403, "foreign_origin".into()),
                    "{} {origin}",
                    route.path
                );
            }
            let request = format!(
                "{} {} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nauthorization: {secret}\r\nconnection: close\r\n\r\n",
                route.method,
                path_of(&route),
                stage.address.port() ^ 1,
            );
            let answer = send_raw(stage.address, request.as_bytes()).await;
            assert_eq!(answer.problem(), (421, "foreign_host".into()), "{}", route.path);
        }
    }
}

#[tokio::test]
async fn no_stream_opens_to_a_ticket_that_is_not_valid_or_is_shown_elsewhere() {
    let stage = Stage::new().await;
    let run = stage.run(&[crate::stage::wrote(1, "a secret plan")]).await;
    let confined = stage.token_with(NewToken {
        name: "elsewhere".to_owned(),
        scope: Scope::Admin,
        workspaces: vec![stage.directory.path().join("elsewhere")],
        expires_at: None,
        limits: StartLimits::default(),
    });
    let session = format!("Bearer {}", stage.log_in().await);
    let streams =
        guarded().filter(|route| route.path.ends_with("/stream") || route.path.ends_with("/events"));
    for (number, route) in streams.enumerate() {
        let path = path_of(&route).replace("20261116-000000-000000", run.id());
        let with = |ticket: &str| format!("{path}?ticket={ticket}");
        // Whatever it is, it ends before a stream begins.
        let try_it = async |path: &str, more: &[(&str, &str)]| {
            let mut headers = vec![
                ("upgrade", "websocket"),
                ("sec-websocket-version", "13"),
                ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ];
            headers.extend(more);
            let answer = stage.ask("GET", path, &headers, "").await;
            assert!(!answer.text().contains("secret plan"), "{path} {more:?}");
            answer.problem()
        };
        let revoked = stage.token_named(&format!("revoked-{number}"), Scope::Admin);
        let of_revoked = stage.ticket(&revoked).await;
        stage.tokens().revoke(&format!("revoked-{number}")).unwrap();
        let expires_at = Timestamp::now() + SignedDuration::from_hours(1);
        let expiring = stage.token_with(NewToken {
            name: format!("expiring-{number}"),
            scope: Scope::Admin,
            workspaces: Vec::new(),
            expires_at: Some(expires_at),
            limits: StartLimits::default(),
        });
        let of_expired = stage.ticket(&expiring).await;
        let past = Timestamp::now() - SignedDuration::from_secs(1);
        rewrite_tokens(&stage, &expires_at.to_string(), &past.to_string());
        for ticket in [
            of_revoked.as_str(),
            &of_expired,
            "",
            "0000",
            &session[7..],
            &stage.token,
        ] {
            assert_eq!(
                try_it(&with(ticket), &[]).await,
                (401, "unauthenticated".into()),
                "{path}"
            );
        }
        // A ticket in a header, and a secret in the place of a ticket, are none.
        let ticket = stage.ticket(&session).await;
        let bearer = format!("Bearer {ticket}");
        let shown = try_it(&path, &[("authorization", &bearer)]).await;
        assert_eq!(shown, (401, "unauthenticated".into()));
        // Pages of other sites and of other ports, and other names of the server.
        let other_port = format!("http://127.0.0.1:{}", stage.address.port() ^ 1);
        for origin in ["http://evil.example", "null", &other_port] {
            let shown = try_it(&with(&ticket), &[("origin", origin)]).await;
            assert_eq!(shown, (403, "foreign_origin".into()));
        }
        for host in ["evil.example", "127.0.0.1:1"] {
            let request = format!(
                "GET {} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n",
                with(&ticket)
            );
            let answer = send_raw(stage.address, request.as_bytes()).await;
            assert_eq!(answer.problem(), (421, "foreign_host".into()));
        }
        if path.contains(run.id()) {
            let of_confined = stage.ticket(&confined).await;
            assert_eq!(
                try_it(&with(&of_confined), &[]).await,
                (404, "run_not_found".into())
            );
        }
    }
}

/// A log, once it mentions something.
async fn log_with(stage: &Stage, name: &str, wanted: &str) -> String {
    let path = stage.home.state_directory().join(name);
    loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if text.contains(wanted) {
            return text;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_access_log_says_who_did_what_and_nothing_secret() {
    let stage = Stage::new().await;
    let token = stage.token_named("ci", Scope::Read);
    let ticket = stage.ticket(&token).await;
    let events = format!("/api/v1/runs/nothing/events?ticket={ticket}");
    stage.ask("GET", &events, &[], "").await;
    stage
        .ask(
            "GET",
            "/api/v1/search?q=hunter2",
            &[("authorization", &token)],
            "",
        )
        .await;
    stage
        .ask(
            "POST",
            "/api/v1/login",
            &[("content-type", "application/json")],
            r#"{"token":"wrong"}"#,
        )
        .await;
    let body = serde_json::json!({"workspace": "/w", "prompt": "x"});
    let run = stage.post("/api/v1/runs", &body).await.json();
    let text = log_with(&stage, "access.log", r#""created""#).await;
    let refused = log_with(&stage, "access-refused.log", "/api/v1/login").await;
    assert!(
        !text.contains("/api/v1/login"),
        "strangers push nothing out: {text}"
    );
    let text = text + &refused;
    for said in [
        r#""actor":"token ci","method":"GET","path":"/api/v1/search","status":200"#,
        r#""path":"/api/v1/runs/nothing/events","status":404"#,
        &format!(
            r#""actor":"server token","method":"POST","path":"/api/v1/runs","created":"/api/v1/runs/{}","status":201"#,
            run["id"].as_str().unwrap()
        ),
        r#""actor":null,"method":"POST","path":"/api/v1/login","status":401"#,
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
    for secret in [&ticket, &token[7..], "hunter2", "wrong"] {
        assert!(!text.contains(secret), "{text}");
    }
}

#[tokio::test]
async fn a_runner_is_told_which_token_or_session_gave_a_command() {
    let stage = Stage::new().await;
    let run = stage.run(&[crate::stage::wrote(1, "hello")]).await;
    let runner = crate::agent::Runner::of(&run).await;
    let token = stage.token_named("ci", Scope::Steer);
    let session = format!("Bearer {}", stage.log_in().await);
    let path = format!("/api/v1/runs/{}/interrupt", run.id());
    for secret in [&token, &session, &stage.bearer()] {
        let answer = stage.ask("POST", &path, &[("authorization", secret)], "").await;
        assert_eq!(answer.status, 202, "{answer:?}");
    }
    let sessions = stage.get("/api/v1/login-sessions").await.json();
    let session = format!("session {}", sessions["items"][0]["id"].as_str().unwrap());
    let actors = ["token ci", &session, "server token"].map(|name| Some(name.to_owned()));
    assert_eq!(runner.actors(), actors);
}

#[tokio::test]
async fn a_token_that_steers_neither_names_a_program_nor_turns_permission_checks_off() {
    let stage = Stage::new().await;
    let run = stage.run(&[crate::stage::asked("request-1")]).await;
    let runner = crate::agent::Runner::of(&run).await;
    let (steer, start) = (
        stage.token_named("steer", Scope::Steer),
        stage.token_named("start", Scope::Start),
    );
    let post = async |bearer: &str, path: &str, body: &str| {
        let headers = [("authorization", bearer), ("content-type", "application/json")];
        let path = format!("/api/v1/runs/{}/{path}", run.id());
        let answer = stage.ask("POST", &path, &headers, body).await;
        (
            answer.status,
            answer.json()["code"].as_str().unwrap_or_default().to_owned(),
        )
    };
    let changed = r#"{"kind":"allow_changed","input":{"command":"id"}}"#;
    for (path, body) in [
        ("approvals/request-1", changed),
        ("approvals/request-1", r#"{"kind":"allow","grants":["grant-1"]}"#),
        ("approvals/request-1", r#"{"kind":"allow_always"}"#),
        ("permission-mode", r#"{"mode":"bypass"}"#),
    ] {
        assert_eq!(post(&steer, path, body).await, (403, "insufficient_scope".into()));
        assert_eq!(post(&start, path, body).await.0, 202);
    }
    for (path, body) in [
        ("approvals/request-1", r#"{"kind":"allow"}"#),
        ("permission-mode", r#"{"mode":"plan"}"#),
    ] {
        assert_eq!(post(&steer, path, body).await.0, 202);
    }
    assert_eq!(runner.heard().len(), 6);
}

#[tokio::test]
async fn a_token_that_reads_cannot_log_the_owner_out() {
    let stage = Stage::new().await;
    let owner = format!("Bearer {}", stage.log_in().await);
    let token = stage.token_named("stolen", Scope::Read);
    let body = format!(r#"{{"token":"{}"}}"#, &token[7..]);
    for _ in 0..100 {
        let headers = [("content-type", "application/json")];
        let answer = stage.ask("POST", "/api/v1/login", &headers, &body).await;
        assert_eq!(answer.status, 201);
    }
    let headers = [("authorization", owner.as_str())];
    assert_eq!(stage.ask("GET", "/api/v1/runs", &headers, "").await.status, 200);
}

#[tokio::test]
async fn a_request_that_is_refused_leaves_no_trace_of_its_key() {
    let stage = Stage::new().await;
    let token = stage.token_named("ci", Scope::Read);
    let headers = [
        ("authorization", token.as_str()),
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];
    for path in ["/api/v1/runs", "/api/v1/runs/x/fork", "/api/v1/nothing/fork"] {
        let answer = stage.ask("POST", path, &headers, "{}").await;
        assert!([403, 404].contains(&answer.status), "{answer:?}");
    }
    let names = std::fs::read_dir(stage.home.state_directory()).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name == "start-keys"), "{names:?}");
}

#[tokio::test]
async fn two_tokens_with_one_key_are_not_in_each_others_way() {
    let stage = Stage::new().await;
    let run = stage.run(&[]).await;
    let runner = crate::agent::Runner::of(&run).await;
    for name in ["one", "two"] {
        let token = stage.token_named(name, Scope::Steer);
        let headers = [
            ("authorization", token.as_str()),
            ("content-type", "application/json"),
            ("idempotency-key", "k"),
        ];
        let path = format!("/api/v1/runs/{}/messages", run.id());
        let body = format!(r#"{{"text":"{name}"}}"#);
        let answer = stage.ask("POST", &path, &headers, &body).await;
        assert_eq!(answer.status, 202, "{answer:?}");
    }
    assert_eq!(runner.heard().len(), 2);
}

/// Changes the file of tokens, as an editor would.
fn rewrite_tokens(stage: &Stage, from: &str, to: &str) {
    let path = stage.home.state_directory().join("server-tokens.json");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    let draft = path.with_extension("new");
    std::fs::copy(&path, &draft).unwrap();
    std::fs::write(&draft, text.replace(from, to)).unwrap();
    std::fs::rename(&draft, &path).unwrap();
}

#[tokio::test]
async fn a_token_that_is_given_other_rights_ends_the_sessions_that_had_the_old_ones() {
    let stage = Stage::new().await;
    let token = stage.token_named("phone", Scope::Steer);
    let body = format!(r#"{{"token":"{}"}}"#, &token[7..]);
    let headers = [("content-type", "application/json")];
    let answer = stage.ask("POST", "/api/v1/login", &headers, &body).await;
    let session = format!("Bearer {}", answer.json()["key"].as_str().unwrap());
    rewrite_tokens(&stage, r#""steer""#, r#""read""#);
    for (bearer, status) in [(&session, 401), (&token, 200)] {
        let headers = [("authorization", bearer.as_str())];
        let answer = stage.ask("GET", "/api/v1/runs", &headers, "").await;
        assert_eq!(answer.status, status);
    }
}

#[tokio::test]
async fn a_token_cannot_hold_all_connections() {
    let options = ralph_server::http::ServeOptions {
        max_connections: 8,
        max_connections_of_token: 3,
        ..Default::default()
    };
    let stage = Stage::with(options).await;
    let token = stage.token_named("stolen", Scope::Read);
    let request = format!(
        "GET /api/v1/login-sessions HTTP/1.1\r\nhost: {}\r\nauthorization: {token}\r\n\r\n",
        stage.address
    );
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(stage.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).await.unwrap();
        assert_eq!(&status, b"HTTP/1.1 200");
        held.push(stream);
    }
    assert_eq!(stage.get("/api/v1/runs").await.status, 200);
    // Its first connection is closed, its last one is not.
    let mut rest = Vec::new();
    held[0].read_to_end(&mut rest).await.unwrap();
    let last = held.last_mut().unwrap();
    last.write_all(request.as_bytes()).await.unwrap();
    assert!(last.read(&mut [0; 4096]).await.unwrap() > 0);
}
