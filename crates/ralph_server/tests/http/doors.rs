//! Every address there is, tried without and with what opens it.

use std::path::Path;

use ralph_server::http::{Policy, RouteInfo, openapi, routes};

use crate::client::send_raw;
use crate::stage::Stage;

/// The address with something in the place of what varies.
pub(crate) fn path_of(route: &RouteInfo) -> String {
    let names = [
        "{id}",
        "{seq}",
        "{attempt}",
        "{request}",
        "{message_id}",
        "{session}",
        "{file}",
    ];
    let values = ["20261116-000000-000000", "1", "1", "r", "m", "s", "none.js"];
    let filled = names
        .iter()
        .zip(values)
        .fold(route.path.clone(), |path, (name, value)| {
            path.replace(name, value)
        });
    assert!(!filled.contains('{'), "say what to put into {filled}");
    filled
}

#[track_caller]
fn has_its_headers(answer: &crate::client::Answer) {
    // A page has nothing secret in it: a browser may keep it, if it asks whether it is the newest.
    let is_page = answer.status == 200 && answer.text().contains("<html");
    let keeping = if is_page { "no-cache" } else { "no-store" };
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"));
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", keeping),
    ] {
        assert_eq!(answer.header(name), Some(value), "{answer:?}");
    }
    let is_cors = |(name, _): &(String, String)| name.starts_with("access-control-");
    assert!(!answer.headers.iter().any(is_cors), "{answer:?}");
}

#[tokio::test]
async fn no_address_but_the_public_ones_answers_without_the_token() {
    let stage = Stage::new().await;
    for route in routes() {
        let (method, path) = (route.method.as_str(), path_of(&route));
        let answer = stage.ask(method, &path, &[], "").await;
        match route.policy {
            Policy::Scope(_) | Policy::ServerToken => {
                assert_eq!(
                    answer.problem(),
                    (401, "unauthenticated".into()),
                    "{method} {path}"
                );
                assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
            }
            Policy::Public => assert!(![403, 421].contains(&answer.status), "{method} {path}"),
        }
        has_its_headers(&answer);
    }
}

#[tokio::test]
async fn only_what_must_be_is_public() {
    let public = routes()
        .into_iter()
        .filter(|route| route.policy == Policy::Public);
    let mut public: Vec<String> = public
        .map(|route| format!("{} {}", route.method, route.path))
        .collect();
    public.sort();
    assert_eq!(
        public,
        [
            "GET /",
            "GET /assets/{file}",
            "GET /health",
            "GET /login",
            "GET /new",
            "GET /runs/{id}",
            "POST /api/v1/login"
        ]
    );
}

#[tokio::test]
async fn no_address_answers_a_page_of_another_site() {
    let stage = Stage::new().await;
    let bearer = stage.bearer();
    for route in routes() {
        let (method, path) = (route.method.as_str(), path_of(&route));
        for origin in ["http://evil.example", "null"] {
            let headers = [("authorization", bearer.as_str()), ("origin", origin)];
            let answer = stage.ask(method, &path, &headers, "").await;
            assert_eq!(
                answer.problem(),
                (403, "foreign_origin".into()),
                "{method} {path}"
            );
            has_its_headers(&answer);
        }
    }
}

#[tokio::test]
async fn no_address_answers_under_another_name() {
    let stage = Stage::new().await;
    for route in routes() {
        let (method, path) = (route.method.as_str(), path_of(&route));
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: evil.example:{}\r\nauthorization: {}\r\nconnection: close\r\n\r\n",
            stage.address.port(),
            stage.bearer()
        );
        let answer = send_raw(stage.address, request.as_bytes()).await;
        assert_eq!(answer.problem(), (421, "foreign_host".into()), "{method} {path}");
        has_its_headers(&answer);
    }
}

