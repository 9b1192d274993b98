//! What an agent wrote, byte for byte.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;

use super::input::InPath;
use crate::app::App;
use crate::auth::only;
use crate::problem::{Problem, ProblemCode};
use crate::runners::{RawLog, RawLogName};

const CHUNK_BYTES: u64 = 64 * 1024;

/// Reads the output of a process, or a part of it.
#[utoipa::path(get, path = "/api/v1/runs/{id}/raw/{attempt}", operation_id = "raw_output", tag = "records",
    params(
        ("id" = String, Path, description = "The run."),
        ("attempt" = u32, Path, description = "Counts the run's processes, from 1."),
        ("range" = inline(Option<String>), Header, description = "One range of bytes, such as `bytes=0-1023`.", nullable = false),
    ),
    responses(
        (status = 200, description = "All that is there now.", body = [u8], content_type = "application/octet-stream"),
        (status = 206, description = "The range.", body = [u8], content_type = "application/octet-stream"),
    ))]
pub(super) async fn output(
    State(app): State<Arc<App>>,
    InPath((id, attempt)): InPath<(String, u32)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    log(&app, &id, RawLogName::Output(attempt), &headers).await
}

/// Reads what a process wrote to stderr, or a part of it.
#[utoipa::path(get, path = "/api/v1/runs/{id}/raw/{attempt}/stderr", operation_id = "raw_stderr", tag = "records",
    params(
        ("id" = String, Path, description = "The run."),
        ("attempt" = u32, Path, description = "Counts the run's processes, from 1."),
        ("range" = inline(Option<String>), Header, description = "One range of bytes, such as `bytes=0-1023`.", nullable = false),
    ),
    responses(
        (status = 200, description = "All that is there now.", body = [u8], content_type = "application/octet-stream"),
        (status = 206, description = "The range.", body = [u8], content_type = "application/octet-stream"),
    ))]
pub(super) async fn errors(
    State(app): State<Arc<App>>,
    InPath((id, attempt)): InPath<(String, u32)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    log(&app, &id, RawLogName::Errors(attempt), &headers).await
}

async fn log(app: &App, id: &str, name: RawLogName, headers: &HeaderMap) -> Result<Response, Problem> {
    app.run(id).await?;
    let log = match app.runners.raw(id, name).await {
        Ok(log) => log,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Problem::new(
                ProblemCode::FileNotFound,
                "the run has no such output",
            ));
        }
        Err(error) => return Err(Problem::internal("cannot open a raw log", &error)),
    };
    // It may grow while it is read: the answer has what is there now.
    let length = log.length_bytes();
    let range = headers
        .contains_key(header::RANGE)
        .then(|| parse_range(only(headers, &header::RANGE).unwrap_or_default(), length));
    let (status, start, end) = match range {
        None | Some(Range::Ignored) => (StatusCode::OK, 0, length),
        Some(Range::Part { start, end }) => (StatusCode::PARTIAL_CONTENT, start, end),
        Some(Range::Unsatisfiable) => {
            let detail = format!("the output has {length} bytes");
            let mut response = Problem::new(ProblemCode::InvalidRange, detail).into_response();
            set(&mut response, header::CONTENT_RANGE, &format!("bytes */{length}"));
            return Ok(response);
        }
    };
    let mut response = Response::new(chunks(log, start, end - start));
    *response.status_mut() = status;
    set(&mut response, header::CONTENT_TYPE, "application/octet-stream");
    set(&mut response, header::ACCEPT_RANGES, "bytes");
    set(&mut response, header::CONTENT_LENGTH, &(end - start).to_string());
    if status == StatusCode::PARTIAL_CONTENT {
        let range = format!("bytes {start}-{}/{length}", end.saturating_sub(1));
        set(&mut response, header::CONTENT_RANGE, &range);
    }
    Ok(response)
}

fn set(response: &mut Response, name: header::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// A piece at a time, as fast as the client takes them.
fn chunks(log: Box<dyn RawLog>, start: u64, length: u64) -> Body {
    Body::from_stream(stream::try_unfold(
        (log, start, length),
        |(log, start, left)| async move {
            if left == 0 {
                return Ok::<_, io::Error>(None);
            }
            let wanted = usize::try_from(left.min(CHUNK_BYTES)).unwrap_or_default();
            let bytes = log.read_at(start, wanted).await?;
            let read = bytes.len() as u64;
            if read == 0 {
                // It shrank: what was promised cannot be kept, and the client must see that.
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Ok(Some((bytes, (log, start + read, left - read))))
        },
    ))
}

#[derive(Debug, PartialEq, Eq)]
enum Range {
    /// Not one range of bytes: as if nothing had been asked for.
    Ignored,
    Unsatisfiable,
    Part {
        start: u64,
        end: u64,
    },
}

fn parse_range(text: &str, length: u64) -> Range {
    let Some((first, last)) = text
        .strip_prefix("bytes=")
        .and_then(|range| range.trim().split_once('-'))
    else {
        return Range::Ignored;
    };
    let number = |digits: &str| match digits.bytes().all(|byte| byte.is_ascii_digit()) {
        true => digits.parse::<u64>().ok(),
        false => None,
    };
    let (start, end) = match (first.trim(), last.trim()) {
        ("", last) => match number(last) {
            Some(0) => return Range::Unsatisfiable,
            Some(count) => (length.saturating_sub(count), length),
            None => return Range::Ignored,
        },
        (first, "") => match number(first) {
            Some(start) => (start, length),
            None => return Range::Ignored,
        },
        (first, last) => match (number(first), number(last)) {
            (Some(start), Some(last)) if start <= last => (start, last.saturating_add(1).min(length)),
            _ => return Range::Ignored,
        },
    };
    if start < end && start < length {
        Range::Part { start, end }
    } else {
        Range::Unsatisfiable
    }
}

#[cfg(test)]
mod tests {
    use super::{Range, parse_range};

    #[test]
    fn one_range_of_bytes_is_understood_and_the_rest_is_ignored() {
        let part = |start, end| Range::Part { start, end };
        for (text, range) in [
            ("bytes=0-0", part(0, 1)),
            ("bytes=0-999", part(0, 10)),
            ("bytes=3-", part(3, 10)),
            ("bytes=-4", part(6, 10)),
            ("bytes=-400", part(0, 10)),
            ("bytes=10-", Range::Unsatisfiable),
            ("bytes=-0", Range::Unsatisfiable),
            (
                "bytes=18446744073709551615-18446744073709551615",
                Range::Unsatisfiable,
            ),
            ("bytes=5-2", Range::Ignored),
            ("bytes=0-1,3-4", Range::Ignored),
            ("bytes=+1-2", Range::Ignored),
            ("lines=0-1", Range::Ignored),
            ("bytes=-", Range::Ignored),
        ] {
            assert_eq!(parse_range(text, 10), range, "{text}");
        }
        assert_eq!(parse_range("bytes=0-", 0), Range::Unsatisfiable);
    }
}
