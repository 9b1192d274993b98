//! `HostRequest`: control requests to the CLI.

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value};

use super::line::line;
use crate::event::PermissionMode;

/// Something the CLI is asked to do between or during turns. It answers each with a `control_response`; versions
/// before 2.1.83 do not answer what they do not know.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HostRequest {
    /// Say what there is: commands, agents, models, account. The body may announce hooks and in-process MCP servers.
    Initialize(Map<String, Value>),
    /// End the turn. The process keeps running.
    Interrupt,
    /// Use another model from now on; `None` is the default one.
    SetModel(Option<String>),
    /// Change what may happen without asking.
    SetPermissionMode(PermissionMode),
    /// Limit the thinking; `None` lifts the limit.
    SetMaxThinkingTokens(Option<u32>),
    /// Stop a background task.
    StopTask {
        /// Its id.
        task_id: String,
    },
    /// End the process.
    EndSession,
    /// Anything else.
    Other {
        /// What is asked.
        subtype: String,
        /// Further members beside `subtype`.
        body: Map<String, Value>,
    },
}

impl HostRequest {
    /// A request without further members.
    pub fn other(subtype: impl Into<String>) -> Self {
        Self::Other {
            subtype: subtype.into(),
            body: Map::new(),
        }
    }

    /// Its name on the wire.
    #[must_use]
    pub fn subtype(&self) -> &str {
        match self {
            Self::Initialize(_) => "initialize",
            Self::Interrupt => "interrupt",
            Self::SetModel(_) => "set_model",
            Self::SetPermissionMode(_) => "set_permission_mode",
            Self::SetMaxThinkingTokens(_) => "set_max_thinking_tokens",
            Self::StopTask { .. } => "stop_task",
            Self::EndSession => "end_session",
            Self::Other { subtype, .. } => subtype,
        }
    }

    fn body(&self) -> Map<String, Value> {
        let one = |name: &str, value: Value| Map::from_iter([(name.to_owned(), value)]);
        match self {
            Self::Initialize(body) | Self::Other { body, .. } => body.clone(),
            Self::Interrupt | Self::EndSession => Map::new(),
            Self::SetModel(model) => model
                .as_ref()
                .map(|model| one("model", model.as_str().into()))
                .unwrap_or_default(),
            Self::SetPermissionMode(mode) => one("mode", mode.as_str().into()),
            Self::SetMaxThinkingTokens(tokens) => one("max_thinking_tokens", (*tokens).into()),
            Self::StopTask { task_id } => one("task_id", task_id.as_str().into()),
        }
    }
}

#[derive(Serialize)]
struct Wire<'a> {
    r#type: &'static str,
    request_id: &'a str,
    request: Body<'a>,
}

#[derive(Serialize)]
struct Body<'a> {
    subtype: &'a str,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The line for a request. The response carries `request_id`.
#[must_use]
pub fn host_request(request_id: &str, request: &HostRequest) -> Bytes {
    let mut rest = request.body();
    rest.remove("subtype");
    line(&Wire {
        r#type: "control_request",
        request_id,
        request: Body {
            subtype: request.subtype(),
            rest,
        },
    })
}
