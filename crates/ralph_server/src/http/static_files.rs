//! The files of the web page, which are part of the program.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::compression::Uncompressed;

/// What the build script found: the page, or one that says that it was not built.
static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

#[derive(Debug)]
struct File {
    /// Where it is in the page.
    name: &'static str,
    /// Changes with the content.
    tag: &'static str,
    content: &'static [u8],
    /// Where that is shorter.
    gzip: Option<&'static [u8]>,
}

/// How long a browser may keep a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeping {
    /// It asks each time whether there is a newer one.
    Asking,
    /// For ever: the name changes with the content.
    Always,
}

/// The file of this name as an answer; none if there is no such file. Names are looked up in a list and never reach
/// the system's files, so there are no paths to play tricks with.
pub(super) fn answer(name: &str, keeping: Keeping, asked: &HeaderMap) -> Option<Response> {
    let file = FILES.iter().find(|file| file.name == name)?;
    let compressed = file.gzip.filter(|_| takes_gzip(asked));
    let is_compressed = compressed.is_some();
    // Another one for each form of the content.
    let form = if is_compressed { "-gzip" } else { "" };
    let tag = format!("\"{}{form}\"", file.tag);
    let keeping = match keeping {
        Keeping::Asking => "no-cache",
        Keeping::Always => "public, max-age=31536000, immutable",
    };
    let mut response = if is_known(asked, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let mut response = Response::new(Body::from(Bytes::from_static(compressed.unwrap_or(file.content))));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type(name)));
        if is_compressed {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    };
    response.extensions_mut().insert(Uncompressed);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keeping));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(header::ETAG, HeaderValue::from_str(&tag).ok()?);
    Some(response)
}

/// Whether the client has an answer with this entity tag already, by its `If-None-Match`. Whether tags are weak makes no
/// difference (RFC 9110).
pub(super) fn is_known(asked: &HeaderMap, tag: &str) -> bool {
    let opaque = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
    let known = words(asked, &header::IF_NONE_MATCH);
    known
        .into_iter()
        .any(|known| known == "*" || opaque(known) == opaque(tag))
}

fn takes_gzip(asked: &HeaderMap) -> bool {
    words(asked, &header::ACCEPT_ENCODING).into_iter().any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let is_refused = parts.any(|part| {
            let weight = part.strip_prefix("q=").and_then(|q| q.parse::<f32>().ok());
            weight.is_some_and(|weight| weight <= 0.0)
        });
        is_gzip && !is_refused
    })
}

/// The words of a list, which may be in several headers.
fn words<'a>(asked: &'a HeaderMap, name: &header::HeaderName) -> Vec<&'a str> {
    let lists = asked.get_all(name).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim).collect()
}

/// By the name's end. Browsers are told not to guess, so everything that a build makes must be here.
fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("json" | "map") => "application/json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue, header};

    use super::{FILES, File, content_type, takes_gzip};

    #[test]
    fn a_browser_is_told_what_each_file_is() {
        for File { name, .. } in FILES {
            assert_ne!(content_type(name), "application/octet-stream", "{name}");
        }
        assert_eq!(
            content_type("assets/index-a.b-c.js"),
            "text/javascript; charset=utf-8"
        );
        assert_eq!(content_type("js"), "application/octet-stream");
    }

    #[test]
    fn what_is_compressed_goes_only_to_those_who_ask_for_it() {
        let takes = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            takes_gzip(&headers)
        };
        for value in ["gzip", "deflate, GZIP;q=0.5, br", "br;q=1,gzip"] {
            assert!(takes(value), "{value}");
        }
        for value in [
            "",
            "br",
            "identity",
            "gzip;q=0",
            "gzip; q=0.000, br",
            "x-gzip",
            "gzipped",
        ] {
            assert!(!takes(value), "{value}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
