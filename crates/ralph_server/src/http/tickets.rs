//! One-time tickets, for streams that a browser opens without headers.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Principal;
use crate::problem::Problem;

/// A ticket.
#[derive(Serialize, ToSchema)]
pub(super) struct Ticket {
    /// Sent as `?ticket=TICKET` to `/api/v1/stream` or `/api/v1/runs/{id}/events`, instead of the `Authorization` header.
    ticket: String,
    /// When it stops working.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

/// Makes a ticket that opens one live stream, once, within 30 seconds. The stream may do what whoever asks for the
/// ticket may do, and ends with that token or session.
#[utoipa::path(post, path = "/api/v1/tickets", operation_id = "tickets_create", tag = "login",
    responses((status = 201, description = "The ticket.", body = Ticket)))]
pub(super) async fn create(
    State(app): State<Arc<App>>,
    Extension(principal): Extension<Principal>,
) -> Result<(StatusCode, Json<Ticket>), Problem> {
    let (ticket, expires_at) = app
        .auth
        .new_ticket(&principal)
        .map_err(|error| Problem::internal("cannot make a ticket", &error))?;
    Ok((StatusCode::CREATED, Json(Ticket { ticket, expires_at })))
}
