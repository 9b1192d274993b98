//! What to ask of the CLI: [`PrintRequest`] is one prompt, [`SessionRequest`] is a conversation.
//!
//! Both carry [`RunOptions`](crate::RunOptions); the client's own options fill the gaps.

use agent_client::RunOptions;

use crate::host::Host;

/// One prompt: [`Client::print_stream_json`](crate::Client::print_stream_json) and
/// [`Client::run`](crate::Client::run).
#[derive(Debug, Clone, Default)]
pub struct PrintRequest {
    /// The prompt. It is passed to the CLI on stdin, never on the command line.
    pub prompt: String,
    /// Callbacks that answer the CLI.
    pub host: Host,
    /// How to run it.
    pub options: RunOptions,
}

/// One prompt, as the simple form [`Client::run`](crate::Client::run) takes it.
pub type Request = PrintRequest;

/// A conversation: [`Client::session`](crate::Client::session).
#[derive(Debug, Clone, Default)]
pub struct SessionRequest {
    /// Whether user messages come back as events.
    pub replay: Replay,
    /// Callbacks that answer the CLI.
    pub host: Host,
    /// How to run it.
    pub options: RunOptions,
}

/// Whether the CLI repeats user messages as events once the model has received them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Replay {
    /// Yes, if the CLI supports it.
    #[default]
    WhereSupported,
    /// No.
    Off,
}

impl PrintRequest {
    /// A prompt with default options.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            host: Host::new(),
            options: RunOptions::default(),
        }
    }

    /// Answers permission requests, runs hooks and offers tools while the CLI works.
    #[must_use]
    pub fn host(mut self, host: Host) -> Self {
        self.host = host;
        self
    }

    /// Sets how to run it.
    #[must_use]
    pub fn options(mut self, options: RunOptions) -> Self {
        self.options = options;
        self
    }
}

impl SessionRequest {
    /// A conversation with default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers permission requests, runs hooks and offers tools while the CLI works. The CLI's requests are among the
    /// events nevertheless; leave those that have a callback alone.
    #[must_use]
    pub fn host(mut self, host: Host) -> Self {
        self.host = host;
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
    pub fn options(mut self, options: RunOptions) -> Self {
        self.options = options;
        self
    }
}
