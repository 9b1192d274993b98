//! `repaired`: makes lenient JSON strict, for serde.

use super::scan::string_end;

/// A copy of a validated value in which every string is strictly valid: lone surrogates and invalid UTF-8 become
/// U+FFFD, control characters are escaped. Numbers stay as they are.
pub(crate) fn repaired(value: &[u8]) -> Vec<u8> {
    let mut strict = Vec::with_capacity(value.len() + 16);
    let mut position = 0;
    while let Some(quote) = memchr::memchr(b'"', &value[position..]) {
        let start = position + quote + 1;
        strict.extend_from_slice(&value[position..start - 1]);
        let end = string_end(value, start).map_or(value.len(), |end| end.quote);
        let text = super::string::decode(&value[start..end]);
        // Writing a string to memory cannot fail.
        strict.extend_from_slice(&serde_json::to_vec(&text).unwrap_or_default());
        position = (end + 1).min(value.len());
    }
    strict.extend_from_slice(&value[position..]);
    strict
}
