//! JSON-RPC 2.0 lines: `Incoming` sorts what an agent sends, `JsonRpc` writes ours. Used by ACP and by Codex's
//! app-server.

use bytes::Bytes;
use json_lines::Value;
use serde::Serialize;
use serde_json::json;

/// The error code for a request that this client does not know.
const METHOD_NOT_FOUND: i64 = -32601;

/// One message from the agent.
pub(super) enum Incoming<'a> {
    Request {
        id: &'a Value<'a>,
        method: &'a str,
        params: &'a Value<'a>,
    },
    Notification {
        method: &'a str,
        params: &'a Value<'a>,
    },
    /// The answer to one of our requests: a result, which is null if there is none, or an error object.
    Answer {
        id: &'a Value<'a>,
        outcome: Result<&'a Value<'a>, &'a Value<'a>>,
    },
    /// An object that is not JSON-RPC.
    Other,
}

impl<'a> Incoming<'a> {
    pub(super) fn sort(message: &'a Value<'a>) -> Self {
        let id = message.get("id").filter(|id| !id.is_null());
        let params = message.get("params").unwrap_or(&Value::Null);
        // Keys can be corrupted. An answer without a result must not be waited for any longer, and neither must the
        // agent for the answer to a request without a method.
        let method = message.text("method");
        match (method, id) {
            (Some(method), Some(id)) => Self::Request { id, method, params },
            (Some(method), None) => Self::Notification { method, params },
            (None, Some(id)) if params.is_object() => Self::Request {
                id,
                method: "",
                params,
            },
            (None, Some(id)) => {
                // Some agents write `"error": null` beside a result.
                let error = message.get("error").filter(|error| !error.is_null());
                let result = message.get("result").unwrap_or(&Value::Null);
                let outcome = error.map_or(Ok(result), Err);
                Self::Answer { id, outcome }
            }
            (None, None) => Self::Other,
        }
    }
}

/// Writes lines, with or without the member `jsonrpc`.
#[derive(Debug, Clone, Copy)]
pub(super) enum JsonRpc {
    #[cfg(feature = "acp")]
    Standard,
    /// Codex leaves the version out in both directions.
    #[cfg(feature = "codex")]
    Unversioned,
}

impl JsonRpc {
    pub(super) fn request(self, id: u64, method: &str, params: &serde_json::Value) -> Bytes {
        self.line(json!({"id": id, "method": method, "params": params}))
    }

    /// A notification; without parameters if they are null.
    pub(super) fn notification(self, method: &str, params: &serde_json::Value) -> Bytes {
        match params.is_null() {
            true => self.line(json!({"method": method})),
            false => self.line(json!({"method": method, "params": params})),
        }
    }

    /// The answer to a request of the agent. `id` is repeated as it came.
    pub(super) fn result(self, id: &impl Serialize, result: &serde_json::Value) -> Bytes {
        self.line(json!({"id": id, "result": result}))
    }

    /// Refuses a request that this client does not know, so that the agent does not wait for it.
    pub(super) fn method_not_found(self, id: &impl Serialize, method: &str) -> Bytes {
        let message = format!("method not found: {}", &method[..method.floor_char_boundary(100)]);
        self.line(json!({"id": id, "error": {"code": METHOD_NOT_FOUND, "message": message}}))
    }

    fn line(self, mut message: serde_json::Value) -> Bytes {
        match self {
            #[cfg(feature = "acp")]
            Self::Standard => message["jsonrpc"] = "2.0".into(),
            #[cfg(feature = "codex")]
            Self::Unversioned => {}
        }
        Bytes::from(format!("{message}\n"))
    }
}
