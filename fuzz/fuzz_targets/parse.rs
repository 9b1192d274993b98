//! No bytes crash the parser; every event keeps its own bytes; what another JSON parser takes for one object is
//! never lost; and cutting the stream changes nothing.
#![no_main]

use bytes::Bytes;
use claude_code::{Decoder, Event, LineError};
use libfuzzer_sys::fuzz_target;

fn decode(chunks: &[&[u8]]) -> Vec<Result<Event, LineError>> {
    let mut decoder = Decoder::default();
    let mut items = Vec::new();
    for chunk in chunks {
        decoder.push(Bytes::copy_from_slice(chunk));
        while let Some(item) = decoder.next_event() {
            items.push(item);
        }
    }
    decoder.finish();
    while let Some(item) = decoder.next_event() {
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

fuzz_target!(|input: (u16, &[u8])| {
    let (cut, stream) = input;
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
