//! Getting in, and out again.

use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn the_printed_address_opens_a_session_once_and_keeps_no_secret_in_the_address() {
    let stage = Stage::new().await;
    let code = stage.app.auth.new_login_code().unwrap();
    let path = format!("/login?code={code}");
    // Who only looks does not use it up.
    assert_eq!(stage.ask("HEAD", &path, &[], "").await.status, 405);
    let answer = stage.ask("GET", &path, &[], "").await;
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    let cookie = answer.header("set-cookie").unwrap();
    for word in [
        "ralph_session=",
        "; HttpOnly",
        "; SameSite=Strict",
        "; Path=/",
        "; Max-Age=2592000",
    ] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert!(!cookie.contains(&stage.token) && !cookie.contains(&code));
    assert_eq!(stage.ask("GET", &path, &[], "").await.problem().0, 401);

    let session = cookie.split(';').next().unwrap();
    let own = format!("http://{}", stage.address);
    let headers = [("cookie", session), ("origin", own.as_str())];
    assert_eq!(stage.ask("GET", "/api/v1/runs", &headers, "").await.status, 200);
    let out = stage.ask("POST", "/api/v1/logout", &headers, "").await;
    assert!(out.status == 204 && out.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(
        stage.ask("GET", "/api/v1/runs", &headers, "").await.problem().0,
        401
    );
}

#[tokio::test]
async fn a_link_that_does_not_work_leads_a_browser_to_the_page_and_tells_others() {
    let stage = Stage::new().await;
    let browser = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
    for path in ["/login?code=used", "/login", "/login?code=a&code=b"] {
        let answer = stage.ask("GET", path, &browser, "").await;
        let told = (answer.status, answer.header("location"));
        assert_eq!(told, (303, Some("/?login=used")), "{path}");
        assert_eq!(answer.header("set-cookie"), None);
        for accept in ["*/*", "application/json", "text/htmlx"] {
            let answer = stage.ask("GET", path, &[("accept", accept)], "").await;
            assert!([400, 401].contains(&answer.problem().0), "{path} {accept}");
        }
    }
    // A guess counts, whoever guesses.
    let mut last = None;
    for _ in 0..25 {
        let answer = stage.ask("GET", "/login?code=guess", &browser, "").await;
        last = answer.header("location").map(str::to_owned);
    }
    assert_eq!(last.as_deref(), Some("/?login=wait"));
    assert_eq!(stage.ask("HEAD", "/login?code=x", &browser, "").await.status, 405);
}

#[tokio::test]
async fn who_shows_the_token_gets_a_new_link() {
    let stage = Stage::new().await;
    let answer = stage.post("/api/v1/login-links", &json!({})).await;
    assert_eq!(answer.status, 201);
    let url = answer.json()["url"].as_str().unwrap().to_owned();
    let path = url.strip_prefix(&format!("http://{}", stage.address)).unwrap();
    assert!(path.starts_with("/login?code=") && !path.contains(&stage.token));
    let opened = stage.ask("GET", path, &[], "").await;
    assert_eq!((opened.status, opened.header("location")), (303, Some("/")));
    assert!(opened.header("set-cookie").unwrap().contains("ralph_session="));
    assert_eq!(stage.ask("GET", path, &[], "").await.problem().0, 401);
    // It is a secret: nothing of it is kept for those who ask again.
    let again = || stage.post_with("/api/v1/login-links", &[("idempotency-key", "k")], "");
    assert_ne!(again().await.json()["url"], again().await.json()["url"]);
}

#[tokio::test]
async fn a_script_can_exchange_the_token_for_a_session_and_nothing_else() {
    let stage = Stage::new().await;
    let json = [("content-type", "application/json")];
    let wrong = json!({"token": stage.token.to_uppercase()}).to_string();
    assert_eq!(
        stage
            .ask("POST", "/api/v1/login", &json, &wrong)
            .await
            .problem()
            .0,
        401
    );
    let right = json!({"token": stage.token}).to_string();
    let answer = stage.ask("POST", "/api/v1/login", &json, &right).await;
    assert_eq!(answer.status, 204);
    // The session is not the token: it cannot be shown as one.
    let session = answer
        .header("set-cookie")
        .unwrap()
        .split([';', '='])
        .nth(1)
        .unwrap()
        .to_owned();
    let bearer = format!("Bearer {session}");
    let answer = stage
        .ask("GET", "/api/v1/runs", &[("authorization", &bearer)], "")
        .await;
    assert_eq!(answer.problem().0, 401);
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
    let answer = stage.ask("GET", "/login?code=guess", &[], "").await;
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
async fn a_page_is_known_as_ours_where_browsers_do_not_say_where_it_is_from() {
    let stage = Stage::new().await;
    let body = json!({"token": stage.token}).to_string();
    let json = [("content-type", "application/json")];
    let answer = stage.ask("POST", "/api/v1/login", &json, &body).await;
    let cookie = answer
        .header("set-cookie")
        .unwrap()
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let cookie = ("cookie", cookie.as_str());
    // A foreign page cannot send the header: it would have to ask by OPTIONS first, and is not let.
    let asked = [
        cookie,
        ("origin", "http://evil.example"),
        ("access-control-request-headers", "x-ralph-page"),
    ];
    let preflight = stage.ask("OPTIONS", "/api/v1/runs", &asked, "").await;
    assert_eq!(preflight.problem().0, 403);
    assert_eq!(preflight.header("access-control-allow-headers"), None);
    let page = ("x-ralph-page", "1");
    for (headers, status) in [
        (vec![cookie], 403),
        (vec![cookie, page], 200),
        (vec![cookie, page, ("sec-fetch-site", "cross-site")], 403),
        (vec![cookie, page, ("origin", "http://evil.example")], 403),
        (vec![page], 401),
    ] {
        let answer = stage.ask("GET", "/api/v1/runs", &headers, "").await;
        assert_eq!(answer.status, status, "{headers:?}");
    }
    // What changes something needs an origin all the same.
    let out = stage.ask("POST", "/api/v1/logout", &[cookie, page], "").await;
    assert_eq!(out.problem().0, 403);
}
