//! `Problem`: every error that the API answers with (RFC 9457).

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ralph_run::control::{ControlError, Refusal, RefusalCode};
use ralph_store::StoreError;
use serde::Serialize;
use utoipa::ToSchema;

use crate::launch::{LaunchError, UntrustedSetting, UntrustedWorkspace};
use crate::live::FeedError;
use crate::runners::CommandError;

/// For programs: what went wrong. A code keeps its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProblemCode {
    /// The body is not JSON.
    MalformedJson,
    /// The body is JSON, and not what belongs here.
    InvalidBody,
    /// A part of the address or a header is wrong.
    InvalidParameter,
    /// No token, no session, or not ours.
    Unauthenticated,
    /// A page of another site asks.
    ForeignOrigin,
    /// The token or session is valid, and does not allow this.
    InsufficientScope,
    /// The token or the server allows runs in other workspaces only.
    WorkspaceNotAllowed,
    /// The token or the server does not allow this permission mode, or what has the same effect.
    PermissionModeNotAllowed,
    /// The run could cost more than the token or the server allows: `limit` says how much that is.
    CostCeiling,
    /// As many runs are live as the token or the server allows: `limit` says how many that are.
    LiveRunLimit,
    /// The client is a process of an agent, and this is for its user.
    AgentNotAllowed,
    /// There is no such address.
    NotFound,
    /// There is no such run.
    RunNotFound,
    /// There is no such record.
    RecordNotFound,
    /// There is no such message.
    MessageNotFound,
    /// Nobody waits for this answer.
    RequestNotFound,
    /// There is no such file, or it cannot be shown.
    FileNotFound,
    /// The address is right, the method is not.
    MethodNotAllowed,
    /// Another run has the workspace or the conversation.
    Busy,
    /// The workspace's `ralph.yml` is not trusted: `settings` lists what it would do.
    UntrustedWorkspace,
    /// Somebody else answered first.
    AlreadyAnswered,
    /// The agent was given the message already.
    AlreadySent,
    /// The run has ended, or its runner does not answer any more.
    RunEnded,
    /// The run does not do it.
    Refused,
    /// A request with this key is being done.
    KeyInProgress,
    /// The body is too large.
    TooLarge,
    /// The head of the request is too large.
    HeadTooLarge,
    /// The body must be JSON.
    UnsupportedMediaType,
    /// There is nothing in this range.
    InvalidRange,
    /// The server is asked under a name that is not its own.
    ForeignHost,
    /// The key was used for another request.
    KeyReused,
    /// It is understood, and cannot be done.
    Unprocessable,
    /// This agent, or this run, cannot do that.
    Unsupported,
    /// The agent is not there, or not logged in.
    BackendUnavailable,
    /// Too many requests.
    RateLimited,
    /// A fault of ours.
    Internal,
    /// The index is not there right now.
    StoreUnavailable,
    /// The runner has too much to do.
    RunnerBusy,
    /// The runner does not answer.
    RunnerSilent,
    /// The client took too long to send its request.
    Timeout,
    /// The server has as many connections as it takes.
    TooManyClients,
    /// Stream: a client watches too much, or has too many commands under way.
    TooMany,
    /// Stream: a message is not JSON, or not one of the messages of a client.
    Malformed,
    /// Stream: a message is binary; only text is read.
    NotText,
    /// The records of a run cannot be read.
    Unreadable,
    /// Stream: the run was deleted while it was watched.
    RunDeleted,
    /// Stream: the login that opened the connection has ended.
    SessionEnded,
}

impl ProblemCode {
    /// The status that goes with it.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::MalformedJson | Self::InvalidBody | Self::InvalidParameter | Self::Malformed => {
                StatusCode::BAD_REQUEST
            }
            Self::Unauthenticated | Self::SessionEnded => StatusCode::UNAUTHORIZED,
            Self::ForeignOrigin
            | Self::InsufficientScope
            | Self::WorkspaceNotAllowed
            | Self::PermissionModeNotAllowed
            | Self::CostCeiling
            | Self::AgentNotAllowed => StatusCode::FORBIDDEN,
            Self::NotFound
            | Self::RunNotFound
            | Self::RecordNotFound
            | Self::MessageNotFound
            | Self::RequestNotFound
            | Self::FileNotFound => StatusCode::NOT_FOUND,
            Self::RunDeleted => StatusCode::GONE,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Timeout => StatusCode::REQUEST_TIMEOUT,
            Self::Busy
            | Self::LiveRunLimit
            | Self::UntrustedWorkspace
            | Self::AlreadyAnswered
            | Self::AlreadySent
            | Self::RunEnded
            | Self::Refused
            | Self::KeyInProgress => StatusCode::CONFLICT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::UnsupportedMediaType | Self::NotText => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::InvalidRange => StatusCode::RANGE_NOT_SATISFIABLE,
            Self::ForeignHost => StatusCode::MISDIRECTED_REQUEST,
            Self::KeyReused | Self::Unprocessable | Self::Unsupported | Self::BackendUnavailable => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            Self::RateLimited | Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal | Self::Unreadable => StatusCode::INTERNAL_SERVER_ERROR,
            Self::StoreUnavailable | Self::RunnerBusy | Self::TooManyClients => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Self::RunnerSilent => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    fn title(self) -> &'static str {
        self.status().canonical_reason().unwrap_or("Error")
    }

    /// As it is written.
    pub(crate) fn word(self) -> String {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::String(name)) => name,
            Ok(_) | Err(_) => String::new(),
        }
    }
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    code: ProblemCode,
    detail: String,
    place: Option<(usize, usize)>,
    errors: Vec<FieldError>,
    retry_after_seconds: Option<u64>,
    untrusted: Option<Box<UntrustedWorkspace>>,
    limit: Option<Box<ReachedLimit>>,
}

