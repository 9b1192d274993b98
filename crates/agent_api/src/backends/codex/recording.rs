//! Recordings of Codex: of `codex exec` or of `codex app-server`.

use json_lines::Value;

use super::app_server::AppServerMapper;
use super::mapper::CodexMapper;
use crate::backend::Mapper;
use crate::backends::recording::{ByFirstObject, objects, says};

/// Whether a recording with these first lines is Codex's.
pub(super) fn recognises(first_lines: &[&[u8]]) -> bool {
    objects(first_lines).any(|object| is_exec(&object) || is_app_server(&object))
}

/// Maps a recording of Codex.
pub(super) fn replay_mapper() -> Box<dyn Mapper> {
    Box::new(ByFirstObject::new(|object| match object.get("type") {
        None => Box::new(AppServerMapper::recorded()),
        Some(_) => Box::new(CodexMapper::default()),
    }))
}

fn is_exec(object: &Value) -> bool {
    says(object, "type", "thread.started") && object.get("thread_id").is_some()
}

/// The response to `initialize`, or a notification. Others that speak JSON-RPC have the member `jsonrpc`.
fn is_app_server(object: &Value) -> bool {
    let is_response = object.at(&["result", "codexHome"]).is_some();
    let is_notification = object.get("emittedAtMs").is_some() && object.get("method").is_some();
    object.get("jsonrpc").is_none() && (is_response || is_notification)
}