#[tokio::test]
async fn no_address_takes_what_a_form_can_send() {
    let stage = Stage::new().await;
    let bearer = stage.bearer();
    for route in routes() {
        let (method, path) = (route.method.as_str(), path_of(&route));
        for kind in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "",
        ] {
            let mut headers = vec![("authorization", bearer.as_str())];
            headers.extend((!kind.is_empty()).then_some(("content-type", kind)));
            let answer = stage.ask(method, &path, &headers, "{}").await;
            assert_eq!(
                answer.problem(),
                (415, "unsupported_media_type".into()),
                "{method} {path} {kind}"
            );
        }
    }
}

#[tokio::test]
async fn no_cookie_opens_anything_and_the_old_one_is_cleared() {
    let stage = Stage::new().await;
    let session = stage.log_in().await;
    let own = format!("http://{}", stage.address);
    for route in routes()
        .into_iter()
        .filter(|route| route.policy != Policy::Public)
    {
        let (method, path) = (route.method.as_str(), path_of(&route));
        for secret in [&session, &stage.token] {
            let cookie = format!("ralph_session={secret}");
            for more in [
                vec![],
                vec![("origin", own.as_str())],
                vec![
                    ("origin", own.as_str()),
                    ("sec-fetch-site", "same-origin"),
                    ("x-ralph-page", "1"),
                ],
            ] {
                let mut headers = vec![("cookie", cookie.as_str())];
                headers.extend(more);
                let answer = stage.ask(method, &path, &headers, "").await;
                assert_eq!(
                    answer.problem(),
                    (401, "unauthenticated".into()),
                    "{method} {path}"
                );
                assert!(answer.text().contains("log in again"), "{}", answer.text());
                assert!(answer.header("set-cookie").unwrap().contains("Max-Age=0"));
            }
        }
    }
    // The page itself clears it as well, and nothing else sets one.
    let page = stage
        .ask("GET", "/", &[("cookie", "a=b; ralph_session=x")], "")
        .await;
    assert!(page.header("set-cookie").unwrap().starts_with("ralph_session=;"));
    assert_eq!(
        stage
            .ask("GET", "/", &[("cookie", "a=b")], "")
            .await
            .header("set-cookie"),
        None
    );
}

#[tokio::test]
async fn the_upgrade_needs_a_token_or_a_ticket_and_from_a_browser_our_page_as_well() {
    let stage = Stage::new().await;
    let session = format!("Bearer {}", stage.log_in().await);
    let cookie = format!("ralph_session={}", &session[7..]);
    let (bearer, own) = (stage.bearer(), format!("http://{}", stage.address));
    let tries: [(&[(&str, &str)], u16); 7] = [
        (&[], 401),
        (&[("origin", &own)], 401),
        (&[("cookie", &cookie), ("origin", &own)], 401),
        (
            &[("authorization", &session), ("origin", "http://evil.example")],
            403,
        ),
        (&[("authorization", &session), ("origin", "null")], 403),
        (
            &[("authorization", &session), ("origin", "http://127.0.0.1:1")],
            403,
        ),
        (
            &[("authorization", &bearer), ("origin", "http://evil.example")],
            403,
        ),
    ];
    for (more, status) in tries {
        let answer = try_upgrade(&stage, "/api/v1/stream", more).await;
        assert_eq!(answer.status, status, "{more:?}");
    }
    for opens in [("authorization", bearer.as_str()), ("authorization", &session)] {
        let first = first_line(&stage, "/api/v1/stream", &[opens]).await;
        assert!(first.starts_with("HTTP/1.1 101 "), "{first}");
    }
    // A ticket opens one stream, once.
    let ticket = stage.ticket(&session).await;
    let path = format!("/api/v1/stream?ticket={ticket}");
    let foreign = try_upgrade(&stage, &path, &[("origin", "http://evil.example")]).await;
    assert_eq!(foreign.status, 403);
    assert!(
        first_line(&stage, &path, &[("origin", &own)])
            .await
            .starts_with("HTTP/1.1 101 ")
    );
    assert_eq!(try_upgrade(&stage, &path, &[("origin", &own)]).await.status, 401);
}