/// A limit on starts, and where the runs are with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ReachedLimit {
    /// Which: `max_live_runs`, `max_run_cost_micro_usd` or `max_day_cost_micro_usd`.
    pub(crate) name: &'static str,
    /// Whose: `token ci`, or `this server`.
    pub(crate) of: String,
    /// How much is allowed.
    pub(crate) limit: u64,
    /// How much there is, without the run that was asked for. For a day's cost, with what live runs may still use.
    pub(crate) current: u64,
}

/// What is wrong with one part of a request's body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct FieldError {
    /// Which part: a JSON pointer (RFC 6901), such as `/limits/turns`. Empty for the body as a whole.
    pub(crate) pointer: String,
    /// For people: what is wrong with it.
    pub(crate) detail: String,
}

/// The body of every answer that is an error, as `application/problem+json`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProblemBody<'a> {
    /// `urn:ralph:problem:` and the code.
    #[serde(rename = "type")]
    kind: String,
    /// The status in words.
    title: &'static str,
    /// The status.
    status: u16,
    /// For programs: what went wrong.
    code: ProblemCode,
    /// For people: what went wrong, and what to do.
    detail: &'a str,
    /// The parts of the body that are wrong, if that is the problem.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(required = false)]
    errors: &'a [FieldError],
    /// Where in the body, if that is what is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// Where in the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    /// With `untrusted_workspace`: what the workspace's `ralph.yml` would do.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(required = false)]
    settings: &'a [UntrustedSetting],
    /// With `untrusted_workspace`: the files in the workspace that these settings name.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(required = false)]
    files: &'a [String],
    /// With `untrusted_workspace`: what a start sends as `trust` to trust exactly this. Absent if it cannot be trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<&'a str>,
    /// With `live_run_limit` and `cost_ceiling`: the limit, and where the runs are with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    limit: Option<&'a ReachedLimit>,
}

impl Problem {
    /// A problem.
    pub fn new(code: ProblemCode, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            place: None,
            errors: Vec::new(),
            retry_after_seconds: None,
            untrusted: None,
            limit: None,
        }
    }

    pub(crate) fn at(mut self, line: usize, column: usize) -> Self {
        self.place = Some((line, column));
        self
    }

    /// Names the part of the body that is wrong, by its JSON pointer. Its detail is that of the problem.
    pub(crate) fn in_field(mut self, pointer: impl Into<String>) -> Self {
        self.errors.push(FieldError {
            pointer: pointer.into(),
            detail: self.detail.clone(),
        });
        self
    }

    /// Says where the runs are with a limit on starts.
    pub(crate) fn reached(mut self, limit: ReachedLimit) -> Self {
        self.limit = Some(Box::new(limit));
        self
    }

    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_seconds = Some(seconds);
        self
    }

    pub(crate) fn no_run(id: &str) -> Self {
        Self::new(
            ProblemCode::RunNotFound,
            format!("there is no run `{}`", bounded(id)),
        )
    }

    /// A fault of ours: the log has it, the client only learns that it is one.
    pub(crate) fn internal(what: &str, error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "{what}");
        Self::new(
            ProblemCode::Internal,
            "something went wrong on the server; its log says what",
        )
    }

    /// For programs.
    #[must_use]
    pub fn code(&self) -> ProblemCode {
        self.code
    }

    /// For people.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

