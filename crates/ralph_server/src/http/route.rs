//! `Route`: an address with its rule, as the table in `router.rs` lists them.

use std::sync::Arc;

use axum::http::Method;
use axum::routing::MethodRouter;
use utoipa::openapi::path::{HttpMethod, Operation, PathItem, Paths};
use utoipa::openapi::{RefOr, Schema};
use utoipa_axum::router::UtoipaMethodRouter;

use super::query_limits::QueryLimiter;
use crate::app::App;
use crate::auth::Scope;

/// The address of a run.
const RUN_PATH: &str = "/api/v1/runs/{id}";

/// Who may ask for an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Everybody who asks under a name of the server: nothing is told or done there.
    Public,
    /// Whoever shows a token or a session with this scope.
    Scope(Scope),
    /// Whoever shows the server token itself.
    ServerToken,
}

/// What a route needs of those who ask for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RouteRule {
    pub(super) policy: Policy,
    /// Whether a ticket is enough.
    pub(super) takes_ticket: bool,
    /// Whether it is about one run, `/api/v1/runs/{id}` or below: its workspace decides whether a confined token may
    /// ask for it.
    pub(super) is_about_run: bool,
    /// Whether its handler shows and does only what the token's workspaces allow. A route that says nothing is refused
    /// to confined tokens.
    pub(super) is_confined: bool,
}

/// One address and method, for those who look at all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteInfo {
    /// The method.
    pub method: Method,
    /// The address, with `{names}` for what varies.
    pub path: String,
    /// Who may ask.
    pub policy: Policy,
    /// Whether a token that is confined to workspaces may ask for it, and is shown only those.
    pub is_confined: bool,
    /// Whether the OpenAPI document describes it: everything but the web page and old addresses.
    pub is_documented: bool,
}

/// One address, with everything that is there.
pub(super) struct Route {
    pub(super) rule: RouteRule,
    pub(super) is_documented: bool,
    pub(super) path: String,
    pub(super) methods: Vec<Method>,
    pub(super) paths: Paths,
    pub(super) schemas: Vec<(String, RefOr<Schema>)>,
    pub(super) handlers: MethodRouter<Arc<App>>,
    /// How many requests for it run at once, if they are expensive.
    pub(super) queries: Option<QueryLimiter>,
}

impl Route {
    pub(super) fn public(routes: UtoipaMethodRouter<Arc<App>>) -> Self {
        Self::new(Policy::Public, routes)
    }

    /// Needs a token or a session with scope `read`.
    pub(super) fn read(routes: UtoipaMethodRouter<Arc<App>>) -> Self {
        Self::new(Policy::Scope(Scope::Read), routes)
    }

    /// Needs a token or a session with scope `steer`.
    pub(super) fn steer(routes: UtoipaMethodRouter<Arc<App>>) -> Self {
        Self::new(Policy::Scope(Scope::Steer), routes)
    }

    /// Needs a token or a session with scope `start`.
    pub(super) fn start(routes: UtoipaMethodRouter<Arc<App>>) -> Self {
        Self::new(Policy::Scope(Scope::Start), routes)
    }

    /// Needs a token or a session with scope `admin`.
    pub(super) fn admin(routes: UtoipaMethodRouter<Arc<App>>) -> Self {
        Self::new(Policy::Scope(Scope::Admin), routes)
    }

    /// Needs the server token itself.
    pub(super) fn server_token(routes: UtoipaMethodRouter<Arc<App>>) -> Self {
        Self::new(Policy::ServerToken, routes)
    }

    /// A ticket is enough.
    pub(super) fn with_tickets(mut self) -> Self {
        self.rule.takes_ticket = true;
        self
    }

    /// Its handler shows and does only what the token's workspaces allow.
    pub(super) fn confined(mut self) -> Self {
        self.rule.is_confined = true;
        self
    }

    /// Its requests are expensive queries.
    pub(super) fn limited_by(mut self, queries: QueryLimiter) -> Self {
        self.queries = Some(queries);
        self
    }

