//! `check_access` and `check_route`: the checks of every request before its handler, and the headers of every response.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{ConnectInfo, RawPathParams, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::admission::ConnectionPermit;
use super::client_process::ClientProcess;
use super::listener::MAX_HEAD_BYTES;
use super::pages::is_navigation;
use super::route::{Policy, PublicRoutes, RouteRule};
use super::token_connections::TokenConnection;
use crate::app::App;
use crate::auth::{Credential, Origin, Principal, Scope, only};
use crate::problem::{Problem, ProblemCode};

/// Earlier versions kept a session in a cookie.
const CLEAR_OLD_COOKIE: HeaderValue =
    HeaderValue::from_static("ralph_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");

const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
    form-action 'self'; require-trusted-types-for 'script'";

const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(CONTENT_SECURITY_POLICY),
    ),
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

/// For a year.
const ONLY_HTTPS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// The address that a request comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) IpAddr);

/// State of `check_access`.
#[derive(Clone)]
pub(super) struct Access {
    pub(super) app: Arc<App>,
    pub(super) public: Arc<PublicRoutes>,
}

/// Runs before the router: a request that is refused here reaches no handler, whether or not its address exists.
pub(super) async fn check_access(State(access): State<Access>, mut request: Request, next: Next) -> Response {
    let peer = peer_of(&request);
    request.extensions_mut().insert(Peer(peer));
    let has_cookie = has_old_cookie(request.headers());
    let (began, method) = (Instant::now(), request.method().clone());
    let path = request.uri().path().to_owned();
    let is_strict = access.app.auth.hosts().is_tls() && !is_localhost(request.headers());
    let admitted = match access.admit(&request, peer) {
        Ok(principal) => {
            let process = acting_process(&request);
            access.refuse_agents(process).await.map(|()| principal)
        }
        Err(problem) => Err(problem),
    };
    let actor = admitted
        .as_ref()
        .ok()
        .and_then(|principal| Some(principal.as_ref()?.actor()));
    let mut response = match admitted {
        Ok(principal) => {
            if let Some(principal) = principal {
                if let Some(permit) = request.extensions().get::<ConnectionPermit>() {
                    permit.set_known();
                }
                if let Some(connection) = request.extensions().get::<TokenConnection>()
                    && !principal.is_unlimited()
                {
                    connection.belongs_to(&principal.issuer_hex());
                }
                request.extensions_mut().insert(principal);
            }
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    };
    let status = response.status();
    // Successful requests for the files of the page and for `/health` are not logged.
    let is_read = matches!(method, Method::GET | Method::HEAD);
    if actor.is_some() || !status.is_success() || !is_read {
        let who = (peer, actor.as_deref());
        let outcome = (status.as_u16(), began.elapsed());
        let created = only(response.headers(), &header::LOCATION).filter(|_| status == StatusCode::CREATED);
        access
            .app
            .access_log
            .write(who, (method.as_str(), &path), outcome, created);
    }
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, value);
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    if is_strict {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, ONLY_HTTPS);
    }
    if has_cookie {
        headers.insert(header::SET_COOKIE, CLEAR_OLD_COOKIE);
    }
    response
}

impl Access {
    /// Checks host, origin, credentials and content type. Returns `None` for public addresses.
    fn admit(&self, request: &Request, peer: IpAddr) -> Result<Option<Principal>, Problem> {
        let (headers, auth) = (request.headers(), &self.app.auth);
        if head_bytes(request) > MAX_HEAD_BYTES {
            let detail = format!("the head of a request has at most {MAX_HEAD_BYTES} bytes");
            return Err(Problem::new(ProblemCode::HeadTooLarge, detail));
        }
        if !auth.hosts().is_own(request.uri(), headers) {
            let detail = "the server is not known under this name; see `--allow-host`";
            return Err(Problem::new(ProblemCode::ForeignHost, detail));
        }
        if auth.hosts().origin(headers) == Origin::Foreign {
            let detail = "pages of other sites may not ask this server";
            return Err(Problem::new(ProblemCode::ForeignOrigin, detail));
        }
        let is_public = self.public.contain(request.method(), request.uri().path()) || is_navigation(request);
        let principal = if is_public {
            None
        } else {
            Some(self.authenticate(request, peer)?)
        };
        check_content_type(headers)?;
        Ok(principal)
    }

