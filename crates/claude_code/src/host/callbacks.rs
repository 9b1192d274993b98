//! `Host`: the callbacks of a session, and the answer to each control request of the CLI.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "process")]
use agent_client::{PermissionHost, RunOptions};
use json_lines::RawJson;
use serde_json::{Map, Value, json};

use super::hooks::{Hook, HookInput, HookOutput};
use super::permission::PermissionRequest;
use super::tools::ToolServer;
use crate::event::{ControlRequestBody, HookCallback, McpMessage};
use crate::input::{Answer, HostRequest, PermissionAnswer};

/// A person may be asked.
const PERMISSION_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// How much longer the CLI waits for a hook than we do, so that the answer is always ours.
const HOOK_MARGIN: Duration = Duration::from_secs(5);
/// The longest time that the CLI's timers can wait; a longer one would end at once.
const MAX_TIMEOUT_SECONDS: u64 = 2_147_483;

pub(super) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type PermissionCallback = Arc<dyn Fn(PermissionRequest) -> BoxFuture<PermissionAnswer> + Send + Sync>;

/// The callbacks of a run or a session: [`SessionRequest::host`](crate::SessionRequest::host),
/// [`PrintRequest::host`](crate::PrintRequest::host). Cheap to clone.
///
/// Each callback runs as a task of its own and has a time limit: an hour for permissions, 60 seconds for hooks and for
/// tool calls, unless set otherwise. If a callback takes longer or panics, the safe answer is given and the run continues:
/// the call is denied, the message is blocked, the tool call fails. If the CLI withdraws its request, for example
/// because the turn was interrupted, the callback's future is dropped.
///
/// ```
/// use claude_code::host::{Hook, HookEvent, HookOutput, Host, Tool, ToolOutput, ToolServer};
/// use claude_code::input::PermissionAnswer;
/// use serde_json::json;
///
/// let host = Host::new()
///     .on_permission(|request| async move {
///         match request.tool_name.as_str() {
///             "Read" | "Grep" => request.allow(),
///             tool => PermissionAnswer::deny(format!("{tool} is not allowed here")),
///         }
///     })
///     .hook(Hook::new(HookEvent::PreToolUse, |input| async move {
///         let command = input.tool_input["command"].as_str().unwrap_or_default();
///         if command.contains("rm -rf") {
///             return HookOutput::deny("deleting folders is not allowed");
///         }
///         HookOutput::proceed()
///     }).matcher("Bash"))
///     .tools(ToolServer::new("calculator").tool(Tool::new(
///         "add",
///         "Adds two numbers",
///         json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}),
///         |arguments| async move {
///             let sum = arguments["a"].as_f64().unwrap_or(0.0) + arguments["b"].as_f64().unwrap_or(0.0);
///             Ok(ToolOutput::text(sum.to_string()))
///         },
///     )));
/// assert!(host.initialize().is_some());
/// ```
#[derive(Clone, Default)]
pub struct Host {
    permission: Option<PermissionCallback>,
    permission_timeout: Option<Duration>,
    hooks: Vec<Arc<Hook>>,
    servers: Vec<Arc<ToolServer>>,
}

impl fmt::Debug for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Host")
            .field("answers_permissions", &self.permission.is_some())
            .field("hooks", &self.hooks)
            .field("servers", &self.servers)
            .finish()
    }
}

/// The answer to one control request, to be awaited outside the loop that reads the CLI.
#[must_use = "a request that is not answered blocks the CLI"]
pub struct HostResponse {
    /// Resolves to the answer.
    pub answer: BoxFuture<Answer>,
    /// How long the callback may take.
    pub timeout: Duration,
    /// The answer if it takes longer, or panics.
    pub fallback: Answer,
}

