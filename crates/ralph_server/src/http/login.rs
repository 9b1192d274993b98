//! Exchanging a secret for a browser's session.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
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

/// Opens a browser's session with a code that works once, and goes to the page without it.
#[utoipa::path(get, path = "/login", tag = "login", params(LoginParameters),
    responses((status = 303, description = "The session is in a cookie.")))]
pub(super) async fn login_by_code(
    State(app): State<Arc<App>>,
    Extension(Peer(peer)): Extension<Peer>,
    Parameters(asked): Parameters<LoginParameters>,
    request: Request,
) -> Result<Response, Problem> {
    if request.method() != Method::GET {
        // A program that only looks must not use up the code.
        return Err(Problem::new(
            ProblemCode::MethodNotAllowed,
            "a code is used by GET only",
        ));
    }
    let session = app
        .auth
        .redeem_code(&asked.code)
        .map_err(|error| Problem::internal("cannot open a session", &error))?;
    let detail = "this code is not valid any more: `ralph serve` prints a new one";
    let session = session.ok_or_else(|| failed(&app, peer, detail))?;
    let mut response = StatusCode::SEE_OTHER.into_response();
    response
        .headers_mut()
        .insert(header::LOCATION, HeaderValue::from_static("/"));
    set_cookie(&mut response, &session, SESSION_LIFETIME.as_secs())?;
    Ok(response)
}

/// Opens a session with the token.
#[utoipa::path(post, path = "/api/v1/login", tag = "login", request_body = Login,
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
#[utoipa::path(post, path = "/api/v1/logout", tag = "login",
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
