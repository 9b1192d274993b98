//! Names of hosts and pages that are almost ours.

use crate::client::send_raw;
use crate::stage::Stage;

#[tokio::test]
async fn no_other_spelling_of_our_name_is_ours() {
    let stage = Stage::new().await;
    let port = stage.address.port();
    let hosts = [
        String::new(),
        " ".into(),
        "127.0.0.1".into(),
        "localhost".into(),
        "[::1]".into(),
        "127.0.0.1:80".into(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("127.0.0.1:0{port}"),
        format!("127.0.0.1:{port}0"),
        format!("127.0.0.1:+{port}"),
        format!("127.0.0.1:{port}/"),
        format!("127.0.0.1:{port}:{port}"),
        format!("127.0.0.1.:{port}"),
        format!("127.0.0.1.evil.com:{port}"),
        format!("127.0.0.1:{port}.evil.com"),
        format!("127.0.0.1@evil.com:{port}"),
        format!("evil.com@127.0.0.1:{port}"),
        format!("user:pass@localhost:{port}"),
        format!("evil.com:{port}"),
        format!("evil.com:{port}, 127.0.0.1:{port}"),
        format!("127.0.0.1:{port}, evil.com"),
        format!("127.0.0.1:{port} evil.com"),
        format!("localhost.:{port}"),
        format!("localhost.evil.com:{port}"),
        format!("evil.localhost:{port}"),
        format!("localhost.localdomain:{port}"),
        format!("localhos:{port}"),
        format!("localhost\u{0}:{port}").replace('\u{0}', "%00"),
        format!("%6cocalhost:{port}"),
        format!("http://localhost:{port}"),
        format!("//localhost:{port}"),
        format!("localhost:{port}#"),
        format!("localhost:{port}?"),
        format!("0.0.0.0:{port}"),
        format!("[::]:{port}"),
        format!("127.1:{port}"),
        format!("127.0.1:{port}"),
        format!("127.0.0.2:{port}"),
        format!("2130706433:{port}"),
        format!("0x7f000001:{port}"),
        format!("0x7f.0.0.1:{port}"),
        format!("0177.0.0.1:{port}"),
        format!("127.000.000.001:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
        format!("[::ffff:7f00:1]:{port}"),
        format!("[0:0:0:0:0:0:0:1]:{port}"),
        format!("[::1%25lo]:{port}"),
        format!("[::1]x:{port}"),
        format!("::1:{port}"),
        format!("127.0.0.1.nip.io:{port}"),
        format!("ralph.example.:{port}"),
        format!("sub.ralph.example:{port}"),
        format!("ralph.example.evil.com:{port}"),
        "ralph.example:1".into(),
        format!("１２７.0.0.1:{port}"),
        format!("ⓛocalhost:{port}"),
        format!("local\thost:{port}"),
    ];
    assert!(hosts.len() >= 50);
    for host in hosts {
        let request = format!(
            "GET /health HTTP/1.1\r\nhost: {host}\r\nauthorization: {}\r\nconnection: close\r\n\r\n",
            stage.bearer()
        );
        let answer = send_raw(stage.address, request.as_bytes()).await;
        assert!([400, 421].contains(&answer.status), "{host:?}: {answer:?}");
    }
    for host in [
        format!("LocalHost:{port}"),
        format!("[::1]:{port}"),
        "ralph.example".into(),
        format!("ralph.example:{port}"),
    ] {
        let request = format!("GET /health HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        assert_eq!(
            send_raw(stage.address, request.as_bytes()).await.status,
            200,
            "{host}"
        );
    }
}

#[tokio::test]
async fn a_name_in_the_address_or_a_second_one_does_not_help() {
    let stage = Stage::new().await;
    let own = stage.address;
    for (line, headers) in [
        ("GET /health HTTP/1.1".to_owned(), String::new()),
        ("GET /health HTTP/1.0".to_owned(), String::new()),
        (
            "GET /health HTTP/1.1".to_owned(),
            format!("host: {own}\r\nhost: {own}\r\n"),
        ),
        (
            "GET /health HTTP/1.1".to_owned(),
            format!("host: {own}\r\nHost: evil.com\r\n"),
        ),
        (
            "GET /health HTTP/1.1".to_owned(),
            format!("host: evil.com\r\nx-forwarded-host: {own}\r\n"),
        ),
        (
            "GET http://evil.com/health HTTP/1.1".to_owned(),
            format!("host: {own}\r\n"),
        ),
        (
            format!("GET http://{own}/health HTTP/1.1"),
            "host: evil.com\r\n".to_owned(),
        ),
        (format!("GET http://{own}/health HTTP/1.1"), String::new()),
        (
            format!("GET http://user@{own}/health HTTP/1.1"),
            format!("host: {own}\r\n"),
        ),
        (
            format!("GET http://localhost:{}/health HTTP/1.1", own.port()),
            format!("host: {own}\r\n"),
        ),
    ] {
        let request = format!("{line}\r\n{headers}connection: close\r\n\r\n");
        let answer = send_raw(own, request.as_bytes()).await;
        assert!(
            [400, 421].contains(&answer.status),
            "{line} {headers:?}: {answer:?}"
        );
    }
    let request = format!("GET http://{own}/health HTTP/1.1\r\nhost: {own}\r\nconnection: close\r\n\r\n");
    assert_eq!(send_raw(own, request.as_bytes()).await.status, 200);
}

#[tokio::test]
async fn no_other_spelling_of_our_page_is_ours() {
    let stage = Stage::new().await;
    let (own, port) = (stage.address, stage.address.port());
    for origin in [
        String::new(),
        "null".into(),
        "*".into(),
        "http://".into(),
        own.to_string(),
        format!("//{own}"),
        format!("https://{own}"),
        format!("HTTP://{own}"),
        format!("ws://{own}"),
        format!("file://{own}"),
        format!("http://{own}/"),
        format!("http://{own}."),
        format!("http://{own}.evil.com"),
        format!("http://{own} http://evil.com"),
        format!("http://evil.com http://{own}"),
        format!("http://evil.com/?http://{own}"),
        format!("http://evil.com#http://{own}"),
        format!("http://user@{own}"),
        "http://127.0.0.1".into(),
        "http://localhost".into(),
        format!("http://127.0.0.1:{}", port ^ 1),
        format!("http://LOCALHOST:{port}"),
        format!("http://localhost.:{port}"),
        format!("http://localhost:{port}.evil.com"),
        format!("http://0.0.0.0:{port}"),
        format!("http://2130706433:{port}"),
        format!("http://[::ffff:127.0.0.1]:{port}"),
        format!("http://evil.com:{port}"),
        format!("http://ralph.example.evil.com:{port}"),
        format!("http://sub.ralph.example:{port}"),
        "chrome-extension://abcdefghijklmnop".into(),
        "data:".into(),
    ] {
        let bearer = stage.bearer();
        let headers = [("authorization", bearer.as_str()), ("origin", origin.as_str())];
        let answer = stage.ask("GET", "/api/v1/runs", &headers, "").await;
        assert_eq!(answer.problem(), (403, "foreign_origin".into()), "{origin:?}");
    }
    for origin in [
        format!("http://{own}"),
        format!("http://localhost:{port}"),
        "https://ralph.example".into(),
    ] {
        let bearer = stage.bearer();
        let headers = [("authorization", bearer.as_str()), ("origin", origin.as_str())];
        assert_eq!(
            stage.ask("GET", "/api/v1/runs", &headers, "").await.status,
            200,
            "{origin}"
        );
    }
}
