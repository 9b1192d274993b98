//! Hooks: callbacks that the CLI calls before and after tools, prompts and turns.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use serde_json::{Map, Value, json};

use json_lines::RawJson;

use super::callbacks::BoxFuture;
use crate::event::HookCallback;

/// The CLI's own default.
const HOOK_TIMEOUT: Duration = Duration::from_secs(60);

/// When a hook runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookEvent {
    /// Before a tool runs; can allow, deny or change the call.
    PreToolUse,
    /// After a tool succeeded.
    PostToolUse,
    /// After a tool failed.
    PostToolUseFailure,
    /// Before a message reaches the model; can block it or add context.
    UserPromptSubmit,
    /// Before the turn ends; can make the model continue.
    Stop,
    /// Before a subagent ends.
    SubagentStop,
    /// Before the conversation is compacted.
    PreCompact,
    /// When the CLI would notify a person.
    Notification,
    /// Any other event, by the CLI's name.
    Other(String),
}

impl HookEvent {
    /// The CLI's name for it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::Stop => "Stop",
            Self::SubagentStop => "SubagentStop",
            Self::PreCompact => "PreCompact",
            Self::Notification => "Notification",
            Self::Other(name) => name,
        }
    }
}

/// A callback for one event.
///
/// It fails closed: a tool call is denied and a message is blocked if the callback panics, takes too long, or cannot be
/// told what it has to decide about.
pub struct Hook {
    pub(super) event: HookEvent,
    pub(super) matcher: Option<String>,
    pub(super) timeout: Duration,
    pub(super) run: Box<dyn Fn(HookInput) -> BoxFuture<HookOutput> + Send + Sync>,
}

impl fmt::Debug for Hook {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Hook")
            .field("event", &self.event)
            .field("matcher", &self.matcher)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Hook {
    /// A hook that runs at every occurrence of the event, for at most 60 seconds.
    pub fn new<F, Fut>(event: HookEvent, run: F) -> Self
    where
        F: Fn(HookInput) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = HookOutput> + Send + 'static,
    {
        Self {
            event,
            matcher: None,
            timeout: HOOK_TIMEOUT,
            run: Box::new(move |input| Box::pin(run(input))),
        }
    }

    /// Runs only for tools whose name matches this pattern: `Bash`, `Edit|Write`, `mcp__.*`.
    #[must_use]
    pub fn matcher(mut self, pattern: impl Into<String>) -> Self {
        self.matcher = Some(pattern.into());
        self
    }

    /// Limits how long the callback may take. Then the tool call is denied, or the message is blocked; other events
    /// change nothing.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

/// The input of a hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookInput {
    /// The CLI's name of the event.
    pub event_name: String,
    /// The session.
    pub session_id: Option<String>,
    /// The tool, for events about tools.
    pub tool_name: Option<String>,
    /// Its arguments, `Null` for other events.
    pub tool_input: Value,
    /// Its result, after it ran.
    pub tool_response: Option<Value>,
    /// The message, for `UserPromptSubmit`.
    pub prompt: Option<String>,
    /// Everything the CLI sent.
    pub raw: Value,
}

impl HookInput {
    /// `None` if it cannot be read: it must not look like a call without arguments.
    pub(super) fn new(callback: &HookCallback) -> Option<Self> {
        let input = callback.input.as_ref();
        let raw: Value = input.map_or(Ok(Value::Null), RawJson::deserialize).ok()?;
        let text = |name: &str| raw.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            event_name: text("hook_event_name").unwrap_or_default(),
            session_id: text("session_id"),
            tool_name: text("tool_name"),
            tool_input: raw.get("tool_input").cloned().unwrap_or(Value::Null),
            tool_response: raw.get("tool_response").cloned(),
            prompt: text("prompt"),
            raw,
        })
    }
}

/// What a hook decides.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookOutput {
    body: Map<String, Value>,
    /// Members of `hookSpecificOutput`, which must also name the event.
    specific: Map<String, Value>,
}

impl HookOutput {
    /// Changes nothing.
    #[must_use]
    pub fn proceed() -> Self {
        Self::default()
    }

    /// `PreToolUse`: the tool runs without asking anyone.
    #[must_use]
    pub fn allow() -> Self {
        Self::default().specific("permissionDecision", "allow")
    }

    /// `PreToolUse`: the tool does not run; the model gets the reason.
    #[must_use]
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::default()
            .specific("permissionDecision", "deny")
            .specific("permissionDecisionReason", reason.into())
    }

    /// `PreToolUse`: the permission callback or a person decides.
    #[must_use]
    pub fn ask() -> Self {
        Self::default().specific("permissionDecision", "ask")
    }

    /// `UserPromptSubmit`: the message is rejected. `Stop`: the model continues with the reason.
    #[must_use]
    pub fn block(reason: impl Into<String>) -> Self {
        let mut output = Self::default();
        output.body.insert("decision".to_owned(), "block".into());
        output.body.insert("reason".to_owned(), reason.into().into());
        output
    }

    /// Ends the run; the reason is shown to the user.
    #[must_use]
    pub fn stop(reason: impl Into<String>) -> Self {
        let mut output = Self::default();
        output.body.insert("continue".to_owned(), false.into());
        output.body.insert("stopReason".to_owned(), reason.into().into());
        output
    }

    /// Forbids what the hook should have approved; `None` for events that forbid nothing.
    pub(super) fn refusal(event: &HookEvent, reason: &str) -> Option<Self> {
        match event.as_str() {
            "PreToolUse" => Some(Self::deny(reason)),
            "UserPromptSubmit" => Some(Self::block(reason)),
            _ => None,
        }
    }

    /// A response in the CLI's own format.
    #[must_use]
    pub fn raw(body: Map<String, Value>) -> Self {
        Self {
            body,
            specific: Map::new(),
        }
    }

    /// `PreToolUse`: the tool runs with these arguments instead.
    #[must_use]
    pub fn updated_input(self, input: Value) -> Self {
        self.specific("updatedInput", input)
    }

    /// Adds a text to what the model sees.
    #[must_use]
    pub fn additional_context(self, text: impl Into<String>) -> Self {
        self.specific("additionalContext", text.into())
    }

    fn specific(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.specific.insert(name.to_owned(), value.into());
        self
    }

    pub(super) fn into_body(self, event: &HookEvent) -> Value {
        let Self {
            mut body,
            mut specific,
        } = self;
        if !specific.is_empty() {
            specific.insert("hookEventName".to_owned(), json!(event.as_str()));
            body.insert("hookSpecificOutput".to_owned(), Value::Object(specific));
        }
        Value::Object(body)
    }
}
