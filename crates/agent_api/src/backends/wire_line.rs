//! Wire events out of a line, whatever else is on it.

use agent_process::{Framed, Line};
use claude_code::{Event, LineError, LineErrorCode, LineEvents};

use crate::emitter::Emitter;
use crate::event::{ErrorClass, ErrorInfo, Position, RawRef};

/// How an object begins that follows prose on the same line.
const OBJECT_START: &[u8] = b"{\"type\"";

/// Hands every object of the line to `map`.
///
/// What is no JSON becomes an error with its position, never with its words. Text before an object on the same line
/// is such an error too, and the object counts. A blank line gives nothing.
pub(super) fn read_line(line: Framed, events: &mut Emitter, mut map: impl FnMut(&Event, &mut Emitter)) {
    let whole = match &line {
        Framed::Line(line) => Some(line.clone()),
        Framed::Overlong { .. } => None,
    };
    let mut is_noise = false;
    for event in LineEvents::of(line) {
        match event {
            Ok(event) => map(&event, events),
            Err(error) => {
                is_noise |= error.code == LineErrorCode::Noise;
                report(error, events);
            }
        }
    }
    let hidden = whole.filter(|_| is_noise).and_then(behind_prose);
    for event in hidden
        .into_iter()
        .flat_map(|line| LineEvents::of(Framed::Line(line)))
    {
        match event {
            Ok(event) => map(&event, events),
            Err(error) => report(error, events),
        }
    }
}

/// Where an event is in the raw log.
pub(super) fn place(event: &Event) -> RawRef {
    RawRef {
        line: event.line_number(),
        offset: event.offset(),
        length: event.raw().len() as u64,
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
