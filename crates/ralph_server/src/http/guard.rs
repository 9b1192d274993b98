//! What every request passes before anything else looks at it, and what every answer carries.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::client_process::ClientProcess;
use super::listener::MAX_HEAD_BYTES;
use super::route::PublicRoutes;
use crate::app::App;
use crate::auth::{Origin, Visit, only};
use crate::problem::{Problem, ProblemCode};

pub(crate) const SESSION_COOKIE: &str = "ralph_session";

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

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Our page sends this with everything. A page of another site cannot without asking first, and is told no.
const PAGE: HeaderName = HeaderName::from_static("x-ralph-page");

/// Who asks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) IpAddr);

/// What the guard knows.
#[derive(Clone)]
pub(super) struct Guard {
    pub(super) app: Arc<App>,
    pub(super) public: Arc<PublicRoutes>,
}

/// Stands before the router: what is not admitted never reaches a handler, an unknown address included.
pub(super) async fn guard(State(guard): State<Guard>, mut request: Request, next: Next) -> Response {
    let peer = peer_of(&request);
    request.extensions_mut().insert(Peer(peer));
    let admitted = match guard.admit(&request, peer) {
        Ok(visit) => {
            let process = acting_process(&request);
            guard.refuse_agents(process).await.map(|()| visit)
        }
        Err(problem) => Err(problem),
    };
    let mut response = match admitted {
        Ok(visit) => {
            if let Some(visit) = visit {
                request.extensions_mut().insert(visit);
            }
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, value);
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

impl Guard {
    /// Lets a request in, or says why not. Who comes by a session is a visitor.
    fn admit(&self, request: &Request, peer: IpAddr) -> Result<Option<Visit>, Problem> {
        let (headers, auth) = (request.headers(), &self.app.auth);
        if head_bytes(request) > MAX_HEAD_BYTES {
            let detail = format!("the head of a request has at most {MAX_HEAD_BYTES} bytes");
            return Err(Problem::new(ProblemCode::HeadTooLarge, detail));
        }
        if !auth.hosts().is_own(request.uri(), headers) {
            let detail = "the server is not known under this name; see `--allow-host`";
            return Err(Problem::new(ProblemCode::ForeignHost, detail));
        }
        let origin = auth.hosts().origin(headers);
        if origin == Origin::Foreign {
            let detail = "pages of other sites may not ask this server";
            return Err(Problem::new(ProblemCode::ForeignOrigin, detail));
        }
        let visit = if self.public.contain(request.method(), request.uri().path()) {
            None
        } else {
            self.authenticate(request, origin, peer)?
        };
        check_content_type(headers)?;
        Ok(visit)
    }

    /// An agent may look, but not act as its user. What is said over a WebSocket is checked there.
    async fn refuse_agents(&self, process: Option<ClientProcess>) -> Result<(), Problem> {
        match process {
            Some(process) => process.refuse_agents(self.app.runners.as_ref()).await,
            None => Ok(()),
        }
    }

    fn authenticate(
        &self,
        request: &Request,
        origin: Origin,
        peer: IpAddr,
    ) -> Result<Option<Visit>, Problem> {
        let (headers, auth) = (request.headers(), &self.app.auth);
        if headers.contains_key(header::AUTHORIZATION) {
            let is_right = bearer(headers).is_some_and(|token| auth.is_token(token));
            return if is_right {
                Ok(None)
            } else {
                Err(self.wrong_secret(peer))
            };
        }
        let mut sessions = session_cookies(headers).peekable();
        if sessions.peek().is_none() {
            let detail = "show the server's token, or log in by the address that `ralph serve` printed";
            return Err(Problem::new(ProblemCode::Unauthenticated, detail));
        }
        let Some(visit) = sessions.find_map(|session| auth.enter(session)) else {
            return Err(self.wrong_secret(peer));
        };
        // A browser sends the cookie whoever asks it to: that the page is ours must be shown, too.
        let is_safe =
            matches!(*request.method(), Method::GET | Method::HEAD) && !headers.contains_key(header::UPGRADE);
        // Over plain HTTP a browser says where a request comes from on loopback only, so there the page says it.
        let is_same_site = match only(headers, &SEC_FETCH_SITE) {
            Some(site) => site == "same-origin",
            None => !headers.contains_key(&SEC_FETCH_SITE) && only(headers, &PAGE) == Some("1"),
        };
        if origin == Origin::Own || (is_safe && is_same_site) {
            return Ok(Some(visit));
        }
        let detail = "a browser's session is for pages of this server only";
        Err(Problem::new(ProblemCode::ForeignOrigin, detail))
    }

    fn wrong_secret(&self, peer: IpAddr) -> Problem {
        failed(&self.app, peer, "this token or session is not valid")
    }
}

/// Counts a wrong secret and says so; after too many of them it only says to wait.
pub(super) fn failed(app: &App, peer: IpAddr, detail: &str) -> Problem {
    match app.auth.count_failure(peer) {
        Ok(()) => Problem::new(ProblemCode::Unauthenticated, detail),
        Err(wait) => {
            tracing::warn!(%peer, "too many wrong secrets");
            rate_limited("too many wrong secrets", wait)
        }
    }
}

pub(super) fn rate_limited(detail: &str, wait: Duration) -> Problem {
    Problem::new(ProblemCode::RateLimited, detail).retry_after(wait.as_secs() + 1)
}

/// How large the head was: what reads it takes a little more in a single read.
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

/// Who asks, as far as the connection says.
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

/// The sessions that a browser shows: pages of other ports of this machine can add some of theirs.
pub(super) fn session_cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|cookie| cookie.trim().strip_prefix(SESSION_COOKIE)?.strip_prefix('='))
        .take(4)
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
