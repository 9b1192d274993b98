//! The web page. It shows nothing by itself: what it shows it asks the API for.

use axum::http::HeaderMap;
use axum::response::Response;

use super::input::InPath;
use super::static_files::{Keeping, answer};
use crate::problem::{Problem, ProblemCode};

/// Shows the page: all runs.
#[utoipa::path(get, path = "/", operation_id = "page_index", tag = "page",
    responses((status = 200, description = "A page.", body = String, content_type = "text/html; charset=utf-8")))]
pub(super) async fn index(headers: HeaderMap) -> Result<Response, Problem> {
    page(&headers)
}

/// Shows the page: a new run.
#[utoipa::path(get, path = "/new", operation_id = "page_new_run", tag = "page",
    responses((status = 200, description = "A page.", body = String, content_type = "text/html; charset=utf-8")))]
pub(super) async fn new_run(headers: HeaderMap) -> Result<Response, Problem> {
    page(&headers)
}

/// Shows the page: it exchanges the code in the fragment, which never reaches the server as part of an address.
#[utoipa::path(get, path = "/login", operation_id = "page_login", tag = "page",
    responses((status = 200, description = "A page.", body = String, content_type = "text/html; charset=utf-8")))]
pub(super) async fn login(headers: HeaderMap) -> Result<Response, Problem> {
    page(&headers)
}

/// Shows the page: a run. Whether there is such a run is the API's to say.
#[utoipa::path(get, path = "/runs/{id}", operation_id = "page_run", tag = "page", params(("id" = String, Path, description = "The run.")),
    responses((status = 200, description = "A page.", body = String, content_type = "text/html; charset=utf-8")))]
pub(super) async fn run(headers: HeaderMap) -> Result<Response, Problem> {
    page(&headers)
}

/// Gives a file of the page.
#[utoipa::path(get, path = "/assets/{file}", operation_id = "page_asset", tag = "page",
    params(("file" = String, Path, description = "Its name, which changes with its content.")),
    responses((status = 200, description = "The file.", content(
        (String = "text/javascript; charset=utf-8"), (String = "text/css; charset=utf-8"),
        (String = "image/svg+xml"), (String = "application/octet-stream")))))]
pub(super) async fn asset(InPath(file): InPath<String>, headers: HeaderMap) -> Result<Response, Problem> {
    let found = answer(&format!("assets/{file}"), Keeping::Always, &headers);
    found.ok_or_else(|| Problem::new(ProblemCode::NotFound, "the page has no such file: load it anew"))
}

fn page(headers: &HeaderMap) -> Result<Response, Problem> {
    let page = answer("index.html", Keeping::Asking, headers);
    page.ok_or_else(|| Problem::new(ProblemCode::NotFound, "there is no page: run `make web`"))
}
