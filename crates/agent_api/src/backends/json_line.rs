//! `read_objects`: the objects of a line as JSON values, for mappers without wire types of their own.

use json_lines::{Framed, RawObject, Value};

use super::recording::{Side, captured};
use super::wire_line::read_line;
use crate::emitter::Emitter;
use crate::event::RawRef;

/// Calls `map` for every object of the line, with the emitter at its position. Of duplicate keys the last one counts.
/// Of a captured conversation only what the agent wrote is mapped.
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
