//! All addresses.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use utoipa_axum::routes;

use super::guard::{Guard, guard};
use super::idempotency::remember_answers;
use super::route::{PublicRoutes, Route, RouteInfo};
use super::{
    approvals, backends, commands, costs, files, login, metrics_page, openapi, pages, queue, raw, records,
    runs, search, sessions, start, status, watch, workspaces,
};
use crate::app::App;
use crate::problem::{Problem, ProblemCode};

/// The table of all addresses. The router, the document that describes it and the tests that try the doors are made
/// of it.
pub(super) fn table() -> Vec<Route> {
    vec![
        Route::public(routes!(pages::index)).undocumented(),
        Route::public(routes!(pages::new_run)).undocumented(),
        Route::public(routes!(pages::run)).undocumented(),
        Route::public(routes!(pages::asset)).undocumented(),
        Route::public(routes!(status::health)),
        Route::public(routes!(login::login_by_code)).undocumented(),
        Route::public(routes!(login::login)),
        Route::authed(routes!(login::new_link)),
        Route::authed(routes!(login::logout)),
        Route::authed(routes!(status::ready)),
        Route::authed(routes!(metrics_page::metrics)),
        Route::authed(routes!(openapi::document)),
        Route::authed(routes!(runs::list, start::start)),
        Route::authed(routes!(runs::show)),
        Route::authed(routes!(records::page)),
        Route::authed(routes!(records::one)),
        Route::authed(routes!(raw::output)),
        Route::authed(routes!(raw::errors)),
        Route::authed(routes!(files::preview)),
        Route::authed(routes!(queue::send)),
        Route::authed(routes!(queue::list)),
        Route::authed(routes!(queue::edit, queue::withdraw)),
        Route::authed(routes!(commands::interrupt)),
        Route::authed(routes!(commands::stop)),
        Route::authed(routes!(commands::top_up)),
        Route::authed(routes!(commands::set_model)),
        Route::authed(routes!(commands::set_permission_mode)),
        Route::authed(routes!(start::resume)),
        Route::authed(routes!(start::fork)),
        Route::authed(routes!(approvals::list)),
        Route::authed(routes!(approvals::answer)),
        Route::authed(routes!(search::search)),
        Route::authed(routes!(costs::costs)),
        Route::authed(routes!(sessions::list)),
        Route::authed(routes!(sessions::runs_of)),
        Route::authed(routes!(backends::list)),
        Route::authed(routes!(workspaces::list)),
        Route::authed(routes!(watch::stream)),
        Route::authed(routes!(watch::events)),
    ]
}

/// Every address and method there is, with its rule.
#[must_use]
pub fn routes() -> Vec<RouteInfo> {
    let infos = table().into_iter().flat_map(|route| {
        let (path, policy, is_documented) = (route.path, route.policy, route.is_documented);
        route.methods.into_iter().map(move |method| RouteInfo {
            method,
            path: path.clone(),
            policy,
            is_documented,
        })
    });
    infos.collect()
}

/// The whole HTTP side of a server. The guard stands before the router, so it sees every request first.
pub fn router(app: Arc<App>) -> Router {
    let table = table();
    let public = Arc::new(PublicRoutes::of(&table));
    let guarded = table
        .into_iter()
        .fold(Router::new(), |router, route| {
            router.route(&route.path, route.handlers)
        })
        .fallback(not_found)
        .method_not_allowed_fallback(not_allowed)
        .layer(from_fn_with_state(Arc::clone(&app), remember_answers))
        .with_state(Arc::clone(&app));
    let guard = from_fn_with_state(Guard { app, public }, guard);
    // Layers of a router run after its routing: the guard goes round a router that has no routes of its own.
    Router::new().fallback_service(guarded).layer(guard)
}

async fn not_found() -> Problem {
    Problem::new(ProblemCode::NotFound, "there is nothing at this address")
}

async fn not_allowed(request: Request) -> Problem {
    let detail = format!(
        "`{}` is not for this address; see the `allow` header",
        request.method()
    );
    Problem::new(ProblemCode::MethodNotAllowed, detail)
}
