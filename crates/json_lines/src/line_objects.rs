//! `LineObjects`: the JSON objects of one line, whatever else is on it. Used by the decoder and by mappers.

use std::marker::PhantomData;

use bytes::Bytes;

use crate::line_error::{LineError, LineErrorCode};
use crate::line_framer::Framed;
use crate::line_noise::skip_blank;
use crate::raw_json::RawJson;
use crate::reader::{Cursor, Failed, Fault, FaultKind};

/// How an object starts that is looked for behind prose on the same line.
const OBJECTS_BEHIND_PROSE: [&[u8]; 4] = [b"{\"type\"", b"{\"jsonrpc\"", b"{\"id\"", b"{\"method\""];

/// A type that is read from a whole JSON object of a stream.
pub trait FromObject: Sized {
    /// Reads the object at the start of `source`, which may continue behind it. Returns the value and the position
    /// after the object.
    ///
    /// # Errors
    /// When the bytes are not a JSON object. A shape that was not expected is not an error.
    fn from_object(source: &Bytes, line_number: u64, offset: u64) -> Result<(Self, usize), Fault>;
}

/// A JSON object as written, with its position in the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawObject {
    json: RawJson,
    line_number: u64,
    offset: u64,
}

impl RawObject {
    /// The object, byte for byte.
    #[must_use]
    pub fn json(&self) -> &RawJson {
        &self.json
    }

    /// Counts the lines of the stream from 1, including blank and broken ones.
    #[must_use]
    pub fn line_number(&self) -> u64 {
        self.line_number
    }

    /// Where the object starts in the stream.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

impl FromObject for RawObject {
    fn from_object(source: &Bytes, line_number: u64, offset: u64) -> Result<(Self, usize), Fault> {
        let mut cursor = Cursor::new(source);
        cursor.skip().map_err(|Failed| cursor.fault())?;
        let json = cursor.raw_since(0);
        let object = Self {
            json,
            line_number,
            offset,
        };
        Ok((object, cursor.position()))
    }
}

/// Reads a line that holds exactly one object.
///
/// A line end, blanks and terminal escape sequences around the object are ignored. The line is copied once; use
/// [`LineObjects`] to avoid that, and for lines with several objects.
///
/// # Errors
/// When the line holds no object, or more than one.
pub fn parse_line<T: FromObject>(line: &[u8]) -> Result<T, LineError> {
    let mut objects = LineObjects::new(Bytes::copy_from_slice(line), 1, 0);
    let Some(first) = objects.next() else {
        return Err(objects.error(LineErrorCode::Blank, 0));
    };
    let object = first?;
    let position = objects.position;
    match objects.next() {
        None => Ok(object),
        Some(Ok(_)) => Err(objects.error(LineErrorCode::SeveralValues, position)),
        Some(Err(error)) => Err(error),
    }
}

/// The objects of one line: usually one, none for a blank line, several if objects share a line or are the elements of
/// one array. Text before the first object is [`LineErrorCode::Noise`], and the object is still read if it starts with
/// `{"type"`, `{"jsonrpc"`, `{"id"` or `{"method"`. After any other error the rest of the line is skipped.
#[derive(Debug, Clone)]
pub struct LineObjects<T> {
    line: Bytes,
    line_number: u64,
    offset: u64,
    length_bytes: u64,
    position: usize,
    state: State,
    /// Whether an object was read: text behind it is not searched for more.
    has_objects: bool,
    /// Whether an element that is not an object was reported: an array gets at most one such error.
    has_odd_elements: bool,
    object: PhantomData<fn() -> T>,
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

impl<T> LineObjects<T> {
    /// The objects of `line`, which starts at `offset` in the stream. `line_number` counts from 1.
    #[must_use]
    pub fn new(line: Bytes, line_number: u64, offset: u64) -> Self {
        let length_bytes = line.len() as u64;
        // Positions inside a line are kept in 32 bits.
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
            has_objects: false,
            has_odd_elements: false,
            object: PhantomData,
        }
    }

