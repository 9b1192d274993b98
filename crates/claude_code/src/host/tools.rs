//! `ToolServer`: an MCP server inside this process, reached over the session's own stream.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use json_lines::RawJson;
use serde_json::{Value, json};

use super::callbacks::BoxFuture;

/// How long a tool call may take by default.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// Answered to a client that names no version.
const PROTOCOL_VERSION: &str = "2025-06-18";
const PARSE_ERROR: i32 = -32700;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const INTERNAL_ERROR: i32 = -32603;

/// A named group of tools that the agent can call.
#[derive(Debug)]
pub struct ToolServer {
    name: String,
    tools: Vec<Tool>,
    timeout: Duration,
}

/// A tool that the agent can call.
pub struct Tool {
    name: String,
    description: String,
    input_schema: Value,
    call: Arc<dyn Fn(Value) -> BoxFuture<Result<ToolOutput, ToolError>> + Send + Sync>,
}

impl fmt::Debug for Tool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Tool")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Tool {
    /// A tool with a JSON Schema for its arguments.
    pub fn new<F, Fut>(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
        call: F,
    ) -> Self
    where
        F: Fn(Value) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            call: Arc::new(move |arguments| Box::pin(call(arguments))),
        }
    }
}

/// The result of a tool call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutput {
    content: Vec<Value>,
}

impl ToolOutput {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![json!({"type": "text", "text": text.into()})],
        }
    }

    /// Adds an image, base64-encoded.
    #[must_use]
    pub fn image(mut self, media_type: impl Into<String>, base64: impl Into<String>) -> Self {
        self.content.push(json!({
            "type": "image", "mimeType": media_type.into(), "data": base64.into(),
        }));
        self
    }
}

/// A tool call that failed. The model sees the message and can react to it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(String);

impl ToolError {
    /// With a message for the model.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl ToolServer {
    /// A server without tools.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            tools: Vec::new(),
            timeout: CALL_TIMEOUT,
        }
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Limits how long a call may take; 60 seconds by default. A call that takes longer fails, and the model gets the error.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    pub(super) fn call_timeout(&self) -> Duration {
        self.timeout
    }

    /// The name that the agent knows it by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Answers one JSON-RPC message. A notification has no answer in MCP; the CLI still expects an empty one.
    pub(super) async fn handle(&self, message: Value) -> Value {
        let id = message.get("id").cloned();
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let params = message.get("params");
        let outcome = match method {
            "initialize" => {
                let version = params
                    .and_then(|params| params.get("protocolVersion"))
                    .and_then(Value::as_str)
                    .unwrap_or(PROTOCOL_VERSION);
                Ok(json!({
                    "protocolVersion": version,
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": self.name, "version": env!("CARGO_PKG_VERSION")},
                }))
            }
            "tools/list" => {
                let tools = self.tools.iter().map(|tool| {
                    json!({
                        "name": tool.name,
                        "description": tool.description,
                        "inputSchema": tool.input_schema,
                    })
                });
                Ok(json!({"tools": tools.collect::<Vec<_>>()}))
            }
            "tools/call" => self.call(params).await,
            "ping" => Ok(json!({})),
            notification if notification.starts_with("notifications/") => Ok(json!({})),
            other => Err((METHOD_NOT_FOUND, format!("unknown method `{other}`"))),
        };
        response(id, outcome)
    }

    async fn call(&self, params: Option<&Value>) -> Result<Value, (i32, String)> {
        let name = params
            .and_then(|params| params.get("name"))
            .and_then(Value::as_str)
            .unwrap_or_default();
        let tool = self.tools.iter().find(|tool| tool.name == name);
        let tool = tool.ok_or_else(|| (INVALID_PARAMS, format!("unknown tool `{name}`")))?;
        let arguments = params
            .and_then(|params| params.get("arguments"))
            .cloned()
            .unwrap_or_else(|| json!({}));
        Ok(match (tool.call)(arguments).await {
            Ok(output) => json!({"content": output.content}),
            Err(error) => json!({
                "content": [{"type": "text", "text": error.to_string()}],
                "isError": true,
            }),
        })
    }

    /// The answer to a message that was not handled.
    pub(super) fn without_answer(message: &Value) -> Value {
        let error = (INTERNAL_ERROR, "the tool gave no answer".to_owned());
        response(message.get("id").cloned(), Err(error))
    }

    /// The answer to a message that cannot be read as a whole.
    pub(super) fn unreadable(message: &RawJson) -> Value {
        let id = message.get("id").and_then(|id| id.deserialize().ok());
        let error = (PARSE_ERROR, "the message cannot be read".to_owned());
        response(id, Err(error))
    }
}

fn response(id: Option<Value>, outcome: Result<Value, (i32, String)>) -> Value {
    let mut response = match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "result": result}),
        Err((code, message)) => json!({"jsonrpc": "2.0", "error": {"code": code, "message": message}}),
    };
    if let (Some(id), Some(members)) = (id, response.as_object_mut()) {
        members.insert("id".to_owned(), id);
    }
    response
}
