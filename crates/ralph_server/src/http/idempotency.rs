//! A request that is sent again under the same key is answered again, and done once.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;
use ralph_store::{Remembered, StoreError};

use super::admission::ConnectionPermit;
use super::input::{MAX_BODY_BYTES, read_body};
use super::start::{RunName, StartedRun, starts_run};
use crate::app::App;
use crate::auth::{digest_hex, only};
use crate::problem::{Problem, ProblemCode};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// How long an answer is given again.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
const MAX_KEY_BYTES: usize = 255;
/// Logging in answers with a secret, which is kept nowhere.
const NEVER_KEPT: [&str; 4] = [
    "/api/v1/login",
    "/api/v1/login-links",
    "/api/v1/logout",
    "/api/v1/tickets",
];

/// Whether the answers of an address are kept for those who ask again.
pub(super) fn takes_key(path: &str) -> bool {
    !NEVER_KEPT.contains(&path)
}

/// The key of a request.
pub(super) fn key_of(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    if !headers.contains_key(&IDEMPOTENCY_KEY) {
        return Ok(None);
    }
    let key = only(headers, &IDEMPOTENCY_KEY).filter(|key| {
        (1..=MAX_KEY_BYTES).contains(&key.len())
            && key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
    });
    match key {
        Some(key) => Ok(Some(key)),
        None => {
            let detail = format!("an idempotency key has 1 to {MAX_KEY_BYTES} printable ASCII characters");
            Err(Problem::new(ProblemCode::InvalidParameter, detail))
        }
    }
}

/// Remembers what requests with a key were answered, and answers the same again.
pub(super) async fn remember_answers(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST || !takes_key(request.uri().path()) {
        return next.run(request).await;
    }
    match key_of(request.headers()).map(|key| key.map(str::to_owned)) {
        Ok(None) => next.run(request).await,
        Ok(Some(key)) => once(app, key, request, next)
            .await
            .unwrap_or_else(Problem::into_response),
        Err(problem) => problem.into_response(),
    }
}

async fn once(app: Arc<App>, key: String, request: Request, next: Next) -> Result<Response, Problem> {
    let Some(held) = app.take_key(&key) else {
        let detail = "a request with this idempotency key is being done; ask again later";
        return Err(Problem::new(ProblemCode::KeyInProgress, detail).retry_after(1));
    };
    let permit = request.extensions().get::<ConnectionPermit>().cloned();
    let (parts, body) = request.into_parts();
    let body = read_body(body).await?;
    // A client that leaves takes its request with it, but not what was begun: it will ask for the answer.
    let answered = tokio::spawn(async move {
        let _kept = (held, permit);
        answer(&app, &key, parts, body, next).await
    });
    match answered.await {
        Ok(answered) => answered,
        Err(error) => Err(Problem::internal("a request with a key failed", &error)),
    }
}

async fn answer(
    app: &App,
    key: &str,
    mut parts: Parts,
    body: Bytes,
    next: Next,
) -> Result<Response, Problem> {
    let address = parts.uri.path_and_query().map_or("", |address| address.as_str());
    let digest = digest_hex(&[address.as_bytes(), &body]);
    if let Some(earlier) = recall(app, key, parts.uri.path()).await?.filter(is_fresh) {
        return replay(earlier, &digest);
    }
    let (mut started, mut named) = (None, None);
    if starts_run(parts.uri.path()) {
        let name_key = name_key(key, &digest);
        let name = name_run(app, &name_key, &digest).await?;
        started = is_started(app, &name.0)
            .await
            .then(|| StartedRun { id: name.0.clone() });
        named = Some((name_key, name.clone()));
        parts.extensions.insert(name);
    }
    let response = match started {
        // A server before this one started it and was killed before it could say so.
        Some(started) => (StatusCode::CREATED, Json(started)).into_response(),
        None => next.run(Request::from_parts(parts, Body::from(body))).await,
    };
    let status = response.status();
    // What was refused has changed nothing, and may work the next time.
    if !status.is_success() {
        if let Some((name_key, name)) = named {
            forget_name(app, &name_key, &name).await;
        }
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, MAX_BODY_BYTES)
        .await
        .map_err(|error| Problem::internal("an answer is too large to be remembered", &error))?;
    let answer = Remembered {
        digest,
        status: status.as_u16(),
        body: String::from_utf8_lossy(&body).into_owned(),
        at: Timestamp::now(),
    };
    if let Err(error) = app.store.remember(key, &answer).await {
        // It is done, and the client should hear of it.
        tracing::warn!(%error, "cannot remember what a request was answered");
    }
    Ok(Response::from_parts(parts, Body::from(body)))
}

/// Under which key the name of a request's run is kept. No client's key has such a character.
fn name_key(key: &str, digest: &str) -> String {
    format!("\u{1}{}", digest_hex(&[key.as_bytes(), digest.as_bytes()]))
}

/// What the run of this request is called. It is written down before anything is started, so that a server that is
/// killed in that moment neither forgets the run nor starts another one when it is asked again.
async fn name_run(app: &App, key: &str, digest: &str) -> Result<RunName, StoreError> {
    if let Some(earlier) = app.store.recall(key).await?.filter(is_fresh) {
        return Ok(RunName(earlier.body));
    }
    let now = Timestamp::now();
    let named = Remembered {
        digest: digest.to_owned(),
        status: StatusCode::PROCESSING.as_u16(),
        body: app.journals.new_run_id(now).await,
        at: now,
    };
    app.store.remember(key, &named).await?;
    Ok(RunName(named.body))
}

/// A run that did not start leaves its name to nobody: who has seen this one must not take another one for it. While
/// something is there under it, somebody may still be starting it, and the next one who asks has to find it.
async fn forget_name(app: &App, name_key: &str, name: &RunName) {
    if app.journals.presence(&name.0).await.is_some() {
        return;
    }
    if let Err(error) = app.store.forget(name_key).await {
        tracing::warn!(%error, "cannot forget what a run was to be called");
    }
}

async fn is_started(app: &App, id: &str) -> bool {
    let presence = app.journals.presence(id).await;
    presence.is_some_and(|presence| presence.is_started)
}

/// What a request was answered before. A command is told without the index as well: its runner knows it by its key.
async fn recall(app: &App, key: &str, path: &str) -> Result<Option<Remembered>, StoreError> {
    match app.store.recall(key).await {
        Err(error) if !starts_run(path) => {
            tracing::warn!(%error, "cannot tell whether a command was answered before");
            Ok(None)
        }
        recalled => recalled,
    }
}

fn is_fresh(earlier: &Remembered) -> bool {
    Timestamp::now().duration_since(earlier.at).unsigned_abs() < KEPT
}

fn replay(earlier: Remembered, digest: &str) -> Result<Response, Problem> {
    if earlier.digest != digest {
        let detail = "this idempotency key was used for another request";
        return Err(Problem::new(ProblemCode::KeyReused, detail));
    }
    let status = StatusCode::from_u16(earlier.status)
        .map_err(|error| Problem::internal("a remembered answer has no status", &error))?;
    let kind = if status.is_success() {
        "application/json"
    } else {
        "application/problem+json"
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (REPLAYED, HeaderValue::from_static("true")),
    ];
    Ok((status, headers, earlier.body).into_response())
}
