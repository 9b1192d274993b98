//! `text_from`: a reference to text in earlier records, as `docs/journal.md` describes it.

use serde_json::{Value, json};

/// The `text_from` of a record whose item has had `text` so far, in records from `offset` on.
#[must_use]
pub fn text_from(offset: usize, text: &str) -> Value {
    let mut checksum: u32 = 2_166_136_261;
    for byte in text.bytes() {
        checksum = (checksum ^ u32::from(byte)).wrapping_mul(16_777_619);
    }
    json!({"offset": offset, "bytes": text.len(), "checksum": checksum})
}