impl fmt::Debug for HostResponse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HostResponse")
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Host {
    /// A host without callbacks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Decides whether tools may run, and answers questions and plans.
    #[must_use]
    pub fn on_permission<F, Fut>(mut self, decide: F) -> Self
    where
        F: Fn(PermissionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = PermissionAnswer> + Send + 'static,
    {
        self.permission = Some(Arc::new(move |request| Box::pin(decide(request))));
        self
    }

    /// Limits how long a decision may take; an hour by default. Then the call is denied.
    #[must_use]
    pub fn permission_timeout(mut self, timeout: Duration) -> Self {
        self.permission_timeout = Some(timeout);
        self
    }

    /// Adds a hook.
    #[must_use]
    pub fn hook(mut self, hook: Hook) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Adds an MCP server that runs inside this process. Its tools are called `mcp__SERVER__TOOL`.
    #[must_use]
    pub fn tools(mut self, server: ToolServer) -> Self {
        self.servers.push(Arc::new(server));
        self
    }

    /// Whether there is no callback at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.permission.is_none() && self.hooks.is_empty() && self.servers.is_empty()
    }

    /// Whether permission requests have a callback, so that the CLI should send them.
    #[must_use]
    pub fn answers_permissions(&self) -> bool {
        self.permission.is_some()
    }

    /// The options, so that the CLI asks if there is a callback that decides.
    #[cfg(feature = "process")]
    pub(crate) fn options(&self, options: RunOptions) -> RunOptions {
        if self.answers_permissions() {
            options.permission_host(PermissionHost::Caller)
        } else {
            options
        }
    }

    /// The request that announces hooks and tools to the CLI; `None` when there are none.
    #[must_use]
    pub fn initialize(&self) -> Option<HostRequest> {
        if self.hooks.is_empty() && self.servers.is_empty() {
            return None;
        }
        let mut body = Map::new();
        let mut hooks = Map::new();
        for (index, hook) in self.hooks.iter().enumerate() {
            let entries = hooks
                .entry(hook.event.as_str())
                .or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(entries) = entries {
                entries.push(json!({
                    "matcher": hook.matcher,
                    "hookCallbackIds": [callback_id(index)],
                    "timeout": announced_timeout_seconds(hook.timeout),
                }));
            }
        }
        if !hooks.is_empty() {
            body.insert("hooks".to_owned(), Value::Object(hooks));
        }
        if !self.servers.is_empty() {
            let names: Vec<&str> = self.servers.iter().map(|server| server.name()).collect();
            body.insert("sdkMcpServers".to_owned(), json!(names));
        }
        Some(HostRequest::Initialize(body))
    }

    /// The answer to a control request; `None` when no callback is responsible, so that the caller must answer it.
    pub fn respond(&self, request: &ControlRequestBody) -> Option<HostResponse> {
        match request {
            ControlRequestBody::CanUseTool(request) => {
                let decide = Arc::clone(self.permission.as_ref()?);
                let Some(request) = PermissionRequest::new(request) else {
                    let denial = PermissionAnswer::deny("the arguments of this call cannot be read");
                    return Some(HostResponse::immediate(denial.into()));
                };
                Some(HostResponse {
                    answer: Box::pin(async move { Answer::Permission(decide(request).await) }),
                    timeout: self.permission_timeout.unwrap_or(PERMISSION_TIMEOUT),
                    fallback: PermissionAnswer::deny("no decision was made").into(),
                })
            }
            ControlRequestBody::HookCallback(callback) => Some(self.run_hook(callback)),
            ControlRequestBody::McpMessage(message) => Some(self.call_server(message)),
            ControlRequestBody::Other { .. } => None,
        }
    }

    fn run_hook(&self, callback: &HookCallback) -> HostResponse {
        let id = callback.callback_id.as_deref().unwrap_or_default();
        let mut hooks = self.hooks.iter().enumerate();
        let Some((_, hook)) = hooks.find(|(index, _)| callback_id(*index) == id) else {
            return HostResponse::error(format!("there is no hook `{id}`"));
        };
        let refusal = |reason: &str| HookOutput::refusal(&hook.event, reason);
        let body = |output: HookOutput| Answer::Body(output.into_body(&hook.event));
        let unreadable = "the hook's input cannot be read";
        let Some(input) = HookInput::new(callback) else {
            return match refusal(unreadable) {
                Some(refusal) => HostResponse::immediate(body(refusal)),
                None => HostResponse::error(unreadable.to_owned()),
            };
        };
        if let Some(refusal) = refusal(unreadable).filter(|_| input.raw.is_null()) {
            return HostResponse::immediate(body(refusal));
        }
        let fallback = body(refusal("the hook gave no answer").unwrap_or_default());
        let hook = Arc::clone(hook);
        HostResponse {
            timeout: hook.timeout,
            answer: Box::pin(async move { Answer::Body((hook.run)(input).await.into_body(&hook.event)) }),
            fallback,
        }
    }

    fn call_server(&self, message: &McpMessage) -> HostResponse {
        let name = message.server_name.as_deref().unwrap_or_default();
        let Some(server) = self.servers.iter().find(|server| server.name() == name) else {
            return HostResponse::error(format!("there is no MCP server `{name}` in this process"));
        };
        let message = message.message.clone().unwrap_or(RawJson::NULL);
        let Ok(read) = message.deserialize::<Value>() else {
            let answer = json!({"mcp_response": ToolServer::unreadable(&message)});
            return HostResponse::immediate(Answer::Body(answer));
        };
        let fallback = ToolServer::without_answer(&read);
        let server = Arc::clone(server);
        HostResponse {
            timeout: server.call_timeout(),
            answer: Box::pin(async move { Answer::Body(json!({"mcp_response": server.handle(read).await})) }),
            fallback: Answer::Body(json!({"mcp_response": fallback})),
        }
    }
}

impl HostResponse {
    /// For a request that no callback is responsible for.
    #[cfg(feature = "process")]
    pub(crate) fn unsupported() -> Self {
        Self::error("not supported by this client".to_owned())
    }

    fn error(message: String) -> Self {
        Self::immediate(Answer::Error(message))
    }

    /// Without asking a callback.
    fn immediate(answer: Answer) -> Self {
        let fallback = answer.clone();
        Self {
            answer: Box::pin(std::future::ready(answer)),
            timeout: Duration::MAX,
            fallback,
        }
    }
}

/// Whole seconds, always more than our own limit.
fn announced_timeout_seconds(timeout: Duration) -> u64 {
    let longer = timeout.saturating_add(HOOK_MARGIN);
    let seconds = longer
        .as_secs()
        .saturating_add(u64::from(longer.subsec_nanos() > 0));
    seconds.min(MAX_TIMEOUT_SECONDS)
}

fn callback_id(index: usize) -> String {
    format!("hook-{index}")
}