    /// The objects of a line from a [`LineFramer`](crate::LineFramer).
    #[must_use]
    pub fn of(framed: Framed) -> Self {
        match framed {
            Framed::Line(line) => Self::new(line.bytes, line.number, line.offset),
            Framed::Overlong {
                number,
                offset,
                length_bytes,
            } => {
                let mut objects = Self::new(Bytes::new(), number, offset);
                objects.length_bytes = length_bytes;
                objects.state = State::Overlong;
                objects
            }
        }
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
    fn fail(&mut self, code: LineErrorCode, position: usize) -> Option<Result<T, LineError>> {
        self.state = State::End;
        Some(Err(self.error(code, position)))
    }

    fn fail_at(&mut self, fault: Fault, start: usize) -> Option<Result<T, LineError>> {
        let code = match fault.kind {
            FaultKind::Truncated => LineErrorCode::Truncated,
            FaultKind::TooDeep => LineErrorCode::TooDeep,
            FaultKind::Unexpected => LineErrorCode::NotJson,
        };
        self.fail(code, start + fault.position)
    }
}

impl<T: FromObject> LineObjects<T> {
    /// Reads the object at the current position.
    #[inline]
    fn object(&mut self, next: State) -> Option<Result<T, LineError>> {
        let start = self.position;
        let offset = self.offset + start as u64;
        let read = if start == 0 {
            T::from_object(&self.line, self.line_number, offset)
        } else {
            T::from_object(&self.line.slice(start..), self.line_number, offset)
        };
        match read {
            Ok((object, end)) => {
                self.position = start + end;
                self.state = next;
                self.has_objects = true;
                Some(Ok(object))
            }
            Err(fault) => self.fail_at(fault, start),
        }
    }

    /// A line that starts with neither an object nor an array.
    fn not_an_object(&mut self) -> Option<Result<T, LineError>> {
        let start = self.position;
        match self.pass_value(start) {
            Ok(end) if skip_blank(&self.line, end) == self.line.len() => {
                self.fail(LineErrorCode::NotAnObject, start)
            }
            _ => self.noise(start),
        }
    }

    /// Reports text in front of the line's objects and moves on to the first object behind it, if there is one. Only
    /// before the first object: otherwise that one would be found again.
    fn noise(&mut self, start: usize) -> Option<Result<T, LineError>> {
        // In the whole line: the escape sequence that was skipped at its start may have swallowed a brace.
        let starts = OBJECTS_BEHIND_PROSE.iter();
        let behind = starts
            .filter_map(|start| memchr::memmem::find(&self.line, start))
            .min();
        let failed = self.fail(LineErrorCode::Noise, start);
        if let Some(behind) = behind {
            self.position = behind;
            self.state = State::AfterValue;
        }
        failed
    }

    fn pass_value(&self, start: usize) -> Result<usize, Fault> {
        let value = self.line.slice(start..);
        let mut cursor = Cursor::new(&value);
        cursor.skip().map_err(|Failed| cursor.fault())?;
        Ok(start + cursor.position())
    }

    /// Whether the bracket just read may have been the start of a line of text.
    fn may_be_prose(&self) -> bool {
        self.state == State::FirstElement && !self.has_objects
    }

    /// At an element of a top-level array. `None` asks for the next step.
    fn element(&mut self) -> Option<Result<T, LineError>> {
        match self.line.get(self.position) {
            Some(b'{') => self.object(State::AfterElement),
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
                // `[info] starting` is not an array.
                Err(fault) if self.may_be_prose() && fault.kind == FaultKind::Unexpected => self.noise(0),
                Err(fault) => self.fail_at(fault, self.position),
            },
        }
    }
}

impl<T: FromObject> Iterator for LineObjects<T> {
    type Item = Result<T, LineError>;

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
                (State::LineStart | State::AfterValue, Some(b'{')) => return self.object(State::AfterValue),
                (State::LineStart | State::AfterValue, Some(b'[')) => {
                    self.position += 1;
                    self.state = State::FirstElement;
                }
                (State::LineStart, Some(_)) => return self.not_an_object(),
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

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::{ProptestConfig, prop, proptest};

    use super::{LineObjects, RawObject, parse_line};
    use crate::line_error::{LineError, LineErrorCode};

    fn objects_of(line: &[u8]) -> LineObjects<RawObject> {
        LineObjects::new(Bytes::copy_from_slice(line), 1, 0)
    }

