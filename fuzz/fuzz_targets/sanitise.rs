//! Whatever the text and wherever it is cut, nothing that a terminal obeys or hides is left of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use run_view::{Sanitiser, is_forbidden, one_line, sanitise};

fuzz_target!(|input: (u8, &[u8])| {
    let (step, bytes) = input;
    let text = String::from_utf8_lossy(bytes);
    let clean = sanitise(&text);
    assert!(!clean.contains(is_forbidden));
    assert_eq!(sanitise(&clean), clean);

    let (mut sanitiser, mut pieced) = (Sanitiser::default(), String::new());
    let mut rest = &*text;
    while !rest.is_empty() {
        let end = rest.ceil_char_boundary(usize::from(step).max(1));
        let (piece, other) = rest.split_at(end);
        sanitiser.push(piece, &mut pieced);
        rest = other;
    }
    assert_eq!(pieced, clean);

    let line = one_line(&text, usize::from(step));
    assert!(!line.contains(is_forbidden) && !line.contains(['\n', '\t']));
});
