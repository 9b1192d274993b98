//! However a stream is cut into chunks, the framer finds the lines that cutting at `\n` finds.
#![no_main]

use json_lines::{Framed, LineFramer};
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Vec<u8>, &[u8])| {
    let (limit, cuts, stream) = input;
    let limit = usize::from(limit);
    let mut framer = LineFramer::new(limit);
    let mut framed = Vec::new();
    let mut rest = stream;
    for cut in cuts {
        let (chunk, left) = rest.split_at(usize::from(cut).min(rest.len()));
        rest = left;
        framer.push(Bytes::copy_from_slice(chunk));
        while let Some(next) = framer.next_line() {
            framed.push(next);
        }
    }
    framer.push(Bytes::copy_from_slice(rest));
    while let Some(next) = framer.next_line() {
        framed.push(next);
    }
    framed.extend(framer.finish());
    assert_eq!(framer.pending_bytes(), 0);

    let mut expected = stream.split(|byte| *byte == b'\n').collect::<Vec<_>>();
    // After a last newline there is no line.
    if expected.last().is_some_and(|last| last.is_empty()) {
        expected.pop();
    }
    assert_eq!(framed.len(), expected.len());
    let mut offset = 0;
    for (index, (framed, line)) in framed.iter().zip(expected).enumerate() {
        let number = index as u64 + 1;
        match framed {
            Framed::Overlong { number: found, offset: at, length_bytes } => {
                assert!(line.len() > limit);
                assert_eq!((*found, *at, *length_bytes), (number, offset, line.len() as u64));
            }
            Framed::Line(found) => {
                assert!(line.len() <= limit);
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                let without_mark = if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
                let mark = (line.len() - without_mark.len()) as u64;
                assert_eq!((found.number, found.offset), (number, offset + mark));
                assert_eq!(found.bytes, without_mark);
            }
        }
        offset += line.len() as u64 + 1;
    }
});
