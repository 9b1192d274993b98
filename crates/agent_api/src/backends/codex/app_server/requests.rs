//! The lines that are written to `codex app-server`.

use crate::backends::json_rpc::JsonRpc;
use crate::request::Attachment;
use bytes::Bytes;
use serde_json::{Value, json};

/// Our requests have fixed or counted ids, so that a response is recognised without its request.
pub(super) const INITIALIZE: u64 = 1;
pub(super) const LIST_THREADS: u64 = 2;
pub(super) const OPEN_THREAD: u64 = 3;
/// Turns and interrupts count from here.
pub(super) const FIRST_FREE: u64 = 4;

pub(super) fn initialize() -> Bytes {
    let params = json!({
        "clientInfo": { "name": "ralph", "title": "ralph", "version": env!("CARGO_PKG_VERSION") },
        // `thread/backgroundTerminals/*`, which ends the commands of an interrupted turn, is refused without this.
        "capabilities": { "experimentalApi": true },
    });
    JsonRpc::Unversioned.request(INITIALIZE, "initialize", &params)
}

/// A message with its images. Documents are refused before, because the profile does not have them.
pub(super) fn message_input(text: &str, attachments: &[Attachment]) -> Value {
    let image = |attachment: &Attachment| match attachment {
        Attachment::Image { media_type, base64 } => {
            Some(json!({"type": "image", "url": format!("data:{media_type};base64,{base64}")}))
        }
        _ => None,
    };
    let mut input: Vec<Value> = attachments.iter().filter_map(image).collect();
    if input.is_empty() || !text.trim().is_empty() {
        input.push(json!({"type": "text", "text": text}));
    }
    Value::Array(input)
}
