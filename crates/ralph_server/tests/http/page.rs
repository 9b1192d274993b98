//! The web page's files: given to everybody, as they are, and nothing else with them.

use std::collections::BTreeSet;
use std::io::Read as _;

use crate::client::{Answer, send_raw};
use crate::stage::Stage;

const PAGES: [&str; 5] = [
    "/",
    "/?state=waiting",
    "/new",
    "/runs/20261116-000000-000000",
    "/runs/x?seq=4&hide=thinking",
];

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; \
    require-trusted-types-for 'script'";

/// Asks without token and cookie.
async fn ask(stage: &Stage, path: &str, headers: &[(&str, &str)]) -> Answer {
    stage.ask("GET", path, headers, "").await
}

/// The files that the page names.
async fn files(stage: &Stage) -> BTreeSet<String> {
    let page = ask(stage, "/", &[]).await.text();
    let named = page.split('"').filter(|word| word.starts_with("/assets/"));
    let files: BTreeSet<String> = named.map(str::to_owned).collect();
    assert!(files.iter().any(|file| file.ends_with(".css")), "{page}");
    files
}

#[tokio::test]
async fn every_view_has_an_address_that_gives_the_page_to_everybody() {
    let stage = Stage::new().await;
    let first = ask(&stage, "/", &[]).await;
    for path in PAGES {
        let answer = ask(&stage, path, &[]).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.body, first.body, "{path}");
        assert!(answer.text().to_lowercase().starts_with("<!doctype html>"));
        for (name, value) in [
            ("content-type", "text/html; charset=utf-8"),
            ("content-security-policy", POLICY),
            ("cache-control", "no-cache"),
            ("x-content-type-options", "nosniff"),
            ("vary", "accept-encoding"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path}");
        }
        assert!(answer.header("content-encoding").is_none());
        assert!(answer.header("set-cookie").is_none());
    }
}

#[tokio::test]
async fn the_page_has_no_script_or_style_of_its_own_and_names_no_other_server() {
    let stage = Stage::new().await;
    let page = ask(&stage, "/", &[]).await.text().to_lowercase();
    for start in ["<style", " style=", " onload=", "http://", "https://", "=\"//"] {
        assert!(!page.contains(start), "{start}: {page}");
    }
    for script in page.split("<script").skip(1) {
        let (attributes, rest) = script.split_once('>').unwrap();
        assert!(attributes.contains("src=\"/assets/"), "{page}");
        assert!(rest.starts_with("</script>"), "{page}");
    }
}