/// What somebody sent, short enough to be said back.
fn bounded(text: &str) -> String {
    text.chars().take(64).filter(|char| !char.is_control()).collect()
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.code.status();
        let untrusted = self.untrusted.as_deref();
        let body = ProblemBody {
            kind: format!("urn:ralph:problem:{}", self.code.word()),
            title: self.code.title(),
            status: status.as_u16(),
            code: self.code,
            detail: &self.detail,
            errors: &self.errors,
            line: self.place.map(|(line, _)| line),
            column: self.place.map(|(_, column)| column),
            settings: untrusted.map_or(&[], |untrusted| &untrusted.settings),
            files: untrusted.map_or(&[], |untrusted| &untrusted.files),
            digest: untrusted.and_then(|untrusted| untrusted.digest.as_deref()),
            limit: self.limit.as_deref(),
        };
        let mut response = Response::new(Body::from(serde_json::to_vec(&body).unwrap_or_default()));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code == ProblemCode::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::BadCursor | StoreError::BadSearch(_) => {
                Self::new(ProblemCode::Unprocessable, error.to_string())
            }
            StoreError::Unavailable(_) | StoreError::Full(_) | StoreError::InUse { .. } => {
                tracing::warn!(%error, "the index is not available");
                let detail = "the database is unavailable; runs are not affected. Try again in 5 s";
                Self::new(ProblemCode::StoreUnavailable, detail).retry_after(5)
            }
            _ => Self::internal("the index failed", &error),
        }
    }
}

impl From<LaunchError> for Problem {
    fn from(error: LaunchError) -> Self {
        let code = match &error {
            LaunchError::Invalid { .. } => ProblemCode::Unprocessable,
            LaunchError::Busy { .. } => ProblemCode::Busy,
            LaunchError::Untrusted { .. } => ProblemCode::UntrustedWorkspace,
            LaunchError::BackendUnavailable { .. } => ProblemCode::BackendUnavailable,
            LaunchError::Failed { .. } => ProblemCode::Internal,
        };
        let problem = Self::new(code, error.to_string());
        match error {
            LaunchError::Untrusted { workspace, .. } => Self {
                untrusted: Some(Box::new(workspace)),
                ..problem
            },
            LaunchError::Invalid {
                pointer: Some(pointer),
                ..
            } => problem.in_field(pointer),
            _ => problem,
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal.code {
            RefusalCode::Malformed
            | RefusalCode::Invalid
            | RefusalCode::Unfitting
            | RefusalCode::UnknownCommand => ProblemCode::Unprocessable,
            RefusalCode::TooLong => ProblemCode::TooLarge,
            RefusalCode::IdReused => ProblemCode::KeyReused,
            RefusalCode::Busy | RefusalCode::TooManyClients => ProblemCode::RunnerBusy,
            RefusalCode::Unsupported => ProblemCode::Unsupported,
            RefusalCode::NoSuchRequest => ProblemCode::RequestNotFound,
            RefusalCode::InputClosed | RefusalCode::RunEnded => ProblemCode::RunEnded,
            RefusalCode::NoSuchMessage => ProblemCode::MessageNotFound,
            RefusalCode::AlreadyAnswered => ProblemCode::AlreadyAnswered,
            RefusalCode::AlreadySent => ProblemCode::AlreadySent,
            RefusalCode::Forbidden | RefusalCode::Other => ProblemCode::Refused,
        };
        Self::new(code, refusal.message)
    }
}

impl From<ControlError> for Problem {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::NotRunning { .. } | ControlError::Closed => {
                Self::new(ProblemCode::RunEnded, "the run has ended: no runner answers")
            }
            ControlError::Silent { .. } => Self::new(ProblemCode::RunnerSilent, error.to_string()),
            ControlError::TooLong { .. } => Self::new(ProblemCode::TooLarge, error.to_string()),
            ControlError::Incompatible { .. } => Self::new(ProblemCode::Unsupported, error.to_string()),
            ControlError::Refused(refusal) => refusal.into(),
            other => Self::internal("cannot speak to a runner", &other),
        }
    }
}

impl From<CommandError> for Problem {
    fn from(error: CommandError) -> Self {
        match error {
            CommandError::NoSuchRun(run) => Self::no_run(&run),
            CommandError::NotRunning => {
                Self::new(ProblemCode::RunEnded, "the run has ended: no runner answers")
            }
            CommandError::Refused(refusal) => refusal.into(),
            CommandError::Unreachable(error) => error.into(),
        }
    }
}

impl From<FeedError> for Problem {
    fn from(error: FeedError) -> Self {
        match error {
            FeedError::NoSuchRun(run) => Self::no_run(&run.0),
            FeedError::Journal(error) => {
                tracing::warn!(%error, "a journal cannot be read");
                Self::new(ProblemCode::Unreadable, "the records of the run cannot be read")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Problem, ProblemCode};
    use axum::response::IntoResponse as _;

    #[test]
    fn a_problem_has_its_own_content_type_and_says_when_to_come_again() {
        let response = Problem::new(ProblemCode::RateLimited, "slowly")
            .retry_after(3)
            .into_response();
        assert_eq!(response.status(), 429);
        assert_eq!(response.headers()["content-type"], "application/problem+json");
        assert_eq!(response.headers()["retry-after"], "3");
    }

    #[test]
    fn what_a_client_sent_is_said_back_short_and_harmless() {
        let problem = Problem::no_run(&format!("\u{1b}[2J{}", "x".repeat(1000)));
        assert!(problem.detail().len() < 100 && !problem.detail().contains('\u{1b}'));
    }
}
