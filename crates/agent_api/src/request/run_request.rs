//! `RunRequest`: a prompt and the options of one run.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use agent_client::{Close, RunOptions};

use super::attachment::Attachment;
use super::permission_callback::PermissionCallback;
use crate::backend::Answer;
use crate::event::PermissionRequested;

/// What to run, and how.
#[derive(Clone)]
#[non_exhaustive]
pub struct RunRequest {
    /// The prompt.
    pub prompt: String,
    /// Names the prompt in receipts, as [`RunControl::send_as`](crate::RunControl::send_as) names a message (a UUID).
    /// Only with [`Input::Messages`].
    pub prompt_id: Option<String>,
    /// Images and documents that go with the prompt. The run then takes messages: [`Input::Messages`] is implied.
    pub attachments: Vec<Attachment>,
    /// Whether it takes further messages.
    pub input: Input,
    /// Answers the agent's permission requests; see [`RunRequest::on_permission`].
    pub(crate) permission: Option<PermissionCallback>,
    /// How to run it.
    pub options: RunOptions,
}

/// Whether the agent takes messages after its prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Input {
    /// The prompt is all.
    #[default]
    PromptOnly,
    /// Messages, answers and settings while it runs, as far as the backend takes them.
    Messages(Close),
}

impl fmt::Debug for RunRequest {
    /// Without the prompt.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunRequest")
            .field("prompt_bytes", &self.prompt.len())
            .field("attachments", &self.attachments)
            .field("input", &self.input)
            .field("permission", &self.permission)
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
            attachments: Vec::new(),
            input: Input::default(),
            permission: None,
            options: RunOptions::default(),
        }
    }

    /// Adds an image or a document to the prompt. An agent that cannot take it is refused before it starts.
    #[must_use]
    pub fn attach(mut self, attachment: Attachment) -> Self {
        self.attachments.push(attachment);
        self
    }

    /// Sets how to run it.
    #[must_use]
    pub fn options(mut self, options: RunOptions) -> Self {
        self.options = options;
        self
    }

    /// Decides whether tools may run, for every agent that can ask; one that cannot is refused before it starts. The run
    /// then takes messages, and the agent asks: [`Input::Messages`] and
    /// [`PermissionHost::Caller`](crate::PermissionHost) are implied.
    ///
    /// The closure runs as a task of its own. If it takes longer than an hour ([`RunRequest::permission_timeout`]),
    /// panics, or gives an answer that the agent does not understand, the call is denied and the run continues. If the
    /// agent withdraws its request, the future is dropped. Requests are events all the same; questions and plans are
    /// only that, and wait for [`RunControl::answer`](crate::RunControl::answer).
    ///
    /// ```
    /// use agent_api::{Answer, RunRequest, ToolKind};
    ///
    /// let request = RunRequest::new("Repair it").on_permission(|asked| async move {
    ///     match asked.kind {
    ///         ToolKind::Read | ToolKind::Search => Answer::allow_by_rules(&asked),
    ///         ToolKind::Edit => Answer::Allow,
    ///         _ => Answer::deny("only reading and editing is allowed"),
    ///     }
    /// });
    /// # let _ = request;
    /// ```
    #[must_use]
    pub fn on_permission<F, Fut>(mut self, decide: F) -> Self
    where
        F: Fn(PermissionRequested) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Answer> + Send + 'static,
    {
        self.permission = Some(PermissionCallback::new(decide));
        self
    }

    /// Limits how long a decision of [`RunRequest::on_permission`] may take.
    #[must_use]
    pub fn permission_timeout(mut self, timeout: Duration) -> Self {
        if let Some(permission) = &mut self.permission {
            permission.timeout = timeout;
        }
        self
    }

    /// Sets whether the agent takes messages after its prompt.
    #[must_use]
    pub fn input(mut self, input: Input) -> Self {
        self.input = input;
        self
    }
}
