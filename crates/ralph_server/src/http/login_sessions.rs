//! `GET login-sessions`, `DELETE login-sessions`, `DELETE login-sessions/{session}`: the browsers that are logged in.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::input::{InPath, Parameters};
use crate::app::App;
use crate::auth::{Principal, Scope, SessionInfo};
use crate::problem::{Problem, ProblemCode};

/// The login sessions.
#[derive(Serialize, ToSchema)]
pub(super) struct LoginSessionList {
    /// The last used one first.
    items: Vec<LoginSession>,
}

/// A browser that is logged in.
#[derive(Serialize, ToSchema)]
pub(super) struct LoginSession {
    /// Its id, which is no secret.
    id: String,
    /// Whether it is the one that asks.
    is_current: bool,
    /// What it allows.
    scope: Scope,
    /// What the browser calls itself.
    user_agent: Option<String>,
    /// When it was opened.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it was last used.
    #[schema(value_type = String, format = DateTime)]
    last_used_at: Timestamp,
    /// When it ends.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

impl LoginSession {
    fn new(info: SessionInfo, principal: &Principal) -> Self {
        Self {
            is_current: principal.session_id() == Some(&info.id),
            id: info.id,
            scope: info.scope,
            user_agent: info.user_agent,
            created_at: info.created_at,
            last_used_at: info.last_used_at,
            expires_at: info.expires_at,
        }
    }
}

/// Lists the browsers that are logged in: all of them with scope `admin`, otherwise those of the same token.
#[utoipa::path(get, path = "/api/v1/login-sessions", operation_id = "login_sessions_list", tag = "login",
    responses((status = 200, description = "The sessions.", body = LoginSessionList)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(principal): Extension<Principal>,
) -> Json<LoginSessionList> {
    let sessions = app.auth.sessions_for(&principal).into_iter();
    let items = sessions.map(|info| LoginSession::new(info, &principal)).collect();
    Json(LoginSessionList { items })
}

/// Which sessions end.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct EndAllParameters {
    /// Whether the session that asks stays.
    #[serde(default)]
    #[param(required = false)]
    keep_current: bool,
}

/// Logs all browsers out. Their open streams end.
#[utoipa::path(delete, path = "/api/v1/login-sessions", operation_id = "login_sessions_end_all", tag = "login",
    params(EndAllParameters), responses((status = 204, description = "They are ended.")))]
pub(super) async fn end_all(
    State(app): State<Arc<App>>,
    Extension(principal): Extension<Principal>,
    Parameters(asked): Parameters<EndAllParameters>,
) -> StatusCode {
    let kept = principal.session_id().filter(|_| asked.keep_current);
    app.auth
        .end_sessions(&principal, |session| kept != Some(&session.id));
    StatusCode::NO_CONTENT
}

/// Logs one browser out. Its open streams end.
#[utoipa::path(delete, path = "/api/v1/login-sessions/{session}", operation_id = "login_sessions_end", tag = "login",
    params(("session" = String, Path, description = "The session.")),
    responses((status = 204, description = "It is ended.")))]
pub(super) async fn end(
    State(app): State<Arc<App>>,
    Extension(principal): Extension<Principal>,
    InPath(id): InPath<String>,
) -> Result<StatusCode, Problem> {
    match app.auth.end_sessions(&principal, |session| session.id == id) {
        0 => Err(Problem::new(
            ProblemCode::NotFound,
            format!("there is no login session `{id}`"),
        )),
        _ => Ok(StatusCode::NO_CONTENT),
    }
}