    /// An agent may read, but not act as its user. Commands over a WebSocket are checked there.
    async fn refuse_agents(&self, process: Option<ClientProcess>) -> Result<(), Problem> {
        match process {
            Some(process) => process.refuse_agents(self.app.runners.as_ref()).await,
            None => Ok(()),
        }
    }

    /// Only what a client sends on purpose counts: a header, or a ticket in the address. A cookie, which a browser adds
    /// to requests of any page, does not.
    fn authenticate(&self, request: &Request, peer: IpAddr) -> Result<Principal, Problem> {
        let (headers, auth) = (request.headers(), &self.app.auth);
        if headers.contains_key(header::AUTHORIZATION) {
            let secret = bearer(headers);
            let principal = secret.and_then(|secret| auth.authenticate(secret));
            return principal
                .ok_or_else(|| wrong_secret(&self.app, peer, &auth.why_refused(secret.unwrap_or_default())));
        }
        if let Some(ticket) = ticket_of(request) {
            let principal = auth.redeem_ticket(ticket);
            return principal
                .ok_or_else(|| wrong_secret(&self.app, peer, "this ticket is not valid any more"));
        }
        let detail = if has_old_cookie(headers) {
            "login cookies are not accepted any more: log in again"
        } else {
            "send `Authorization: Bearer TOKEN`, or log in at the address that `ralph serve` printed"
        };
        Err(Problem::new(ProblemCode::Unauthenticated, detail))
    }
}

/// State of `check_route`.
#[derive(Clone)]
pub(super) struct RouteCheck {
    pub(super) app: Arc<App>,
    pub(super) rule: RouteRule,
}

