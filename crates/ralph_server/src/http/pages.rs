//! The page that a browser sees first.

use axum::http::header;
use axum::response::IntoResponse;

const INDEX: &str = include_str!("index.html");

/// Shows a page for people.
#[utoipa::path(get, path = "/", tag = "server",
    responses((status = 200, description = "A page.", body = String, content_type = "text/html; charset=utf-8")))]
pub(super) async fn index() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], INDEX)
}
