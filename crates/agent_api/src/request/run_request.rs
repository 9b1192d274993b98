//! One run.

use std::fmt;

use super::options::RunOptions;

/// What to run, and how.
#[derive(Clone)]
pub struct RunRequest {
    /// What the agent is told.
    pub prompt: String,
    /// Names the prompt in receipts, as [`RunControl::send_as`](crate::RunControl::send_as) names a message (a UUID).
    /// Only with [`Input::Messages`].
    pub prompt_id: Option<String>,
    /// Whether it can be told more.
    pub input: Input,
    /// How to run it.
    pub options: RunOptions,
}

/// Whether the agent can be told more than its prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Input {
    /// The prompt is all.
    #[default]
    PromptOnly,
    /// Messages, answers and settings while it runs, as far as the backend takes them.
    Messages(Close),
}

/// When the agent's input ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Close {
    /// As soon as all it was asked is done: the run ends by itself.
    #[default]
    WhenIdle,
    /// When the holder says so: the run waits for further messages.
    ByCaller,
}

impl fmt::Debug for RunRequest {
    /// Without the prompt.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunRequest")
            .field("prompt_bytes", &self.prompt.len())
            .field("input", &self.input)
            .field("options", &self.options)
            .finish()
    }
}

impl RunRequest {
    /// A prompt with default options.
    #[must_use]
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            prompt_id: None,
            input: Input::default(),
            options: RunOptions::default(),
        }
    }

    /// Sets how to run it.
    #[must_use]
    pub fn options(mut self, options: RunOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets whether the agent can be told more.
    #[must_use]
    pub fn input(mut self, input: Input) -> Self {
        self.input = input;
        self
    }
}
