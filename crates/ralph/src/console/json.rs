//! `render_json()`: JSON that is safe to show in a terminal.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use super::characters::is_forbidden;

/// A value as one line of JSON that is safe to show: characters that a terminal would obey or hide are escaped, so the
/// line means the same. Every JSON output of the program goes through this or [`render_json_pretty`].
///
/// # Errors
/// If the value cannot be written as JSON.
pub fn render_json(value: &impl Serialize) -> serde_json::Result<String> {
    render(value, TerminalSafe(CompactFormatter))
}

/// The same in several lines.
///
/// # Errors
/// If the value cannot be written as JSON.
pub fn render_json_pretty(value: &impl Serialize) -> serde_json::Result<String> {
    render(value, TerminalSafe(PrettyFormatter::new()))
}

fn render(value: &impl Serialize, formatter: impl Formatter) -> serde_json::Result<String> {
    let mut line = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut line, formatter))?;
    line.push(b'\n');
    String::from_utf8(line).map_err(serde::ser::Error::custom)
}

struct TerminalSafe<F>(F);

impl<F: Formatter> Formatter for TerminalSafe<F> {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        write_safe(writer, fragment)
    }

    fn write_raw_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        write_safe(writer, fragment)
    }

    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

/// Control characters below the space are escaped already. In raw JSON they stand between tokens only, where a space
/// means the same; the other forbidden characters stand in strings only, where they can be escaped.
fn write_safe<W: Write + ?Sized>(writer: &mut W, fragment: &str) -> io::Result<()> {
    let mut rest = fragment;
    while let Some(place) = rest.find(|character| character < ' ' || is_forbidden(character)) {
        writer.write_all(&rest.as_bytes()[..place])?;
        let mut after = rest[place..].chars();
        let character = after.next().unwrap_or(' ');
        rest = after.as_str();
        if character < ' ' {
            writer.write_all(b" ")?;
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
    }
    writer.write_all(rest.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{render_json, render_json_pretty};
    use serde_json::json;

    #[test]
    fn json_is_safe_in_a_terminal_and_means_the_same() {
        let value = json!({"a\u{202e}": ["\u{9b}31m\u{1b}[2J\u{2066}", 1, {}], "b": {"c": null}});
        let (line, pretty) = (render_json(&value).unwrap(), render_json_pretty(&value).unwrap());
        assert!(line.is_ascii() && pretty.is_ascii(), "{line}{pretty}");
        assert_eq!((line.lines().count(), pretty.lines().count()), (1, 10));
        for text in [line, pretty] {
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        }
    }
}
