//! JSON objects out of a line, whatever else is on it.

use agent_process::{Framed, Line};
use claude_code::{LineError, LineErrorCode, LineEvents};
use serde_json::Value;

use crate::emitter::Emitter;
use crate::event::{Body, ErrorClass, ErrorInfo, Position, RawRef, Unknown};

/// How an object begins that follows prose on the same line.
const OBJECT_START: &[u8] = b"{\"type\"";

/// Hands every object of the line to `map`, with the emitter at its place. Of duplicate keys the last one counts.
///
/// What is no JSON becomes an error with its position, never with its words. Text before an object on the same line
/// is such an error too, and the object counts. A blank line gives nothing.
pub(super) fn read_objects(
    line: Framed,
    events: &mut Emitter,
    mut map: impl FnMut(&Value, RawRef, &mut Emitter),
) {
    let whole = match &line {
        Framed::Line(line) => Some(line.clone()),
        Framed::Overlong { .. } => None,
    };
    let mut is_noise = false;
    for event in LineEvents::of(line) {
        is_noise |= matches!(event, Err(error) if error.code == LineErrorCode::Noise);
        read(event, events, &mut map);
    }
    let hidden = whole.filter(|_| is_noise).and_then(behind_prose);
    if let Some(hidden) = hidden {
        for event in LineEvents::of(Framed::Line(hidden)) {
            read(event, events, &mut map);
        }
    }
}

fn read(
    event: Result<claude_code::Event, LineError>,
    events: &mut Emitter,
    map: &mut impl FnMut(&Value, RawRef, &mut Emitter),
) {
    let event = match event {
        Ok(event) => event,
        Err(error) => return report(error, events),
    };
    let raw = RawRef {
        line: event.line_number(),
        offset: event.offset(),
        length: event.raw().len() as u64,
    };
    events.at(Some(raw));
    match event.raw_json().deserialize::<Value>() {
        Ok(object) => map(&object, raw, events),
        // A number that no machine type can hold.
        Err(_) => events.emit(unknown(event.type_name().as_deref())),
    }
}

fn behind_prose(line: Line) -> Option<Line> {
    let mut starts = line.bytes.windows(OBJECT_START.len());
    let start = starts
        .position(|bytes| bytes == OBJECT_START)
        .filter(|start| *start > 0)?;
    Some(Line {
        bytes: line.bytes.slice(start..),
        offset: line.offset + start as u64,
        ..line
    })
}

fn report(error: LineError, events: &mut Emitter) {
    let code = match error.code {
        LineErrorCode::Noise => "noise",
        LineErrorCode::Overlong => "overlong",
        LineErrorCode::Truncated => "truncated",
        LineErrorCode::TooDeep => "too_deep",
        LineErrorCode::NotAnObject => "not_an_object",
        LineErrorCode::NotJson
        | LineErrorCode::Blank
        | LineErrorCode::SeveralValues
        | LineErrorCode::ReadFailed(_) => "not_json",
    };
    events.at(Some(RawRef {
        line: error.line_number,
        offset: error.offset,
        length: error.length_bytes,
    }));
    let mut info = ErrorInfo::new(ErrorClass::Protocol, code, error.code.to_string());
    info.position = Some(Position {
        line: error.line_number,
        column: error.column,
        offset: error.offset,
        length: error.length_bytes,
    });
    events.error(info);
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
