//! The kinds of requests.

use super::choices::{PermissionHost, Replay};
use super::options::Options;

/// One prompt: [`Client::print_stream_json`](crate::Client::print_stream_json) and
/// [`Client::run`](crate::Client::run).
#[derive(Debug, Clone, Default)]
pub struct PrintRequest {
    /// What to do. It reaches the CLI by stdin, never by the command line.
    pub prompt: String,
    /// How to do it.
    pub options: Options,
}

/// One prompt, as the simple form [`Client::run`](crate::Client::run) takes it.
pub type Request = PrintRequest;

/// A conversation: [`Client::session`](crate::Client::session).
#[derive(Debug, Clone, Default)]
pub struct SessionRequest {
    /// Who is asked when a tool needs permission.
    pub permission_host: PermissionHost,
    /// Whether user messages come back as events.
    pub replay: Replay,
    /// How to run it.
    pub options: Options,
}

impl PrintRequest {
    /// A prompt with nothing else chosen.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            options: Options::default(),
        }
    }

    /// Sets how to do it.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
}

impl SessionRequest {
    /// A conversation in which nobody is asked for permission.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets who is asked when a tool needs permission.
    #[must_use]
    pub fn permission_host(mut self, permission_host: PermissionHost) -> Self {
        self.permission_host = permission_host;
        self
    }

    /// Sets whether user messages come back as events.
    #[must_use]
    pub fn replay(mut self, replay: Replay) -> Self {
        self.replay = replay;
        self
    }

    /// Sets how to run it.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
}