    fn objects(line: &'static str) -> Vec<Result<String, (LineErrorCode, u64)>> {
        LineObjects::<RawObject>::new(Bytes::from_static(line.as_bytes()), 1, 100)
            .map(|object| match object {
                Ok(object) => {
                    let start = usize::try_from(object.offset() - 100).unwrap();
                    let written = object.json().as_str().into_owned();
                    assert!(
                        line[start..].starts_with(&written),
                        "the offset is that of the object"
                    );
                    Ok(written)
                }
                Err(LineError { code, column, .. }) => Err((code, column)),
            })
            .collect()
    }

    #[test]
    fn an_object_behind_prose_is_read_and_the_prose_is_reported() {
        assert_eq!(
            objects(r#"Yes — what else? {"type":"error","message":"x"}{"type":"done"}"#),
            [
                Err((LineErrorCode::Noise, 1)),
                Ok(r#"{"type":"error","message":"x"}"#.to_owned()),
                Ok(r#"{"type":"done"}"#.to_owned()),
            ]
        );
        assert_eq!(
            objects(r#"[info] {"type":"done"}"#),
            [
                Err((LineErrorCode::Noise, 1)),
                Ok(r#"{"type":"done"}"#.to_owned())
            ]
        );
        assert_eq!(
            objects(r#"prose {"type":"#),
            [
                Err((LineErrorCode::Noise, 1)),
                Err((LineErrorCode::Truncated, 15))
            ]
        );
        assert_eq!(objects("a {b} c"), [Err((LineErrorCode::Noise, 1))]);
        assert_eq!(
            objects(r#""{\"type\":1}""#),
            [Err((LineErrorCode::NotAnObject, 1))]
        );
    }

    #[test]
    fn text_behind_an_object_ends_the_line_also_when_it_begins_with_a_bracket() {
        for (line, column) in [
            (r#"{"type":"result"}[info] done"#, 19),
            (r#"{"type":"result"}[x {"type":"again"}"#, 19),
            (r#"[{"type":"result"}][x"#, 21),
        ] {
            let items: Vec<_> = objects_of(line.as_bytes()).take(3).collect();
            assert!(items[0].is_ok(), "{line}");
            let error = items[1].as_ref().unwrap_err();
            assert_eq!(
                (error.code, error.column, items.len()),
                (LineErrorCode::NotJson, column, 2),
                "{line}"
            );
        }
    }

    #[test]
    fn requests_and_answers_behind_prose_are_read_too() {
        for object in [
            r#"{"id":0,"result":{}}"#,
            r#"{"method":"turn/started"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
        ] {
            let line = format!("warning: no newline{object}");
            let mut items = objects_of(line.as_bytes());
            assert_eq!(items.next().unwrap().unwrap_err().code, LineErrorCode::Noise);
            let found = items.next().unwrap().unwrap();
            assert_eq!(found.json().as_str(), object);
            assert!(items.next().is_none());
        }
    }

    /// What lines are glued together from when a newline is lost or two writers share a stream.
    const FRAGMENTS: &[&str] = &[
        r#"{"type":"a"}"#,
        r#"{"id":1}"#,
        "{}",
        r#"{"type""#,
        "[",
        "]",
        "[x",
        "[1",
        ",",
        "{",
        "}",
        "\"",
        "prose",
        " ",
        "\0",
        "\u{1b}[",
        "\u{1b}]0;",
        "\u{7}",
        "\u{feff}",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_line_is_read_once_from_start_to_end(
            fragments in prop::collection::vec(prop::sample::select(FRAGMENTS), 0..12)
        ) {
            let line = fragments.concat();
            let items: Vec<_> = objects_of(line.as_bytes()).take(line.len() + 2).collect();
            assert!(items.len() <= line.len() + 1, "{line:?} is read again and again");
            let offsets: Vec<u64> = items.iter().flatten().map(RawObject::offset).collect();
            assert!(offsets.is_sorted_by(|left, right| left < right), "{line:?}: {offsets:?}");
        }
    }

    #[test]
    fn duplicate_keys_are_no_error_and_the_last_one_counts() {
        let object = parse_line::<RawObject>(br#"{"id":1,"id":"two"}"#).unwrap();
        assert_eq!(object.json().get("id").unwrap().text().unwrap(), "two");
    }
}
