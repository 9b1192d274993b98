//! Records as lines of JSON that are safe to look at.

use std::io::{self, Write};

use ralph_run::Record;
use serde::Serialize as _;
use serde_json::ser::{Formatter, Serializer};

use super::characters::is_forbidden;

/// Appends a record as one line. Characters that a terminal would obey or hide are escaped, so that the line says the
/// same as the record and is harmless.
pub fn render_json(record: &Record, out: &mut String) {
    let mut line = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut line, Harmless);
    if record.serialize(&mut serializer).is_ok()
        && let Ok(line) = String::from_utf8(line)
    {
        out.push_str(&line);
        out.push('\n');
    }
}

struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        write_harmless(writer, fragment)
    }

    fn write_raw_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        write_harmless(writer, fragment)
    }
}

/// Control characters below the space are escaped already. In raw JSON they stand between tokens only, where a space
/// means the same; the other forbidden characters stand in strings only, where they can be escaped.
fn write_harmless<W: Write + ?Sized>(writer: &mut W, fragment: &str) -> io::Result<()> {
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
