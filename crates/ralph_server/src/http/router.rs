//! `table`: every path with its handler and the scope it needs; `router` makes the HTTP side of a server of it.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{from_fn, from_fn_with_state};
use utoipa_axum::routes;

use super::access::{Access, RouteCheck, check_access, check_route};
use super::idempotency::remember_answers;
use super::query_limits::{QueryLimiter, limit_queries};
use super::route::{PublicRoutes, Route, RouteInfo};
use super::{
    approvals, backends, changes, commands, compression, costs, failures, files, live_streams, login,
    login_sessions, messages, metrics_page, openapi, pages, raw, records, run_changes, runs, search,
    sessions, start, status, tickets, workspaces,
};
use crate::app::App;
use crate::problem::{Problem, ProblemCode};

/// The table of all addresses. The router, the document that describes it and the tests that try the doors are made
/// of it.
pub(super) fn table() -> Vec<Route> {
    vec![
        Route::public(routes!(pages::index)).undocumented(),
        Route::public(routes!(pages::new_run)).undocumented(),
        Route::public(routes!(pages::login)).undocumented(),
        Route::public(routes!(pages::run)).undocumented(),
        Route::public(routes!(pages::asset)).undocumented(),
        Route::public(routes!(status::health)),
        Route::public(routes!(login::login)),
        Route::server_token(routes!(login::new_link)),
        Route::read(routes!(login::logout)).confined(),
        Route::read(routes!(login_sessions::list, login_sessions::end_all)).confined(),
        Route::read(routes!(login_sessions::end)).confined(),
        Route::read(routes!(tickets::create)).confined(),
        Route::read(routes!(status::ready)),
        Route::read(routes!(metrics_page::metrics)),
        Route::read(routes!(openapi::document)).confined(),
        Route::read(routes!(openapi::stream_schema)).confined(),
        Route::read(routes!(runs::list)).confined(),
        Route::start(routes!(start::start)).confined(),
        Route::read(routes!(runs::show)),
        Route::steer(routes!(run_changes::update)),
        Route::admin(routes!(run_changes::delete)),
        Route::read(routes!(records::page)),
        Route::read(routes!(records::one)),
        Route::read(routes!(failures::list)),
        Route::read(routes!(raw::output)),
        Route::read(routes!(raw::errors)),
        Route::read(routes!(files::preview)),
        Route::read(routes!(changes::list)),
        Route::steer(routes!(messages::send)),
        Route::read(routes!(messages::list)),
        Route::steer(routes!(messages::edit, messages::withdraw)),
        Route::read(routes!(messages::list)).formerly("/api/v1/runs/{id}/queue"),
        Route::steer(routes!(messages::edit, messages::withdraw))
            .formerly("/api/v1/runs/{id}/queue/{message_id}"),
        Route::steer(routes!(commands::interrupt)),
        Route::steer(routes!(commands::stop)),
        Route::steer(routes!(commands::top_up)),
        Route::steer(routes!(commands::set_model)),
        Route::steer(routes!(commands::set_permission_mode)),
        Route::start(routes!(start::resume)),
        Route::start(routes!(start::fork)),
        Route::read(routes!(approvals::list)).confined(),
        Route::steer(routes!(approvals::answer)),
        Route::read(routes!(search::search))
            .limited_by(QueryLimiter::of_searches())
            .confined(),
        Route::read(routes!(costs::costs))
            .limited_by(QueryLimiter::of_costs())
            .confined(),
        Route::read(routes!(sessions::list)).confined(),
        Route::read(routes!(sessions::runs_of)).confined(),
        Route::read(routes!(backends::list)),
        Route::read(routes!(workspaces::list)).confined(),
        Route::read(routes!(live_streams::stream))
            .with_tickets()
            .confined(),
        Route::read(routes!(live_streams::events)).with_tickets(),
    ]
}

/// Every address and method there is, with its rule.
#[must_use]
pub fn routes() -> Vec<RouteInfo> {
    let infos = table().into_iter().flat_map(|route| {
        let (path, rule, is_documented) = (route.path, route.rule, route.is_documented);
        route.methods.into_iter().map(move |method| RouteInfo {
            method,
            path: path.clone(),
            policy: rule.policy,
            is_confined: rule.is_confined || rule.is_about_run,
            is_documented,
        })
    });
    infos.collect()
}

/// The whole HTTP side of a server. Access is checked before routing, so that no address tells a stranger whether it exists.
pub fn router(app: Arc<App>) -> Router {
    let table = table();
    let public = Arc::new(PublicRoutes::of(&table));
    let checked = table
        .into_iter()
        .fold(Router::new(), |router, route| {
            let check = RouteCheck {
                app: Arc::clone(&app),
                rule: route.rule,
            };
            let check = from_fn_with_state(check, check_route);
            let remember = from_fn_with_state(Arc::clone(&app), remember_answers);
            // The check comes first: what is refused leaves no trace of its key.
            let handlers = match route.queries {
                Some(queries) => route
                    .handlers
                    .route_layer(from_fn_with_state(queries, limit_queries)),
                None => route.handlers,
            };
            let handlers = handlers.route_layer(remember).route_layer(check);
            router.route(&route.path, handlers)
        })
        .fallback(pages::not_found)
        .method_not_allowed_fallback(not_allowed)
        .layer(from_fn(compression::mark_commands))
        .layer(compression::layer())
        .with_state(Arc::clone(&app));
    let access = from_fn_with_state(Access { app, public }, check_access);
    // Layers of a router run after its routing: this one goes round a router that has no routes of its own.
    Router::new().fallback_service(checked).layer(access)
}

async fn not_allowed(request: Request) -> Problem {
    let detail = format!(
        "`{}` is not for this address; see the `allow` header",
        request.method()
    );
    Problem::new(ProblemCode::MethodNotAllowed, detail)
}