    /// Keeps the route out of the OpenAPI document.
    pub(super) fn undocumented(mut self) -> Self {
        self.is_documented = false;
        self
    }

    /// The same under its old address, which the OpenAPI document does not mention.
    pub(super) fn formerly(mut self, path: &str) -> Self {
        self.path = path.to_owned();
        self.undocumented()
    }

    fn new(policy: Policy, (schemas, paths, handlers): UtoipaMethodRouter<Arc<App>>) -> Self {
        let (path, item) = paths
            .paths
            .iter()
            .next()
            .map(|(path, item)| (path.clone(), item.clone()))
            .unwrap_or_default();
        let methods = operations(&item).into_iter().map(|(method, _)| method).collect();
        let rule = RouteRule {
            policy,
            takes_ticket: false,
            is_about_run: path == RUN_PATH || path.starts_with(&format!("{RUN_PATH}/")),
            is_confined: false,
        };
        Self {
            rule,
            is_documented: true,
            path,
            methods,
            paths,
            schemas,
            handlers,
            queries: None,
        }
    }
}

fn operations(item: &PathItem) -> Vec<(Method, &Operation)> {
    let all = [
        (Method::GET, &item.get),
        (Method::PUT, &item.put),
        (Method::POST, &item.post),
        (Method::DELETE, &item.delete),
        (Method::PATCH, &item.patch),
    ];
    all.into_iter()
        .filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
        .collect()
}

/// What is said about each address and method, to be completed.
pub(super) fn operations_mut(item: &mut PathItem) -> impl Iterator<Item = (HttpMethod, &mut Operation)> {
    [
        (HttpMethod::Get, &mut item.get),
        (HttpMethod::Put, &mut item.put),
        (HttpMethod::Post, &mut item.post),
        (HttpMethod::Delete, &mut item.delete),
        (HttpMethod::Patch, &mut item.patch),
    ]
    .into_iter()
    .filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

/// The addresses that need no token. Whatever is not among them does, whether or not it exists.
#[derive(Debug, Default)]
pub(super) struct PublicRoutes {
    routes: Vec<(Method, String)>,
}

impl PublicRoutes {
    pub(super) fn of(routes: &[Route]) -> Self {
        let public = routes.iter().filter(|route| route.rule.policy == Policy::Public);
        let routes = public
            .flat_map(|route| {
                route
                    .methods
                    .iter()
                    .map(|method| (method.clone(), route.path.clone()))
            })
            .collect();
        Self { routes }
    }

    pub(super) fn contain(&self, method: &Method, path: &str) -> bool {
        let method = if method == Method::HEAD {
            &Method::GET
        } else {
            method
        };
        self.routes
            .iter()
            .any(|(public, pattern)| public == method && fits(pattern, path))
    }
}

/// Part by part, as it was sent: nothing is decoded or resolved before.
fn fits(pattern: &str, path: &str) -> bool {
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some(name), Some(part)) if name.starts_with('{') && !part.is_empty() => {}
            (Some(word), Some(part)) if word == part => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PublicRoutes;
    use axum::http::Method;

    #[test]
    fn only_the_very_address_is_public() {
        let routes = vec![
            (Method::GET, "/health".to_owned()),
            (Method::GET, "/assets/{file}".to_owned()),
        ];
        let public = PublicRoutes { routes };
        assert!(public.contain(&Method::GET, "/health") && public.contain(&Method::HEAD, "/health"));
        assert!(public.contain(&Method::GET, "/assets/b.js"));
        for (method, path) in [
            (Method::POST, "/health"),
            (Method::GET, "/health/"),
            (Method::GET, "/Health"),
            (Method::GET, "//health"),
            (Method::GET, "/health/../api/v1/runs"),
            (Method::GET, "/assets"),
            (Method::GET, "/assets/"),
            (Method::GET, "/assets/a/b.js"),
            (Method::GET, "/assets//b.js"),
            (Method::GET, "/assets/../api/v1/runs"),
            (Method::GET, "/{file}/b.js"),
        ] {
            assert!(!public.contain(&method, path), "{method} {path}");
        }
    }
}