#[tokio::test]
async fn files_with_a_digest_in_their_name_are_kept_for_ever() {
    let stage = Stage::new().await;
    for file in files(&stage).await {
        let answer = ask(&stage, &file, &[]).await;
        assert_eq!(answer.status, 200, "{file}");
        let kind = match file.rsplit_once('.').unwrap().1 {
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "svg" => "image/svg+xml",
            other => panic!("say what {other} is"),
        };
        for (name, value) in [
            ("content-type", kind),
            ("cache-control", "public, max-age=31536000, immutable"),
            ("x-content-type-options", "nosniff"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{file}");
        }
        let length = answer.header("content-length").unwrap();
        assert_eq!(length, answer.body.len().to_string(), "{file}");
        let head = stage.ask("HEAD", &file, &[], "").await;
        assert_eq!((head.status, head.body.len()), (200, 0), "{file}");
        assert_eq!(head.header("content-length"), Some(length), "{file}");
    }
}

#[tokio::test]
async fn who_takes_gzip_is_given_the_same_compressed() {
    let stage = Stage::new().await;
    for file in files(&stage).await.into_iter().chain(["/".to_owned()]) {
        let plain = ask(&stage, &file, &[]).await;
        let short = ask(&stage, &file, &[("accept-encoding", "gzip, deflate, br")]).await;
        if short.header("content-encoding").is_none() {
            assert_eq!(short.body, plain.body, "{file}");
            continue;
        }
        assert_eq!(short.header("content-encoding"), Some("gzip"));
        assert_eq!(short.header("content-type"), plain.header("content-type"));
        assert_ne!(short.header("etag"), plain.header("etag"));
        assert!(short.body.len() < plain.body.len());
        let mut long = Vec::new();
        let mut decoder = flate2::read::GzDecoder::new(short.body.as_slice());
        decoder.read_to_end(&mut long).unwrap();
        assert_eq!(long, plain.body, "{file}");
    }
    let style = files(&stage)
        .await
        .into_iter()
        .find(|file| file.ends_with(".css"));
    let style = ask(&stage, &style.unwrap(), &[("accept-encoding", "gzip")]).await;
    assert_eq!(style.header("content-encoding"), Some("gzip"));
}

#[tokio::test]
async fn what_a_browser_has_already_is_not_sent_again() {
    let stage = Stage::new().await;
    for path in PAGES.map(str::to_owned).into_iter().chain(files(&stage).await) {
        for coding in ["identity", "gzip"] {
            let first = ask(&stage, &path, &[("accept-encoding", coding)]).await;
            let tag = first.header("etag").unwrap();
            let weak = format!("\"other\", W/{tag}");
            for known in [tag, &weak, "*"] {
                let again = ask(
                    &stage,
                    &path,
                    &[("accept-encoding", coding), ("if-none-match", known)],
                )
                .await;
                assert_eq!((again.status, again.body.len()), (304, 0), "{path} {known}");
                for name in ["etag", "cache-control", "vary"] {
                    assert_eq!(again.header(name), first.header(name), "{path}");
                }
            }
            let other = ask(
                &stage,
                &path,
                &[("accept-encoding", coding), ("if-none-match", "\"other\"")],
            )
            .await;
            assert_eq!(
                (other.status, other.body.len()),
                (200, first.body.len()),
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn no_spelling_of_an_address_leads_to_another_file() {
    let stage = Stage::new().await;
    let style = files(&stage)
        .await
        .into_iter()
        .find(|file| file.ends_with(".css"));
    let style = style.unwrap();
    let name = style.rsplit_once('/').unwrap().1;
    let spellings = [
        "/assets/..".to_owned(),
        "/assets/.".into(),
        "/assets/".into(),
        "/assets".into(),
        "/assets/index.html".into(),
        "/assets/../index.html".into(),
        "/assets/..%2findex.html".into(),
        "/assets/..%2Findex.html".into(),
        "/assets/%2e%2e%2findex.html".into(),
        "/assets/%2e%2e/%2e%2e/Cargo.toml".into(),
        "/assets/..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd".into(),
        "/assets/..%252findex.html".into(),
        "/assets/..%5c..%5cCargo.toml".into(),
        "/assets/..\\index.html".into(),
        "/assets/....//index.html".into(),
        "/assets//etc/passwd".into(),
        "/assets/%2fetc%2fpasswd".into(),
        "/assets/file:%2f%2f%2fetc%2fpasswd".into(),
        "/assets/%00".into(),
        format!("{style}%00"),
        format!("{style}%00.png"),
        format!("{style}/"),
        format!("{style}/."),
        format!("{style}/.."),
        format!("{style}.gz"),
        format!("{style}%20"),
        format!("{style};x"),
        format!("/assets/./{name}"),
        format!("/assets/.%2f{name}"),
        format!("/assets//{name}"),
        format!("/assets/assets/{name}"),
        format!("/assets/{}", name.to_uppercase()),
        format!("/ASSETS/{name}"),
        format!("//assets/{name}"),
        format!("/{name}"),
        "/assets/%".into(),
        "/assets/%ff".into(),
        "/assets/%c0%ae%c0%ae".into(),
        "/assets/..;/index.html".into(),
        "/index.html".into(),
        "/page/index.html".into(),
        "/runs".into(),
        "/runs/".into(),
        "/runs/x/".into(),
        "/runs/x/y".into(),
        "/runs/../api/v1/runs".into(),
        "/runs//api/v1/runs".into(),
        "/new/".into(),
        "/new/x".into(),
        "/New".into(),
    ];
    for path in spellings {
        for authorization in ["", &format!("authorization: {}\r\n", stage.bearer())] {
            let request = format!(
                "GET {path} HTTP/1.1\r\nhost: {}\r\n{authorization}connection: close\r\n\r\n",
                stage.address
            );
            let answer = send_raw(stage.address, request.as_bytes()).await;
            assert!([400, 401, 404].contains(&answer.status), "{path}: {answer:?}");
            let text = answer.text();
            assert!(
                !text.contains("<html") && !text.contains("[package]") && !text.contains("root:"),
                "{path}"
            );
        }
    }
    // What stands for the same name is the same file.
    let coded = style.replace('-', "%2d");
    assert_eq!(
        ask(&stage, &coded, &[]).await.body,
        ask(&stage, &style, &[]).await.body
    );
}

#[tokio::test]
async fn a_file_that_is_not_there_is_a_problem_and_not_the_page() {
    let stage = Stage::new().await;
    let answer = ask(&stage, "/assets/old-12345678.js", &[("accept", "text/html")]).await;
    assert_eq!(answer.problem(), (404, "not_found".into()));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

#[tokio::test]
async fn the_api_never_answers_with_the_page() {
    let stage = Stage::new().await;
    let bearer = stage.bearer();
    for path in [
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/nothing",
        "/api/v1/runs",
        "/api/v1/runs/x",
        "/api/v2/runs",
        "/metrics",
        "/health",
        "/favicon.ico",
    ] {
        let page_wanted = ("accept", "text/html,application/xhtml+xml");
        for headers in [
            vec![page_wanted],
            vec![page_wanted, ("authorization", bearer.as_str())],
        ] {
            let answer = ask(&stage, path, &headers).await;
            let kind = answer.header("content-type").unwrap_or_default();
            assert!(!kind.starts_with("text/html"), "{path}: {answer:?}");
        }
    }
    for path in PAGES {
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
            let answer = stage.ask(method, path, &[], "").await;
            assert_eq!(answer.problem().0, 401, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn a_mistyped_address_gives_a_browser_the_page_and_a_program_a_problem() {
    let stage = Stage::new().await;
    let page = ask(&stage, "/", &[]).await.body;
    let bearer = stage.bearer();
    let html = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    for path in [
        "/nope",
        "/runs",
        "/runs/",
        "/runs/x/",
        "/runs/x/y",
        "/runs/%/",
        "/new/",
        "/%",
        "/%E0%A4%A",
        "//",
    ] {
        for headers in [vec![html], vec![html, ("authorization", bearer.as_str())]] {
            let answer = ask(&stage, path, &headers).await;
            assert_eq!(answer.status, 404, "{path}");
            assert_eq!(answer.body, page, "{path}");
            assert_eq!(answer.header("content-security-policy"), Some(POLICY));
        }
        let answer = ask(&stage, path, &[("accept", "application/json")]).await;
        assert_eq!(answer.problem().0, 401, "{path}");
        let answer = stage.get(path).await;
        assert_eq!(answer.problem().0, 404, "{path}");
    }
    // Behind these there are no pages, however they are asked for.
    for path in [
        "//api/v1/runs",
        "/API/v1/runs",
        "/..%2fapi",
        "/nope.js",
        "/assets/",
        "/login/x",
    ] {
        let answer = ask(&stage, path, &[html]).await;
        assert_eq!(answer.problem().0, 401, "{path}");
    }
    let posted = stage.ask("POST", "/nope", &[html], "").await;
    assert_eq!(posted.problem().0, 401);
}