#[tokio::test]
async fn a_ticket_opens_a_stream_and_nothing_else() {
    let stage = Stage::new().await;
    for route in routes()
        .into_iter()
        .filter(|route| route.policy != Policy::Public)
    {
        let (method, path) = (route.method.as_str(), path_of(&route));
        let ticket = stage.ticket(&stage.bearer()).await;
        let answer = stage
            .ask(method, &format!("{path}?ticket={ticket}"), &[], "")
            .await;
        let is_stream = path.ends_with("/stream") || path.ends_with("/events");
        assert_eq!(answer.status == 401, !is_stream, "{method} {path}: {answer:?}");
    }
}

const UPGRADE: [(&str, &str); 4] = [
    ("connection", "upgrade"),
    ("upgrade", "websocket"),
    ("sec-websocket-version", "13"),
    ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
];

/// An upgrade that is refused. Refused connections are kept for the next request, so it asks to close.
async fn try_upgrade(stage: &Stage, path: &str, more: &[(&str, &str)]) -> crate::client::Answer {
    let request = upgrade_request(stage, path, more);
    let request = request.replace("connection: upgrade", "connection: upgrade, close");
    send_raw(stage.address, request.as_bytes()).await
}

fn upgrade_request(stage: &Stage, path: &str, more: &[(&str, &str)]) -> String {
    let mut request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n", stage.address);
    for (name, value) in UPGRADE.iter().chain(more) {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request + "\r\n"
}

async fn first_line(stage: &Stage, path: &str, opens: &[(&str, &str)]) -> String {
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    let mut stream = tokio::net::TcpStream::connect(stage.address).await.unwrap();
    let request = upgrade_request(stage, path, opens);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).await.unwrap();
    line
}

#[tokio::test]
async fn what_does_not_exist_is_no_secret_to_those_who_may_ask_and_to_nobody_else() {
    let stage = Stage::new().await;
    for path in [
        "/nothing",
        "/api/v1/nothing",
        "/api/v1/runs/",
        "/login/",
        "/health/",
        "//",
        "/api/v1/runs/%2e%2e",
    ] {
        assert_eq!(stage.ask("GET", path, &[], "").await.problem().0, 401, "{path}");
        assert_eq!(stage.get(path).await.problem().0, 404, "{path}");
    }
    let bearer = stage.bearer();
    let answer = stage
        .ask("DELETE", "/api/v1/runs", &[("authorization", &bearer)], "")
        .await;
    assert_eq!(answer.problem(), (405, "method_not_allowed".into()));
    assert_eq!(answer.header("allow"), Some("GET,HEAD,POST"));
}

/// What is not in the table would not be tried by the tests above, so nothing may be added beside it.
#[test]
fn addresses_are_added_in_one_place_only() {
    let mut files = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut found = Vec::new();
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
            continue;
        }
        if path.extension().is_none_or(|extension| extension != "rs") || path.ends_with("http/router.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for word in [
            "Router::new",
            ".route(",
            ".route_service(",
            ".nest(",
            ".nest_service(",
            ".merge(",
        ] {
            found.extend(text.contains(word).then(|| format!("{}: {word}", path.display())));
        }
    }
    assert!(
        found.is_empty(),
        "add a row to the table in http/router.rs instead: {found:?}"
    );
}

#[test]
fn the_document_describes_every_address() {
    let document = serde_json::to_value(openapi()).unwrap();
    let mut described: Vec<String> = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let methods = item.as_object().unwrap().keys();
        described.extend(methods.map(|method| format!("{} {path}", method.to_uppercase())));
    }
    let mut there: Vec<String> = routes()
        .iter()
        .filter(|route| route.is_documented)
        .map(|route| format!("{} {}", route.method, route.path))
        .collect();
    described.sort();
    there.sort();
    assert_eq!(described, there);
}
