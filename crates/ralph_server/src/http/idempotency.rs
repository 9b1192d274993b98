//! Idempotency keys: a request that is sent again under the same key is done once. Starts keep their keys in
//! [`StartKeys`], commands their answers in the index.

use std::io;
use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;
use ralph_store::SavedResponse;

use super::admission::ConnectionPermit;
use super::input::{MAX_BODY_BYTES, read_body};
use super::start::{RunName, created, starts_run};
use super::start_keys::{KEPT, StartKeys};
use crate::app::App;
use crate::auth::{Principal, digest_hex, only};
use crate::problem::{Problem, ProblemCode};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

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
    let principal = request.extensions().get();
    match key_of(request.headers()).map(|key| key.map(|key| own_key(key, principal))) {
        Ok(None) => next.run(request).await,
        Ok(Some(key)) => once(app, key, request, next)
            .await
            .unwrap_or_else(Problem::into_response),
        Err(problem) => problem.into_response(),
    }
}

/// The key as it is stored. Every token has keys of its own, which its sessions share, so that nobody is answered what
/// they could not ask for, or is in the way of another one.
pub(super) fn own_key(key: &str, principal: Option<&Principal>) -> String {
    match principal {
        Some(principal) if !principal.is_unlimited() => format!("{key}\u{1}{}", principal.issuer_hex()),
        Some(_) | None => key.to_owned(),
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

async fn answer(app: &App, key: &str, parts: Parts, body: Bytes, next: Next) -> Result<Response, Problem> {
    let address = parts.uri.path_and_query().map_or("", |address| address.as_str());
    let digest = digest_hex(&[address.as_bytes(), &body]);
    if starts_run(parts.uri.path()) {
        return start_once(app, key, &digest, parts, body, next).await;
    }
    if let Some(earlier) = recall(app, key).await.filter(is_fresh) {
        return replay(earlier, &digest);
    }
    let response = next.run(Request::from_parts(parts, Body::from(body))).await;
    let status = response.status();
    // What was refused has changed nothing, and may work the next time.
    if !status.is_success() {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, MAX_BODY_BYTES)
        .await
        .map_err(|error| Problem::internal("an answer is too large to be remembered", &error))?;
    let answer = SavedResponse {
        digest,
        status: status.as_u16(),
        body: String::from_utf8_lossy(&body).into_owned(),
        at: Timestamp::now(),
    };
    if let Err(error) = app.store.put_response(key, &answer).await {
        // It is done, and the client should hear of it.
        tracing::warn!(%error, "cannot remember what a request was answered");
    }
    Ok(Response::from_parts(parts, Body::from(body)))
}

/// Starts a run once. Its name is written down before anything is started, so that a server that is killed in that
/// moment neither forgets the run nor starts another one when it is asked again.
async fn start_once(
    app: &App,
    key: &str,
    digest: &str,
    mut parts: Parts,
    body: Bytes,
    next: Next,
) -> Result<Response, Problem> {
    let keys = &app.start_keys;
    let name = app.journals.new_run_id(Timestamp::now()).await;
    let (asked, of) = (key.to_owned(), digest.to_owned());
    let claimed = with_keys(keys, move |keys| keys.claim(&asked, &of, name)).await?;
    if claimed.digest != digest {
        return Err(reused());
    }
    if claimed.has_started || is_started(app, &claimed.run).await {
        let mut response = created(app, &claimed.run).await?;
        let headers = response.headers_mut();
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
        return Ok(response);
    }
    parts.extensions.insert(RunName(claimed.run.clone()));
    let response = next.run(Request::from_parts(parts, Body::from(body))).await;
    let has_started = response.status().is_success();
    // A start that was refused may work the next time, as another run. While something is there under its name, somebody
    // may still be starting it, and the next one who asks has to find it.
    let is_released = !has_started && app.journals.presence(&claimed.run).await.is_none();
    let key = key.to_owned();
    let written = with_keys(keys, move |keys| {
        if has_started {
            keys.set_started(&key, &claimed)
        } else if is_released {
            keys.release(&key)
        } else {
            Ok(())
        }
    });
    // The client should hear of it in any case; the directory of the run says the same.
    let _logged = written.await;
    Ok(response)
}

/// Reads or writes keys off the async workers.
async fn with_keys<T: Send + 'static>(
    keys: &StartKeys,
    work: impl FnOnce(&StartKeys) -> io::Result<T> + Send + 'static,
) -> Result<T, Problem> {
    let keys = keys.clone();
    let failed = |error: &dyn std::fmt::Display| Problem::internal("cannot store an idempotency key", error);
    match tokio::task::spawn_blocking(move || work(&keys)).await {
        Ok(done) => done.map_err(|error| failed(&error)),
        Err(error) => Err(failed(&error)),
    }
}

async fn is_started(app: &App, id: &str) -> bool {
    let presence = app.journals.presence(id).await;
    presence.is_some_and(|presence| presence.is_started)
}

/// What a command was answered before. It is told without the index as well: its runner knows it by its key.
async fn recall(app: &App, key: &str) -> Option<SavedResponse> {
    match app.store.response(key).await {
        Ok(recalled) => recalled,
        Err(error) => {
            tracing::warn!(%error, "cannot tell whether a command was answered before");
            None
        }
    }
}

fn is_fresh(earlier: &SavedResponse) -> bool {
    Timestamp::now().duration_since(earlier.at).unsigned_abs() < KEPT
}

fn replay(earlier: SavedResponse, digest: &str) -> Result<Response, Problem> {
    if earlier.digest != digest {
        return Err(reused());
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

fn reused() -> Problem {
    let detail = "this idempotency key was used for another request";
    Problem::new(ProblemCode::KeyReused, detail)
}
