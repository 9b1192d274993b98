//! Recordings of Codex: of `codex exec` or of `codex app-server`.

use json_lines::{Framed, Value};

use super::app_server::AppServerMapper;
use super::mapper::CodexMapper;
use crate::backend::Mapper;
use crate::backends::recording::{objects, says};
use crate::emitter::Emitter;

/// Whether a recording with these first lines is Codex's.
pub(super) fn recognises(first_lines: &[&[u8]]) -> bool {
    objects(first_lines).any(|object| is_exec(&object) || is_app_server(&object))
}

/// Maps a recording of Codex.
pub(super) fn replay_mapper() -> Box<dyn Mapper> {
    Box::new(RecordingMapper { mapper: None })
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

/// Chooses the mapper by the first object.
struct RecordingMapper {
    mapper: Option<Box<dyn Mapper>>,
}

impl Mapper for RecordingMapper {
    fn map_line(&mut self, line: Framed, events: &mut Emitter) {
        let mapper = self.mapper.get_or_insert_with(|| match &line {
            Framed::Line(text) if objects(&[&text.bytes]).any(|object| object.get("type").is_none()) => {
                Box::new(AppServerMapper::recorded())
            }
            Framed::Line(_) | Framed::Overlong { .. } => Box::new(CodexMapper::default()),
        });
        mapper.map_line(line, events);
    }

    fn map_end(&mut self, events: &mut Emitter) {
        if let Some(mapper) = &mut self.mapper {
            mapper.map_end(events);
        }
    }

    fn is_idle(&self) -> bool {
        self.mapper.as_ref().is_some_and(|mapper| mapper.is_idle())
    }
}
