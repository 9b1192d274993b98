//! `read_line`: the objects of a line, with everything else on it reported as an error. Used by every mapper.
//! `read_objects`: the same as JSON values, for mappers without wire types of their own.

use json_lines::{Framed, FromObject, LineError, LineErrorCode, LineObjects};
#[cfg(any(feature = "acp", feature = "codex", feature = "pi"))]
use json_lines::{RawObject, Value};

#[cfg(any(feature = "acp", feature = "codex", feature = "pi"))]
use super::recording::{Side, captured};
use crate::emitter::Emitter;
use crate::event::{ErrorClass, ErrorInfo, Position, RawRef};

/// Calls `map` for every object of the line. Text that is not JSON becomes an error with its position, never with its
/// content. A blank line produces nothing.
pub(super) fn read_line<T: FromObject>(
    line: Framed,
    events: &mut Emitter,
    mut map: impl FnMut(&T, &mut Emitter),
) {
    for object in LineObjects::of(line) {
        match object {
            Ok(object) => map(&object, events),
            Err(error) => report(error, events),
        }
    }
}

/// Calls `map` for every object of the line, with the emitter at its position. Of duplicate keys the last one counts.
/// Of a captured conversation only what the agent wrote is mapped.
#[cfg(any(feature = "acp", feature = "codex", feature = "pi"))]
pub(super) fn read_objects(
    line: Framed,
    events: &mut Emitter,
    mut map: impl FnMut(&Value, RawRef, &mut Emitter),
) {
    read_line(line, events, |object: &RawObject, events| {
        let raw = RawRef {
            line: object.line_number(),
            offset: object.offset(),
            length: object.json().as_bytes().len() as u64,
        };
        events.at(Some(raw));
        let value = Value::of(object.json());
        match captured(&value) {
            None => map(&value, raw, events),
            Some((Side::Agent, message)) => map(message, raw, events),
            Some((Side::Client, _)) => events.framing("sent to the agent"),
        }
    });
}

fn report(error: LineError, events: &mut Emitter) {
    let code = match error.code {
        LineErrorCode::Noise => "noise",
        LineErrorCode::Overlong => "overlong",
        LineErrorCode::Truncated => "truncated",
        LineErrorCode::TooDeep => "too_deep",
        LineErrorCode::NotAnObject => "not_an_object",
        _ => "not_json",
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
