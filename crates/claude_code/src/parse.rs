//! One line to its events.

use agent_process::Framed;
use bytes::Bytes;

use crate::blank::skip_blank;
use crate::event::{Event, read_event};
use crate::json::{Cursor, Failed, Fault, FaultKind};
use crate::line_error::{LineError, LineErrorCode};

/// Reads a line that holds exactly one event.
///
/// A line end, blanks and terminal escape sequences around the object do not matter. The line is copied once; use
/// [`parse_bytes`] to avoid that, and for lines with several objects.
///
/// # Errors
/// When the line holds no event, or more than one.
pub fn parse_line(line: &[u8]) -> Result<Event, LineError> {
    let mut events = parse_bytes(Bytes::copy_from_slice(line));
    let Some(first) = events.next() else {
        return Err(events.error(LineErrorCode::Blank, 0));
    };
    let event = first?;
    let position = events.position;
    match events.next() {
        None => Ok(event),
        Some(Ok(_)) => Err(events.error(LineErrorCode::SeveralValues, position)),
        Some(Err(error)) => Err(error),
    }
}

/// Reads a line without copying it. Counts as line 1 of a stream; see [`LineEvents::of`] for lines of a real one.
#[must_use]
pub fn parse_bytes(line: Bytes) -> LineEvents {
    LineEvents::new(line, 1, 0)
}

/// The events of one line: one as a rule, none for a blank line, several where objects share a line or come as one
/// array (`--output-format json --verbose`). After an error the rest of the line is given up.
#[derive(Debug, Clone)]
pub struct LineEvents {
    line: Bytes,
    line_number: u64,
    offset: u64,
    length_bytes: u64,
    position: usize,
    state: State,
    /// One error is enough for an array of whatever.
    has_odd_elements: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    LineStart,
    AfterValue,
    FirstElement,
    AfterElement,
    Overlong,
    End,
}

impl LineEvents {
    fn new(line: Bytes, line_number: u64, offset: u64) -> Self {
        let length_bytes = line.len() as u64;
        // Places inside a line are kept in 32 bits.
        let state = if u32::try_from(line.len()).is_ok() {
            State::LineStart
        } else {
            State::Overlong
        };
        Self {
            line,
            line_number,
            offset,
            length_bytes,
            position: 0,
            state,
            has_odd_elements: false,
        }
    }

    /// The events of a line that a [`agent_process::LineFramer`] found.
    #[must_use]
    pub fn of(framed: Framed) -> Self {
        match framed {
            Framed::Line(line) => Self::new(line.bytes, line.number, line.offset),
            Framed::Overlong {
                number,
                offset,
                length_bytes,
            } => {
                let mut events = Self::new(Bytes::new(), number, offset);
                events.length_bytes = length_bytes;
                events.state = State::Overlong;
                events
            }
        }
    }

    /// Moves the line, for a stream whose first bytes were not part of it.
    pub(crate) fn moved_by(mut self, bytes: u64) -> Self {
        self.offset += bytes;
        self
    }

    pub(crate) fn line_number(&self) -> u64 {
        self.line_number
    }

    fn error(&self, code: LineErrorCode, position: usize) -> LineError {
        LineError {
            code,
            line_number: self.line_number,
            offset: self.offset,
            length_bytes: self.length_bytes,
            column: position as u64 + 1,
        }
    }

    /// Ends the line with an error.
    fn fail(&mut self, code: LineErrorCode, position: usize) -> Option<Result<Event, LineError>> {
        self.state = State::End;
        Some(Err(self.error(code, position)))
    }

    fn fail_at(&mut self, fault: Fault, start: usize) -> Option<Result<Event, LineError>> {
        let code = match fault.kind {
            FaultKind::Truncated => LineErrorCode::Truncated,
            FaultKind::TooDeep => LineErrorCode::TooDeep,
            FaultKind::Unexpected => LineErrorCode::NotJson,
        };
        self.fail(code, start + fault.position)
    }

    /// Reads the object at the current position.
    #[inline]
    fn event(&mut self, next: State) -> Option<Result<Event, LineError>> {
        let start = self.position;
        let offset = self.offset + start as u64;
        let read = if start == 0 {
            read_event(&self.line, self.line_number, offset)
        } else {
            read_event(&self.line.slice(start..), self.line_number, offset)
        };
        match read {
            Ok(event) => {
                self.position = start + event.raw().len();
                self.state = next;
                Some(Ok(event))
            }
            Err(fault) => self.fail_at(fault, start),
        }
    }

    /// A line that starts with neither an object nor an array.
    fn no_event(&mut self) -> Option<Result<Event, LineError>> {
        let start = self.position;
        let code = match self.pass_value(start) {
            Ok(end) if skip_blank(&self.line, end) == self.line.len() => LineErrorCode::NotAnObject,
            _ => LineErrorCode::Noise,
        };
        self.fail(code, start)
    }

    fn pass_value(&self, start: usize) -> Result<usize, Fault> {
        let value = self.line.slice(start..);
        let mut cursor = Cursor::new(&value);
        cursor.skip().map_err(|Failed| cursor.fault())?;
        Ok(start + cursor.position())
    }

    /// At an element of a top-level array. `None` asks for the next step.
    fn element(&mut self) -> Option<Result<Event, LineError>> {
        match self.line.get(self.position) {
            Some(b'{') => self.event(State::AfterElement),
            None => self.fail(LineErrorCode::Truncated, self.line.len()),
            Some(_) => match self.pass_value(self.position) {
                Ok(end) => {
                    let start = self.position;
                    self.position = end;
                    self.state = State::AfterElement;
                    if std::mem::replace(&mut self.has_odd_elements, true) {
                        return None;
                    }
                    Some(Err(self.error(LineErrorCode::NotAnObject, start)))
                }
                // `[info] starting` is no array.
                Err(fault) if self.state == State::FirstElement && fault.kind == FaultKind::Unexpected => {
                    self.fail(LineErrorCode::Noise, 0)
                }
                Err(fault) => self.fail_at(fault, self.position),
            },
        }
    }
}

impl Iterator for LineEvents {
    type Item = Result<Event, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.state {
                State::End => return None,
                State::Overlong => return self.fail(LineErrorCode::Overlong, 0),
                State::LineStart | State::AfterValue | State::FirstElement | State::AfterElement => {}
            }
            self.position = skip_blank(&self.line, self.position);
            let next = self.line.get(self.position).copied();
            match (self.state, next) {
                (State::LineStart | State::AfterValue, None) => self.state = State::End,
                (State::LineStart | State::AfterValue, Some(b'{')) => return self.event(State::AfterValue),
                (State::LineStart | State::AfterValue, Some(b'[')) => {
                    self.position += 1;
                    self.state = State::FirstElement;
                }
                (State::LineStart, Some(_)) => return self.no_event(),
                (State::AfterValue, Some(_)) => return self.fail(LineErrorCode::NotJson, self.position),
                (State::FirstElement | State::AfterElement, Some(b']')) => {
                    self.position += 1;
                    self.state = State::AfterValue;
                }
                (State::AfterElement, Some(b',')) => {
                    self.position = skip_blank(&self.line, self.position + 1);
                    if let Some(item) = self.element() {
                        return Some(item);
                    }
                }
                (State::AfterElement, None) => return self.fail(LineErrorCode::Truncated, self.position),
                (State::AfterElement, Some(_)) => return self.fail(LineErrorCode::NotJson, self.position),
                (State::FirstElement, _) => {
                    if let Some(item) = self.element() {
                        return Some(item);
                    }
                }
                (State::Overlong | State::End, _) => return None,
            }
        }
    }
}
