//! JSON objects out of a line.

use agent_process::Framed;
use serde_json::Value;

use super::wire_line::{place, read_line};
use crate::emitter::Emitter;
use crate::event::{Body, RawRef, Unknown};

/// Hands every object of the line to `map`, with the emitter at its place. Of duplicate keys the last one counts.
pub(super) fn read_objects(
    line: Framed,
    events: &mut Emitter,
    mut map: impl FnMut(&Value, RawRef, &mut Emitter),
) {
    read_line(line, events, |event, events| {
        let raw = place(event);
        events.at(Some(raw));
        match event.raw_json().deserialize::<Value>() {
            Ok(object) => map(&object, raw, events),
            // A number that no machine type can hold.
            Err(_) => events.emit(unknown(event.type_name().as_deref())),
        }
    });
}

/// Something of a type that nobody knows.
pub(super) fn unknown(type_name: Option<&str>) -> Body {
    Body::Unknown(Unknown {
        type_name: type_name.unwrap_or("(no type)").to_owned(),
    })
}

/// Members of an object. One that is absent or of another type is nothing.
pub(super) trait Members {
    fn text(&self, key: &str) -> Option<&str>;
    fn count(&self, key: &str) -> Option<u64>;
    fn list(&self, key: &str) -> &[Value];
}

impl Members for Value {
    fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    fn count(&self, key: &str) -> Option<u64> {
        self.get(key)?.as_u64()
    }

    fn list(&self, key: &str) -> &[Value] {
        self.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}
