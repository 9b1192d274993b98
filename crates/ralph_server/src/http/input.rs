//! Extractors for handlers: bodies, parameters and paths. An error says what is wrong, and nothing large is kept.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use jiff::Timestamp;
use ralph_run::control::command_id;
use serde::de::DeserializeOwned;

use super::idempotency::{key_of, own_key};
use crate::auth::{Principal, digest_hex};
use crate::problem::{Problem, ProblemCode};

/// No body is larger: the longest thing anybody sends is a prompt, which must fit into one line to a runner.
pub(super) const MAX_BODY_BYTES: usize = 1024 * 1024;

/// How long a body may take. It is on its way already when the headers are there.
const BODY_LIMIT: Duration = Duration::from_secs(30);

/// Reads a body that is not too large and does not take too long.
pub(super) async fn read_body(body: Body) -> Result<Bytes, Problem> {
    let too_large = || {
        let detail = format!("a body has at most {MAX_BODY_BYTES} bytes");
        Problem::new(ProblemCode::TooLarge, detail)
    };
    if body.size_hint().lower() > MAX_BODY_BYTES as u64 {
        return Err(too_large());
    }
    match tokio::time::timeout(BODY_LIMIT, to_bytes(body, MAX_BODY_BYTES)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_length_limit(&error) => Err(too_large()),
        Ok(Err(_)) => Err(Problem::new(
            ProblemCode::InvalidBody,
            "the body did not arrive whole",
        )),
        Err(_) => Err(Problem::new(ProblemCode::Timeout, "the body took too long")),
    }
}

fn is_length_limit(error: &axum::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if error.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        source = error.source();
    }
    false
}

/// A body of JSON.
pub(super) struct JsonBody<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let bytes = read_body(request.into_body()).await?;
        // Serde would read an array as the fields of an object, in their order.
        let rest = bytes.trim_ascii_start();
        if rest.starts_with(b"[") {
            let before = bytes.get(..bytes.len() - rest.len()).unwrap_or_default();
            let mut lines = before.split(|byte| *byte == b'\n');
            let column = lines.next_back().map_or(0, <[u8]>::len) + 1;
            let problem = Problem::new(ProblemCode::InvalidBody, "the body must be an object");
            return Err(problem.at(lines.count() + 1, column).in_field(""));
        }
        let mut deserializer = serde_json::Deserializer::from_slice(&bytes);
        let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let pointer = pointer_of(error.path());
            unreadable(&error.into_inner(), Some(pointer))
        })?;
        // Nothing may follow the value.
        deserializer.end().map_err(|error| unreadable(&error, None))?;
        Ok(Self(value))
    }
}

/// Why a body cannot be read. One that is JSON has a part that is wrong.
fn unreadable(error: &serde_json::Error, pointer: Option<String>) -> Problem {
    let code = match error.classify() {
        serde_json::error::Category::Data => ProblemCode::InvalidBody,
        serde_json::error::Category::Syntax
        | serde_json::error::Category::Eof
        | serde_json::error::Category::Io => ProblemCode::MalformedJson,
    };
    let problem = Problem::new(code, error.to_string()).at(error.line(), error.column());
    match pointer {
        Some(pointer) if code == ProblemCode::InvalidBody => problem.in_field(pointer),
        _ => problem,
    }
}

/// A path in a body as a JSON pointer.
fn pointer_of(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            Segment::Map { key } => {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}

/// A body of JSON, or none.
pub(super) struct OptionalJsonBody<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for OptionalJsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if request.body().is_end_stream() {
            return Ok(Self(T::default()));
        }
        let JsonBody(value) = JsonBody::<Option<T>>::from_request(request, state).await?;
        Ok(Self(value.unwrap_or_default()))
    }
}

/// What follows the `?`.
pub(super) struct Parameters<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let invalid =
            |error: &dyn std::fmt::Display| Problem::new(ProblemCode::InvalidParameter, error.to_string());
        match Query::from_request_parts(parts, state).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(rejection) => Err(invalid(&rejection.body_text())),
        }
    }
}

/// What varies in an address.
pub(super) struct InPath<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for InPath<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(value)) => Ok(Self(value)),
            Err(rejection) => Err(Problem::new(ProblemCode::InvalidParameter, rejection.body_text())),
        }
    }
}

/// What a command to a runner is called. One with a key is always called the same, so that the runner does it once even
/// if this server forgot that it was asked before.
pub(super) struct CommandId {
    pub(super) id: String,
    /// Who gives the command: what it allows, and its name for the journal.
    pub(super) principal: Option<Principal>,
}

impl<S: Send + Sync> FromRequestParts<S> for CommandId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let principal: Option<Principal> = parts.extensions.get().cloned();
        Ok(Self {
            id: match key_of(&parts.headers)? {
                Some(key) => {
                    let key = own_key(key, principal.as_ref());
                    digest_hex(&[key.as_bytes(), parts.uri.path().as_bytes()])
                }
                None => command_id(),
            },
            principal,
        })
    }
}

/// How many on a page: what was asked for, or the usual number.
pub(super) fn limit(asked: Option<u32>, usual: u32, most: u32) -> Result<usize, Problem> {
    let limit = asked.unwrap_or(usual);
    if !(1..=most).contains(&limit) {
        let detail = format!("`limit` must be from 1 to {most}");
        return Err(Problem::new(ProblemCode::InvalidParameter, detail));
    }
    Ok(limit as usize)
}

/// A time, as in `2026-11-16T03:00:00Z`.
pub(super) fn time(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    text.map(|text| {
        text.parse().map_err(|_| {
            let detail = format!("`{name}` must be a time such as 2026-11-16T03:00:00Z");
            Problem::new(ProblemCode::InvalidParameter, detail)
        })
    })
    .transpose()
}

/// Words with commas between them.
pub(super) fn words(text: Option<&str>) -> Vec<String> {
    let words = text.into_iter().flat_map(|text| text.split(','));
    words
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}
