//! The web page: one HTML file for all of its addresses, and the files it needs. What it shows it asks the API for.

use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::input::InPath;
use super::static_files::{Keeping, answer};
use crate::problem::{Problem, ProblemCode};

/// First parts of addresses where the page never is.
const NO_PAGES: [&str; 6] = ["api", "assets", "health", "login", "metrics", "ready"];

/// Whether a browser asks for a page of ours that may not exist: a mistyped address, or an old link. It is answered
/// with the web page, which says so. Nothing else is told there, so it needs no token.
pub(super) fn is_navigation(request: &Request) -> bool {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let accepts = request.headers().get_all(header::ACCEPT).iter();
    let wants_html = accepts
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.split(',').any(|kind| kind.trim().starts_with("text/html")));
    let path = request.uri().path();
    let first = path.split('/').find(|part| !part.is_empty()).unwrap_or_default();
    let is_file = path.rsplit('/').next().is_some_and(|last| last.contains('.'));
    is_read && wants_html && !is_file && !NO_PAGES.contains(&first.to_ascii_lowercase().as_str())
}

/// Answers what is at no address: with the web page for a browser, else with a problem.
pub(super) async fn not_found(request: Request) -> Response {
    if is_navigation(&request)
        && let Ok(page) = page(request.headers())
    {
        return (StatusCode::NOT_FOUND, page).into_response();
    }
    Problem::new(ProblemCode::NotFound, "there is nothing at this address").into_response()
}

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
    found.ok_or_else(|| Problem::new(ProblemCode::NotFound, "the page has no such file: reload it"))
}

fn page(headers: &HeaderMap) -> Result<Response, Problem> {
    let page = answer("index.html", Keeping::Asking, headers);
    page.ok_or_else(|| Problem::new(ProblemCode::NotFound, "there is no page: run `make web`"))
}
