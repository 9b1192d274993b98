//! `line`: a value as one line of JSON for the CLI's stdin.

use bytes::Bytes;
use memchr::memmem;
use serde::Serialize;

/// Writes a value as one line. Values are serde's own types and always serialise; if one should not, the line is
/// empty and the CLI ignores it.
pub(super) fn line(value: &impl Serialize) -> Bytes {
    let mut json = serde_json::to_vec(value).unwrap_or_default();
    // Only a value that was passed on as written can hold one, as blank space between its tokens.
    for byte in &mut json {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    let mut line = escape_line_separators(json);
    line.push(b'\n');
    line.into()
}

/// Writes U+2028 and U+2029 as escapes: they stand inside strings, and line readers of other languages take them for
/// the end of a line.
fn escape_line_separators(json: Vec<u8>) -> Vec<u8> {
    const COMMON: &[u8] = b"\xe2\x80";
    if memmem::find(&json, COMMON).is_none() {
        return json;
    }
    let mut escaped = Vec::with_capacity(json.len() + 16);
    let mut rest = json.as_slice();
    while let Some(place) = memmem::find(rest, COMMON) {
        let (before, found) = rest.split_at(place);
        escaped.extend_from_slice(before);
        let (text, length): (&[u8], _) = match found.get(2) {
            Some(0xa8) => (b"\\u2028", 3),
            Some(0xa9) => (b"\\u2029", 3),
            _ => (COMMON, 2),
        };
        escaped.extend_from_slice(text);
        rest = &found[length..];
    }
    escaped.extend_from_slice(rest);
    escaped
}
