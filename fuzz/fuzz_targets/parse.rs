//! No bytes crash the parser or keep it busy for ever; every event keeps its own bytes and is read once; what another
//! JSON parser takes for one object is never lost; and cutting the stream changes nothing.
#![no_main]

use bytes::Bytes;
use claude_code::{Decoder, Event, LineError};
use json_lines::{LineObjects, RawObject};
use libfuzzer_sys::fuzz_target;

fn decode(chunks: &[&[u8]]) -> Vec<Result<Event, LineError>> {
    let mut decoder = Decoder::default();
    let mut items = Vec::new();
    for chunk in chunks {
        decoder.push(Bytes::copy_from_slice(chunk));
        while let Some(item) = decoder.next() {
            items.push(item);
        }
    }
    decoder.finish();
    while let Some(item) = decoder.next() {
        items.push(item);
    }
    items
}

/// What can be seen of an item without comparing everything.
fn seen(item: &Result<Event, LineError>) -> (bool, String) {
    match item {
        Ok(event) => (true, format!("{:?} {:?}", event.raw(), event.kind())),
        Err(error) => (false, format!("{error:?}")),
    }
}

/// What lines are glued together from when a newline is lost. Random bytes never contain it.
const FRAGMENTS: [&str; 12] =
    ["{\"type\":\"x\"}", "{\"id\":1}", "{\"type\"", "[", "]", "[x", ",", "{", "\"", "prose", "\u{1b}[", "\n"];

/// Each byte stands for a fragment; bytes without one stay as they are.
fn glue(bytes: &[u8]) -> Vec<u8> {
    let fragment = |byte: &u8| FRAGMENTS.get(usize::from(*byte)).map_or(vec![*byte], |text| text.as_bytes().to_vec());
    bytes.iter().flat_map(fragment).collect()
}

/// Every object is read once, and reading ends.
fn check_progress(stream: &[u8]) {
    for line in stream.split(|byte| *byte == b'\n') {
        let objects = LineObjects::<RawObject>::new(Bytes::copy_from_slice(line), 1, 0);
        let items: Vec<_> = objects.take(line.len() + 2).collect();
        assert!(items.len() <= line.len() + 1, "the line is read again and again");
        assert!(items.iter().flatten().is_sorted_by(|left, right| left.offset() < right.offset()));
    }
}

fuzz_target!(|input: (u16, &[u8])| {
    let (cut, stream) = input;
    let glued = glue(stream);
    check_progress(stream);
    check_progress(&glued);
    let _ = decode(&[glued.as_slice()]);
    let whole = decode(&[stream]);
    for event in whole.iter().flatten() {
        let start = usize::try_from(event.offset()).expect("an offset within the stream");
        assert_eq!(stream.get(start..start + event.raw().len()), Some(event.raw().as_ref()));
        let _ = (event.session_id(), event.uuid(), event.parent_tool_use_id(), event.type_name());
    }
    let (head, tail) = stream.split_at(usize::from(cut).min(stream.len()));
    let parts = decode(&[head, tail]);
    assert!(whole.iter().map(seen).eq(parts.iter().map(seen)));
    if !stream.contains(&b'\n') && serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(stream).is_ok()
    {
        assert!(claude_code::parse_line(stream).is_ok());
    }
});
