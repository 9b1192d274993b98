//! `Node`: a YAML tree with the position of every value, read by `parse_document`.
//!
//! `saphyr-parser` gives events with positions and has two small dependencies. A value stays the text that was
//! written until a setting parses it, so `no` and `2.50` stay as they are. Deserialisers decide earlier, and know
//! only the position of the first error.

use std::fmt;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError};

/// Deeper files are refused.
const MAX_DEPTH: usize = 16;

/// A place in a file, from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

impl From<Marker> for Position {
    fn from(marker: Marker) -> Self {
        Self {
            line: marker.line(),
            column: marker.col() + 1,
        }
    }
}

/// What is wrong, and where.
pub type Problem = (Position, String);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub at: Position,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Null,
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub at: Position,
    pub key: String,
    pub value: Node,
}

impl Node {
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Null | Value::Scalar(_) | Value::List(_) => &[],
        }
    }

    pub fn get(&self, key: &str) -> Option<&Self> {
        let entry = self.entries().iter().find(|entry| entry.key == key)?;
        (entry.value.value != Value::Null).then_some(&entry.value)
    }

    /// The value of a key with its section, as in `cli.backend`.
    pub fn at_key(&self, key: &str) -> Option<&Self> {
        if key.is_empty() {
            return None;
        }
        key.split('.').try_fold(self, Self::get)
    }

    pub fn require_map(&self, what: &str) -> Result<(), Problem> {
        match self.value {
            Value::Map(_) | Value::Null => Ok(()),
            Value::Scalar(_) | Value::List(_) => Err((
                self.at,
                format!("{what} must be a mapping (`key: value`), not {}", self.describe()),
            )),
        }
    }

    /// For "must be …, not …".
    pub fn describe(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Scalar(_) => "a value",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

/// Reads one document; an empty text is an empty mapping.
pub fn parse_document(text: &str) -> Result<Node, Problem> {
    let mut reader = Reader {
        parser: Parser::new_from_str(text.strip_prefix('\u{feff}').unwrap_or(text)),
    };
    let mut root = Node {
        at: Position { line: 1, column: 1 },
        value: Value::Null,
    };
    let mut documents = 0;
    while let Some((event, at)) = reader.next()? {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return Err((at, "only one document is allowed".to_owned()));
                }
            }
            other => root = reader.node(other, at, 0)?,
        }
    }
    Ok(root)
}

struct Reader<'text> {
    parser: Parser<'text, saphyr_parser::StrInput<'text>>,
}

impl<'text> Reader<'text> {
    fn next(&mut self) -> Result<Option<(Event<'text>, Position)>, Problem> {
        match self.parser.next_event() {
            None => Ok(None),
            Some(Ok((event, span))) => Ok(Some((event, span.start.into()))),
            Some(Err(error)) => Err(problem(&error)),
        }
    }

    fn expect_next(&mut self) -> Result<(Event<'text>, Position), Problem> {
        self.next()?
            .ok_or_else(|| (Position::default(), "the file ends too early".to_owned()))
    }

    fn node(&mut self, event: Event<'text>, at: Position, depth: usize) -> Result<Node, Problem> {
        if depth > MAX_DEPTH {
            return Err((at, "this is nested too deep".to_owned()));
        }
        let value = match event {
            Event::Scalar(text, style, ..) => {
                let is_null =
                    style == ScalarStyle::Plain && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
                if is_null {
                    Value::Null
                } else {
                    Value::Scalar(text.into_owned())
                }
            }
            Event::SequenceStart(..) => self.list(depth)?,
            Event::MappingStart(..) => self.map(depth)?,
            // A short file with nested aliases can stand for gigabytes.
            Event::Alias(_) => return Err((at, "aliases (`*name`) are not supported".to_owned())),
            _ => return Err((at, "a value is missing".to_owned())),
        };
        Ok(Node { at, value })
    }

    fn list(&mut self, depth: usize) -> Result<Value, Problem> {
        let mut nodes = Vec::new();
        loop {
            let (event, at) = self.expect_next()?;
            if event == Event::SequenceEnd {
                return Ok(Value::List(nodes));
            }
            nodes.push(self.node(event, at, depth + 1)?);
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value, Problem> {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let (event, at) = self.expect_next()?;
            let key = match event {
                Event::MappingEnd => return Ok(Value::Map(entries)),
                Event::Scalar(text, ..) => text.into_owned(),
                _ => return Err((at, "a key must be a word".to_owned())),
            };
            if entries.iter().any(|entry| entry.key == key) {
                return Err((at, format!("`{}` is given twice", excerpt(&key))));
            }
            let (event, value_at) = self.expect_next()?;
            let value = self.node(event, value_at, depth + 1)?;
            entries.push(Entry { at, key, value });
        }
    }
}

/// A key as it is quoted in a message: short, and without control characters.
fn excerpt(key: &str) -> String {
    const MAX_CHARACTERS: usize = 40;
    let start = key.chars().take(MAX_CHARACTERS).flat_map(char::escape_default);
    let mark = key.chars().nth(MAX_CHARACTERS).map(|_| '…');
    start.chain(mark).collect()
}

fn problem(error: &ScanError) -> Problem {
    (
        Position::from(*error.marker()),
        format!("this is not YAML: {}", error.info()),
    )
}

#[cfg(test)]
mod tests {
    use super::{Position, Value, parse_document};

    #[test]
    fn everything_knows_where_it_stands() {
        let root = parse_document("a: 1\nb:\n  ç: [x, y]\n").unwrap();
        let b = root.get("b").unwrap();
        assert_eq!(b.at, Position { line: 3, column: 3 });
        let list = b.get("ç").unwrap();
        let Value::List(nodes) = &list.value else {
            panic!("{list:?}")
        };
        assert_eq!(nodes[1].at, Position { line: 3, column: 10 });
    }

    #[test]
    fn values_stay_as_they_were_written() {
        let root = parse_document("a: no\nb: 2.50\nc: ~\nd: \"\"\ne:\nf: 0x10").unwrap();
        let text = |key: &str| root.get(key).map(|node| node.value.clone());
        assert_eq!(text("a"), Some(Value::Scalar("no".to_owned())));
        assert_eq!(text("b"), Some(Value::Scalar("2.50".to_owned())));
        assert_eq!(text("c"), None);
        assert_eq!(text("d"), Some(Value::Scalar(String::new())));
        assert_eq!(text("e"), None);
        assert_eq!(text("f"), Some(Value::Scalar("0x10".to_owned())));
    }

    #[test]
    fn what_is_not_meant_so_is_an_error_with_a_place() {
        let deep = "[".repeat(100);
        for (text, line, part) in [
            ("a: 1\na: 2\n", 2, "twice"),
            ("a: &x 1\nb: *x\n", 2, "aliases"),
            ("a: 1\n---\nb: 2\n", 2, "one document"),
            ("a: [1\nb: 2\n", 2, "not YAML"),
            ("a: 'x\n", 1, "not YAML"),
            ("? [a]\n: 1\n", 1, "a word"),
            (deep.as_str(), 1, "too deep"),
        ] {
            let (at, message) = parse_document(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
            assert_eq!(at.line, line, "{text}: {message}");
        }
    }

    #[test]
    fn an_empty_file_is_no_mapping_and_no_error() {
        for text in ["", "\n", "# nothing\n", "\u{feff}", "---\n"] {
            assert_eq!(parse_document(text).unwrap().value, Value::Null, "{text:?}");
        }
    }
}
