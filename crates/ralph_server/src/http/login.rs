//! Exchanging a secret for a browser's session.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::guard::{Peer, SESSION_COOKIE, failed, session_cookies};
use super::input::{JsonBody, Parameters};
use crate::app::App;
use crate::auth::SESSION_LIFETIME;
use crate::problem::{Problem, ProblemCode};

/// The code of a login.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct LoginParameters {
    /// What `ralph serve` printed. It works once, for ten minutes.
    code: String,
}

/// The token of a login.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    /// The server's token.
    #[schema(min_length = 1)]
    token: String,
}

/// Where somebody can log in.
#[derive(Serialize, ToSchema)]
pub(super) struct LoginLink {
    /// Opened in a browser it gives that a session. It works once, for ten minutes.
    url: String,
}

/// Opens a browser's session with a code that works once, and goes to the page without it.
#[utoipa::path(get, path = "/login", operation_id = "login_page", tag = "login", params(LoginParameters),
    responses((status = 303, description = "The session is in a cookie, or the page says why there is none.")))]
pub(super) async fn login_by_code(
    State(app): State<Arc<App>>,
    Extension(Peer(peer)): Extension<Peer>,
    asked: Result<Parameters<LoginParameters>, Problem>,
    request: Request,
) -> Result<Response, Problem> {
    if request.method() != Method::GET {
        // A program that only looks must not use up the code.
        return Err(Problem::new(
            ProblemCode::MethodNotAllowed,
            "a code is used by GET only",
        ));
    }
    let session = asked.and_then(|Parameters(LoginParameters { code })| redeem(&app, peer, &code));
    match session {
        Ok(session) => {
            let mut response = see("/");
            set_cookie(&mut response, &session, SESSION_LIFETIME.as_secs())?;
            Ok(response)
        }
        // Nobody reads JSON in a browser's window. The page asks for the token, unless there is a session.
        Err(problem) if is_browser(request.headers()) => Ok(see(match problem.code() {
            ProblemCode::RateLimited => "/?login=wait",
            _ => "/?login=used",
        })),
        Err(problem) => Err(problem),
    }
}

fn redeem(app: &App, peer: IpAddr, code: &str) -> Result<String, Problem> {
    let session = app
        .auth
        .redeem_code(code)
        .map_err(|error| Problem::internal("cannot open a session", &error))?;
    let detail = "this code is not valid any more: `ralph serve` prints a new one";
    session.ok_or_else(|| failed(app, peer, detail))
}

/// Whether a person looks at the answer.
fn is_browser(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter();
    accepted.filter_map(|value| value.to_str().ok()).any(|list| {
        let kinds = list
            .split(',')
            .filter_map(|kind| kind.split(';').next().map(str::trim));
        kinds
            .into_iter()
            .any(|kind| kind.eq_ignore_ascii_case("text/html"))
    })
}

fn see(path: &'static str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    response
        .headers_mut()
        .insert(header::LOCATION, HeaderValue::from_static(path));
    response
}

/// Makes a link that logs a browser in, once, within ten minutes.
#[utoipa::path(post, path = "/api/v1/login-links", operation_id = "login_links_create", tag = "login",
    responses((status = 201, description = "The link.", body = LoginLink)))]
pub(super) async fn new_link(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let url = app
        .auth
        .login_url()
        .map_err(|error| Problem::internal("cannot make a link", &error))?;
    Ok((StatusCode::CREATED, Json(LoginLink { url })).into_response())
}

/// Opens a session with the token.
#[utoipa::path(post, path = "/api/v1/login", operation_id = "login", tag = "login", request_body = Login,
    responses((status = 204, description = "The session is in a cookie.")))]
pub(super) async fn login(
    State(app): State<Arc<App>>,
    Extension(Peer(peer)): Extension<Peer>,
    JsonBody(Login { token }): JsonBody<Login>,
) -> Result<Response, Problem> {
    let session = session_for(&app, peer, &token)?;
    let mut response = StatusCode::NO_CONTENT.into_response();
    set_cookie(&mut response, &session, SESSION_LIFETIME.as_secs())?;
    Ok(response)
}

fn session_for(app: &App, peer: IpAddr, token: &str) -> Result<String, Problem> {
    if !app.auth.is_token(token) {
        return Err(failed(app, peer, "this is not the server's token"));
    }
    app.auth
        .begin_session()
        .map_err(|error| Problem::internal("cannot open a session", &error))
}

/// Ends the session of this browser.
#[utoipa::path(post, path = "/api/v1/logout", operation_id = "logout", tag = "login",
    responses((status = 204, description = "It is ended.")))]
pub(super) async fn logout(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Problem> {
    for session in session_cookies(&headers) {
        app.auth.end_session(session);
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    set_cookie(&mut response, "", 0)?;
    Ok(response)
}

fn set_cookie(response: &mut Response, session: &str, seconds: u64) -> Result<(), Problem> {
    let cookie = format!("{SESSION_COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}");
    let mut cookie = HeaderValue::from_str(&cookie)
        .map_err(|error| Problem::internal("a session cannot be a cookie", &error))?;
    cookie.set_sensitive(true);
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(())
}
