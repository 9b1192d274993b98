//! `POST login`, `POST login-links`, `POST logout`: a one-time code or a token is exchanged for the key of a session.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access::{Peer, wrong_secret};
use super::input::JsonBody;
use crate::app::App;
use crate::auth::{NewSession, Principal, Scope, only};
use crate::problem::{Problem, ProblemCode};

/// A code or a token, one of them.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    /// The code of a login link. It works once, for ten minutes.
    #[schema(min_length = 1, nullable = false)]
    code: Option<String>,
    /// The server token, or one that `ralph token create` made.
    #[schema(min_length = 1, nullable = false)]
    token: Option<String>,
}

/// A new session.
#[derive(Serialize, ToSchema)]
pub(super) struct LoggedIn {
    /// Sent with every request: `Authorization: Bearer KEY`. It is shown only here.
    key: String,
    /// Names the session in lists and journals.
    id: String,
    /// What it allows.
    scope: Scope,
    /// When it ends. It ends earlier if the token that opened it does.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

/// A login link.
#[derive(Serialize, ToSchema)]
pub(super) struct LoginLink {
    /// Opens a session in the browser that opens it. It works once, for ten minutes.
    url: String,
}

/// Makes a link that logs a browser in, once, within ten minutes. Needs the server token itself.
#[utoipa::path(post, path = "/api/v1/login-links", operation_id = "login_links_create", tag = "login",
    responses((status = 201, description = "The link.", body = LoginLink)))]
pub(super) async fn new_link(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let url = app
        .auth
        .login_url()
        .map_err(|error| Problem::internal("cannot make a link", &error))?;
    Ok((StatusCode::CREATED, Json(LoginLink { url })).into_response())
}

/// Opens a session with a code or a token.
#[utoipa::path(post, path = "/api/v1/login", operation_id = "login", tag = "login", request_body = Login,
    responses((status = 201, description = "The session.", body = LoggedIn)))]
pub(super) async fn login(
    State(app): State<Arc<App>>,
    Extension(Peer(peer)): Extension<Peer>,
    headers: HeaderMap,
    JsonBody(login): JsonBody<Login>,
) -> Result<Response, Problem> {
    let session = open_session(&app, peer, only(&headers, &header::USER_AGENT), &login)?;
    let NewSession { key, info } = session;
    let body = LoggedIn {
        key,
        id: info.id,
        scope: info.scope,
        expires_at: info.expires_at,
    };
    Ok((StatusCode::CREATED, Json(body)).into_response())
}

fn open_session(
    app: &App,
    peer: IpAddr,
    user_agent: Option<&str>,
    login: &Login,
) -> Result<NewSession, Problem> {
    let (opened, wrong) = match (&login.code, &login.token) {
        (Some(code), None) => (
            app.auth.login_by_code(code, user_agent),
            "this code is not valid any more: `ralph serve` prints a new one",
        ),
        (None, Some(token)) => (
            app.auth.login_by_token(token, user_agent),
            "this is not a token of this server",
        ),
        (Some(_), Some(_)) | (None, None) => {
            let detail = "send either `code` or `token`";
            return Err(Problem::new(ProblemCode::InvalidBody, detail));
        }
    };
    opened
        .map_err(|error| Problem::internal("cannot open a session", &error))?
        .ok_or_else(|| wrong_secret(app, peer, wrong))
}

/// Ends the session that asks. A token stays valid.
#[utoipa::path(post, path = "/api/v1/logout", operation_id = "logout", tag = "login",
    responses((status = 204, description = "It is ended, and with it the streams that it opened.")))]
pub(super) async fn logout(
    State(app): State<Arc<App>>,
    Extension(principal): Extension<Principal>,
) -> StatusCode {
    app.auth.log_out(&principal);
    StatusCode::NO_CONTENT
}