/// Runs after routing, on exactly the handler that was found: whether the token or session is enough for it.
pub(super) async fn check_route(
    State(check): State<RouteCheck>,
    parameters: RawPathParams,
    request: Request,
    next: Next,
) -> Response {
    // The body of a request is not shared between threads, so the check sees what it needs and not the request.
    let principal = request.extensions().get::<Principal>().cloned();
    match check.allows(&parameters, principal).await {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

impl RouteCheck {
    async fn allows(&self, parameters: &RawPathParams, principal: Option<Principal>) -> Result<(), Problem> {
        let rule = &self.rule;
        let scope = match rule.policy {
            Policy::Public => return Ok(()),
            Policy::Scope(scope) => scope,
            Policy::ServerToken => Scope::Admin,
        };
        let Some(principal) = principal else {
            return Err(Problem::new(ProblemCode::Unauthenticated, "nobody has logged in"));
        };
        if principal.is_by_ticket && !rule.takes_ticket {
            let detail = "a ticket opens a live stream and nothing else";
            return Err(Problem::new(ProblemCode::Unauthenticated, detail));
        }
        if rule.policy == Policy::ServerToken && principal.credential != Credential::ServerToken {
            let detail = "this needs the server token itself, not a session or another token";
            return Err(Problem::new(ProblemCode::InsufficientScope, detail));
        }
        if principal.scope < scope {
            let detail = format!(
                "this needs a token with scope `{scope}`; yours has `{}`",
                principal.scope
            );
            return Err(Problem::new(ProblemCode::InsufficientScope, detail));
        }
        if principal.workspaces.is_some() {
            self.allows_confined(&principal, parameters).await?;
        }
        Ok(())
    }

    /// A token that is confined to workspaces finds no other runs.
    async fn allows_confined(
        &self,
        principal: &Principal,
        parameters: &RawPathParams,
    ) -> Result<(), Problem> {
        if self.rule.is_about_run {
            let id = parameters
                .iter()
                .find(|(name, _)| *name == "id")
                .map(|(_, id)| id);
            let id = id.unwrap_or_default();
            let summary = self.app.run(id).await?;
            return if principal.covers(Path::new(&summary.workspace)) {
                Ok(())
            } else {
                Err(Problem::no_run(id))
            };
        }
        if self.rule.is_confined {
            return Ok(());
        }
        let detail = "this is not available to a token that is confined to workspaces";
        Err(Problem::new(ProblemCode::InsufficientScope, detail))
    }
}

/// Counts a wrong secret. Returns the problem for it, or `rate_limited` after too many.
pub(super) fn wrong_secret(app: &App, peer: IpAddr, detail: &str) -> Problem {
    match app.auth.count_failure(peer) {
        Ok(()) => Problem::new(ProblemCode::Unauthenticated, detail),
        Err(wait) => rate_limited("too many wrong secrets", wait),
    }
}

pub(super) fn rate_limited(detail: &str, wait: Duration) -> Problem {
    Problem::new(ProblemCode::RateLimited, detail).retry_after(wait.as_secs() + 1)
}

/// Size of the head: hyper accepts a little more than its limit if it arrives in a single read.
fn head_bytes(request: &Request) -> usize {
    // `GET / HTTP/1.1` and the line ends.
    let address = request
        .uri()
        .path_and_query()
        .map_or(1, |address| address.as_str().len());
    let first = request.method().as_str().len() + address + " HTTP/1.1 \r\n\r\n".len();
    let fields = request.headers().iter();
    first
        + fields
            .map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len())
            .sum::<usize>()
}

/// The client's process, if the request can change something.
fn acting_process(request: &Request) -> Option<ClientProcess> {
    let is_safe = matches!(*request.method(), Method::GET | Method::HEAD);
    request.extensions().get().filter(|_| !is_safe).cloned()
}

/// HSTS holds for all ports of a name, so it would break other servers on `localhost`.
fn is_localhost(headers: &HeaderMap) -> bool {
    let host = only(headers, &header::HOST).unwrap_or_default();
    let name = host.split(':').next().unwrap_or_default();
    name.eq_ignore_ascii_case("localhost")
}

/// The address of the client.
fn peer_of(request: &Request) -> IpAddr {
    request
        .extensions()
        .get::<ConnectInfo<SocketAddr>>()
        .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |info| info.0.ip())
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = only(headers, &header::AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// The ticket in the address of a request that only reads.
fn ticket_of(request: &Request) -> Option<&str> {
    if request.method() != Method::GET {
        return None;
    }
    let mut parameters = request.uri().query()?.split('&');
    parameters.find_map(|parameter| parameter.strip_prefix("ticket="))
}

/// Whether a browser still has the cookie of an earlier version.
fn has_old_cookie(headers: &HeaderMap) -> bool {
    let cookies = headers.get_all(header::COOKIE).iter();
    cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|cookies| cookies.split(';'))
        .any(|cookie| cookie.trim().starts_with("ralph_session="))
}

/// A page of another site can send a form or text without asking, but no JSON.
fn check_content_type(headers: &HeaderMap) -> Result<(), Problem> {
    let has_length = headers
        .get(header::CONTENT_LENGTH)
        .is_some_and(|length| length.as_bytes() != b"0");
    let has_body = has_length || headers.contains_key(header::TRANSFER_ENCODING);
    let is_json = only(headers, &header::CONTENT_TYPE).is_some_and(is_json);
    let names_other = headers.contains_key(header::CONTENT_TYPE) && !is_json;
    if names_other || (has_body && !is_json) {
        let detail = "a body must be JSON: send `content-type: application/json`";
        return Err(Problem::new(ProblemCode::UnsupportedMediaType, detail));
    }
    Ok(())
}

fn is_json(content_type: &str) -> bool {
    let mut parts = content_type.split(';').map(str::trim);
    let is_json = parts
        .next()
        .is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    is_json
        && parts.all(|parameter| {
            parameter.eq_ignore_ascii_case("charset=utf-8")
                || parameter.eq_ignore_ascii_case("charset=\"utf-8\"")
        })
}

#[cfg(test)]
mod tests {
    use super::is_json;

    #[test]
    fn only_json_is_json() {
        assert!(is_json("application/json") && is_json("Application/JSON; charset=UTF-8"));
        for other in [
            "",
            "text/plain",
            "text/plain; application/json",
            "application/json2",
            "application/json, text/plain",
            "application/json;charset=utf-7",
            "multipart/form-data; boundary=application/json",
        ] {
            assert!(!is_json(other), "{other}");
        }
    }
}
