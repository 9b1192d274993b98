//! Whatever a person types or an agent asks, what goes to the CLI's stdin is one line of JSON that says just that.
#![no_main]

use bytes::Bytes;
use claude_code::input::{
    Answer, HostRequest, PermissionAnswer, UserMessage, answer, host_request, user_message, with_answers,
};
use claude_code::{Expansion, Kind, parse_bytes};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fn one_line(line: &Bytes) -> Value {
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
    assert_eq!(line.last(), Some(&b'\n'));
    serde_json::from_slice(line).expect("one JSON value")
}

fuzz_target!(|input: (&str, &str, &[u8])| {
    let (text, other, agent_line) = input;
    for expansion in [Expansion::Literal, Expansion::Commands] {
        let sent = one_line(&user_message(&UserMessage::text(text), expansion));
        assert_eq!(sent["message"]["content"], text);
        assert_eq!(sent["message"]["role"], "user");
    }
    let denied = one_line(&answer(other, &Answer::from(PermissionAnswer::deny(text))));
    assert_eq!(denied["response"]["request_id"], other);
    assert_eq!(denied["response"]["response"]["message"], text);
    let asked = one_line(&host_request(other, &HostRequest::other(text)));
    assert_eq!(asked["request"]["subtype"], text);

    // An agent's own request, however odd, is answered in one line too.
    for event in parse_bytes(Bytes::copy_from_slice(agent_line)).flatten() {
        if let Kind::ControlRequest(_) = event.kind()
            && let Some(input) = event.field("request").and_then(|request| request.get("input"))
        {
            if let Ok(allowed) = PermissionAnswer::allow(&input) {
                one_line(&answer(other, &Answer::from(allowed)));
            }
            let _ = with_answers(&input, [(text, other)]);
        }
    }
});
