//! Whatever a vendor, a terminal or a dying process puts on the stream: kept, or refused by name.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use bytes::Bytes;
use claude_code::event::{Block, Content, Delta, StreamBody};
use claude_code::{Decoder, Event, Kind, LineError, LineErrorCode, parse_bytes, parse_line};

fn decode(stream: &[u8]) -> Vec<Result<Event, LineError>> {
    let mut decoder = Decoder::default();
    decoder.push(Bytes::copy_from_slice(stream));
    decoder.finish();
    std::iter::from_fn(|| decoder.next()).collect()
}

fn codes(stream: &[u8]) -> Vec<Result<String, LineErrorCode>> {
    let name = |event: Event| event.type_name().unwrap_or_default().into_owned();
    decode(stream)
        .into_iter()
        .map(|item| item.map(name).map_err(|error| error.code))
        .collect()
}

fn one(name: &str) -> Result<String, LineErrorCode> {
    Ok(name.to_owned())
}

fn said(line: &[u8]) -> String {
    let event = parse_line(line).unwrap();
    let Kind::Assistant(assistant) = event.kind() else {
        panic!("not an assistant event: {event:?}")
    };
    assistant.message.as_ref().unwrap().content.text().to_string()
}

fn assistant(text: &str) -> String {
    format!(r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"text","text":"{text}"}}]}}}}"#)
}

#[test]
fn lone_surrogates_become_replacement_characters_and_the_line_stays() {
    let line = assistant(r"a\ud83cb \udf89 \ud83c\udf89");
    assert_eq!(said(line.as_bytes()), "a\u{fffd}b \u{fffd} 🎉");
    assert_eq!(parse_line(line.as_bytes()).unwrap().raw(), line.as_bytes());
}

#[test]
fn numbers_of_any_size_are_kept_as_written() {
    let line = br#"{"type":"result","subtype":"success","num_turns":123456789012345678901234567890,"total_cost_usd":1e400,"duration_ms":-5,"usage":{"output_tokens":7},"extra":1e400}"#;
    let event = parse_line(line).unwrap();
    let Kind::Result(result) = event.kind() else {
        panic!("not a result")
    };
    assert_eq!(
        (result.num_turns, result.total_cost, result.duration_ms),
        (None, None, None)
    );
    assert_eq!(
        result.usage.as_ref().unwrap().output_tokens,
        Some(7),
        "its neighbours are read"
    );
    assert_eq!(event.field("extra").unwrap().as_str(), "1e400");
    assert_eq!(
        event.field("num_turns").unwrap().as_str(),
        "123456789012345678901234567890"
    );
    assert_eq!(&event.raw()[..], line);
}

#[test]
fn depth_bombs_are_refused_without_overflow() {
    for bomb in [
        "[".repeat(200_000),
        format!(r#"{{"type":"user","message":{}"#, "[".repeat(200_000)),
    ] {
        assert_eq!(
            parse_line(bomb.as_bytes()).unwrap_err().code,
            LineErrorCode::TooDeep
        );
    }
    let nested = |depth: usize| format!(r#"{{"type":"x","a":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    assert!(parse_line(nested(127).as_bytes()).is_ok());
    assert_eq!(
        parse_line(nested(128).as_bytes()).unwrap_err().code,
        LineErrorCode::TooDeep
    );
}

#[test]
fn of_duplicate_keys_the_last_one_counts() {
    let line = br#"{"type":"user","type":"assistant","message":{"id":"a"},"message":{"id":"b"},"session_id":"s1","session_id":"s2"}"#;
    let event = parse_line(line).unwrap();
    let Kind::Assistant(assistant) = event.kind() else {
        panic!("not an assistant event: {event:?}")
    };
    assert_eq!(assistant.message.as_ref().unwrap().id.as_deref(), Some("b"));
    assert_eq!(event.session_id().as_deref(), Some("s2"));
    let line = br#"{"type":"system","subtype":"init","model":"m","subtype":"status","status":"requesting"}"#;
    assert!(matches!(
        parse_line(line).unwrap().kind(),
        Kind::System(claude_code::event::System::Status(_))
    ));
}

#[test]
fn escaped_keys_and_names_are_understood() {
    let line = br#"{"\u0074ype":"assist\u0061nt","message":{"content":[{"type":"te\u0078t","text":"hi"}]}}"#;
    assert_eq!(said(line), "hi");
}

#[test]
fn control_characters_and_invalid_utf8_in_strings_are_tolerated() {
    let mut line = assistant("tab\there \u{1}\u{0} end").into_bytes();
    assert_eq!(said(&line), "tab\there \u{1}\u{0} end");
    let place = line.windows(3).position(|window| window == b"end").unwrap();
    line[place] = 0xff;
    assert_eq!(said(&line), "tab\there \u{1}\u{0} \u{fffd}nd");
    assert_eq!(parse_line(&line).unwrap().raw(), &line);
}

#[test]
fn unknown_escapes_are_content_and_not_structure() {
    assert_eq!(said(assistant(r"a\qb\u12").as_bytes()).chars().next(), Some('a'));
}

#[test]
fn byte_order_mark_blank_lines_and_line_ends_do_not_matter() {
    let stream = b"\xef\xbb\xbf{\"type\":\"user\"}\r\n\r\n\n   \t\n{\"type\":\"result\"}\r\r\n\0\0\0\n\0{\"type\":\"system\"}\0\n";
    assert_eq!(codes(stream), [one("user"), one("result"), one("system")]);
}

#[test]
fn offsets_point_at_the_raw_bytes_in_the_stream() {
    let stream = b"\xef\xbb\xbf{\"type\":\"a\"}\r\n  {\"type\":\"b\"} {\"type\":\"c\"}\n\x1b[2K[{\"type\":\"d\"}, {\"type\":\"e\"}]\n";
    let events: Vec<Event> = decode(stream).into_iter().map(Result::unwrap).collect();
    assert_eq!(
        events.iter().map(Event::line_number).collect::<Vec<_>>(),
        [1, 2, 2, 3, 3]
    );
    for event in events {
        let start = usize::try_from(event.offset()).unwrap();
        assert_eq!(&stream[start..start + event.raw().len()], &event.raw()[..]);
    }
}

#[test]
fn two_objects_on_a_line_are_two_events() {
    assert_eq!(
        codes(b"{\"type\":\"user\"}{\"type\":\"result\"} {\"type\":\"x\"}\n"),
        [one("user"), one("result"), one("x")]
    );
    assert_eq!(
        codes(b"{\"type\":\"user\"}oops{\"type\":\"result\"}\n"),
        [one("user"), Err(LineErrorCode::NotJson)],
        "the rest is given up"
    );
    let error = parse_line(b"{\"type\":\"user\"}{\"type\":\"result\"}").unwrap_err();
    assert_eq!((error.code, error.column), (LineErrorCode::SeveralValues, 16));
}

#[test]
fn a_top_level_array_is_its_elements() {
    let stream =
        b"[{\"type\":\"system\",\"subtype\":\"init\"},{\"type\":\"result\"}]\n[]\n{\"type\":\"user\"}\n";
    assert_eq!(codes(stream), [one("system"), one("result"), one("user")]);
    assert_eq!(
        codes(b"[1,2,{\"type\":\"user\"},3]\n"),
        [Err(LineErrorCode::NotAnObject), one("user")]
    );
    assert_eq!(
        codes(b"[{\"type\":\"user\"},{\"ty"),
        [one("user"), Err(LineErrorCode::Truncated)]
    );
    assert_eq!(
        codes(b"[{\"type\":\"user\"} 1]\n"),
        [one("user"), Err(LineErrorCode::NotJson)]
    );
}

#[test]
fn noise_is_named_and_the_next_line_survives() {
    let stream = "Welcome to the machine!\n[info] starting\nwarning: {\"type\":\"user\"}\n42\n\"text\"\nnull\n{\"type\":\"result\"}\n";
    assert_eq!(
        codes(stream.as_bytes()),
        [
            Err(LineErrorCode::Noise),
            Err(LineErrorCode::Noise),
            Err(LineErrorCode::Noise),
            one("user"),
            Err(LineErrorCode::NotAnObject),
            Err(LineErrorCode::NotAnObject),
            Err(LineErrorCode::NotAnObject),
            one("result"),
        ]
    );
}

#[test]
fn terminal_escape_sequences_around_events_are_skipped() {
    let stream = b"\x1b[?25l\x1b[0m{\"type\":\"user\"}\x1b[K\r\n\x1b]0;title\x07\n{\"type\":\"result\"}\r\n\x1b[?25h\x1b[?2004l";
    assert_eq!(codes(stream), [one("user"), one("result")]);
}

#[test]
fn a_torn_last_line_is_truncated_and_a_whole_one_is_an_event() {
    let whole = b"{\"type\":\"user\"}\n{\"type\":\"result\",\"result\":\"x\"}";
    assert_eq!(codes(whole), [one("user"), one("result")]);
    for cut in 17..whole.len() {
        assert_eq!(
            codes(&whole[..cut]),
            [one("user"), Err(LineErrorCode::Truncated)],
            "cut at byte {cut}"
        );
    }
}

#[test]
fn lines_over_the_limit_are_counted_and_the_next_one_survives() {
    let mut decoder = Decoder::new(20);
    decoder.push(Bytes::from_static(
        b"{\"type\":\"user\"}\n{\"type\":\"user\",\"a\":\"too long\"}\n{\"type\":\"user\"}\n",
    ));
    decoder.finish();
    let items: Vec<_> = std::iter::from_fn(|| decoder.next()).collect();
    assert!(items[0].is_ok() && items[2].is_ok());
    let error = *items[1].as_ref().unwrap_err();
    assert_eq!(
        (error.code, error.line_number, error.offset, error.length_bytes),
        (LineErrorCode::Overlong, 2, 16, 30)
    );
}

#[test]
fn errors_say_where_and_never_what() {
    let secret = "sk-ant-very-secret";
    for line in [
        format!("{secret} is not JSON"),
        format!(r#"{{"type":"{secret}","a":{secret}}}"#),
        format!(r#"{{"type":"{secret}"#),
        format!(r#""{secret}""#),
        format!(r#"{{"type":"x"}}{secret}"#),
    ] {
        let error = parse_line(line.as_bytes()).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("secret"), "{shown}");
        assert_eq!(
            (error.line_number, error.offset, error.length_bytes),
            (1, 0, line.len() as u64)
        );
        assert!(error.to_string().starts_with("line 1 at byte 0 ("), "{error}");
    }
    let error = parse_line(br#"{"type":"x",}"#).unwrap_err();
    assert_eq!((error.code, error.column), (LineErrorCode::NotJson, 13));
}

#[test]
fn white_space_between_tokens_does_not_matter() {
    let line = r#" { "type" : "assistant" , "message": { "id": "m" , "content": [ { "type": "text", "text": "a" } , {"type" :"text","text"
        : "b"} ] , "usage": { "input_tokens": 12 , "output_tokens" : 3 } } , "session_id": "s" } "#;
    let event = parse_line(line.as_bytes()).unwrap();
    assert_eq!(said(line.as_bytes()), "a\nb");
    let Kind::Assistant(assistant) = event.kind() else {
        panic!("not an assistant event")
    };
    let usage = assistant.message.as_ref().unwrap().usage.as_ref().unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(12), Some(3)));
    assert_eq!(event.session_id().as_deref(), Some("s"));
}

#[test]
fn a_blank_line_holds_no_event() {
    for line in ["", "  \r\n", "\x1b[?25h", "[]"] {
        assert_eq!(
            parse_line(line.as_bytes()).unwrap_err().code,
            LineErrorCode::Blank,
            "{line:?}"
        );
        assert_eq!(
            parse_bytes(Bytes::copy_from_slice(line.as_bytes())).count(),
            0,
            "{line:?}"
        );
    }
}

#[test]
fn unknown_types_subtypes_blocks_and_fields_survive_byte_exact() {
    let line = r#"{ "type" : "hologram" , "colour":"blue","nested":{"n":1e400,"list":[1 , 2]} }"#;
    let event = parse_line(line.as_bytes()).unwrap();
    assert!(matches!(event.kind(), Kind::Unknown { type_name: Some(name) } if name == "hologram"));
    assert_eq!(event.raw(), line.as_bytes());
    assert_eq!(
        event.field("nested").unwrap().as_str(),
        r#"{"n":1e400,"list":[1 , 2]}"#
    );

    let event = parse_line(br#"{"type":"system","subtype":"levitation","height":3}"#).unwrap();
    let Kind::System(system) = event.kind() else {
        panic!("not a system event")
    };
    assert_eq!(system.subtype(), Some("levitation"));
    assert_eq!(event.field("height").unwrap().deserialize::<u8>().unwrap(), 3);

    let event = parse_line(br#"{"no":"type"}"#).unwrap();
    assert!(matches!(event.kind(), Kind::Unknown { type_name: None }));

    let line = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"smell","intensity":9},{"type":"text","text":"b"}]}}"#;
    let event = parse_line(line.as_bytes()).unwrap();
    let Kind::Assistant(assistant) = event.kind() else {
        panic!("not an assistant event")
    };
    let content = &assistant.message.as_ref().unwrap().content;
    assert!(
        matches!(&content.blocks()[1], Block::Unknown(raw) if raw.as_str() == r#"{"type":"smell","intensity":9}"#)
    );
    assert_eq!(content.text(), "a\nb");
}

#[test]
fn a_field_of_another_type_is_absent_and_its_neighbours_are_not() {
    let line = br#"{"type":"assistant","message":{"id":17,"model":["x"],"role":null,"content":{"odd":true},"usage":"many","stop_reason":"end_turn"},"error":{"a":1},"request_id":"r","session_id":5,"uuid":"u"}"#;
    let event = parse_line(line).unwrap();
    let Kind::Assistant(assistant) = event.kind() else {
        panic!("not an assistant event")
    };
    let message = assistant.message.as_ref().unwrap();
    assert_eq!(
        (&message.id, &message.model, &message.role, &message.usage),
        (&None, &None, &None, &None)
    );
    assert!(matches!(&message.content, Content::Other(raw) if raw.as_str() == r#"{"odd":true}"#));
    assert_eq!(message.stop_reason.as_ref().unwrap().as_str(), "end_turn");
    assert_eq!(
        (&assistant.error, assistant.request_id.as_deref()),
        (&None, Some("r"))
    );
    assert_eq!((event.session_id(), event.uuid().as_deref()), (None, Some("u")));

    let event = parse_line(br#"{"type":"user","message":"a string"}"#).unwrap();
    assert!(matches!(event.kind(), Kind::User(user) if user.message.is_none()));
}

#[test]
fn the_same_key_means_different_things_in_different_lines() {
    use claude_code::event::System;
    let event =
        parse_line(br#"{"type":"system","subtype":"permission_denied","message":"no","tool_name":"Bash"}"#)
            .unwrap();
    assert!(
        matches!(event.kind(), Kind::System(System::PermissionDenied(denied)) if denied.message.as_deref() == Some("no"))
    );
    let event = parse_line(br#"{"type":"system","subtype":"ui_invalidate","event":"ui.render"}"#).unwrap();
    assert!(
        matches!(event.kind(), Kind::System(System::UiInvalidate(ui)) if ui.event.as_deref() == Some("ui.render"))
    );
}

#[test]
fn type_may_stand_anywhere() {
    let line = br#"{"duration_api_ms":1,"is_error":false,"result":"done","subtype":"success","type":"result","session_id":"s"}"#;
    let event = parse_line(line).unwrap();
    assert!(
        matches!(event.kind(), Kind::Result(result) if result.is_success() && result.result.as_deref() == Some("done"))
    );
    let line = br#"{"attachment":{"type":"hook_success"},"session_id":"s","type":"attachment"}"#;
    assert!(matches!(parse_line(line).unwrap().kind(), Kind::Attachment(_)));
    let line = br#"{"is_error":false,"type":"assistant","message":{"content":"hi"}}"#;
    assert_eq!(said(line), "hi", "a wrong guess is corrected");
    let line = br#"{"subtype":"status","status":"requesting","type":"system"}"#;
    assert!(matches!(
        parse_line(line).unwrap().kind(),
        Kind::System(claude_code::event::System::Status(_))
    ));
}

#[test]
fn events_can_be_sent_and_outlive_their_stream() {
    fn check<T: Send + Sync + Clone + 'static>(_: &T) {}
    let event = parse_line(assistant("kept").as_bytes()).unwrap();
    check(&event);
    let copy = event.clone();
    drop(event);
    let Kind::Assistant(assistant) = copy.kind() else {
        panic!("not an assistant event")
    };
    assert_eq!(assistant.message.as_ref().unwrap().content.text(), "kept");
}

#[test]
fn an_object_after_an_unfinished_escape_sequence_is_read() {
    for line in [
        "\x1b]0;title{\"type\":\"result\"}",
        "\x1b]0;title{\"type\":\"result\"}\x1b[0m",
        "\x1bPtitle {\"type\":\"result\"}",
        "\x1b[{\"type\":\"result\"}",
    ] {
        let stream = format!("{line}\n{{\"type\":\"user\"}}\n");
        assert_eq!(
            codes(stream.as_bytes()),
            [Err(LineErrorCode::Noise), one("result"), one("user")],
            "{line:?}"
        );
    }
    assert_eq!(codes(b"\x1b]0;title\n{\"type\":\"user\"}\n"), [one("user")]);
    assert_eq!(
        codes(b"{\"type\":\"user\"}\x1b]0;title{\"type\":\"result\"}\n"),
        [one("user"), Err(LineErrorCode::NotJson)]
    );
}

fn content_of(line: &str) -> Content {
    let event = parse_line(line.as_bytes()).unwrap();
    match event.kind() {
        Kind::Assistant(assistant) => assistant.message.as_ref().unwrap().content.clone(),
        Kind::User(user) => user.message.as_ref().unwrap().content.clone(),
        _ => panic!("not a message: {event:?}"),
    }
}

#[test]
fn a_list_of_very_many_blocks_stays_as_written() {
    let line = |list: &str| format!(r#"{{"type":"assistant","message":{{"id":"m","content":{list}}}}}"#);
    let list = |count: usize| format!("[{}1]", "1,".repeat(count - 1));
    assert_eq!(content_of(&line(&list(65_536))).blocks().len(), 65_536);
    let long = list(65_537);
    assert!(matches!(content_of(&line(&long)), Content::Other(raw) if raw.as_str() == long));
}

#[test]
fn very_many_blocks_in_several_lists_of_a_line_count_together() {
    let results =
        r#"{"type":"tool_result","tool_use_id":"t","content":[1,1,1,1,1,1,1,1,1,1]},"#.repeat(10_000);
    let list = format!("[{results}1]");
    let line = format!(r#"{{"type":"user","message":{{"content":{list}}}}}"#);
    assert!(matches!(content_of(&line), Content::Other(raw) if raw.as_str() == list));
}

#[test]
fn of_a_very_long_list_the_first_elements_are_read_and_all_are_kept_as_written() {
    let list = format!("[{}{{}}]", r#"{"tool_name":"Bash"},"#.repeat(100_000));
    let event = parse_line(format!(r#"{{"type":"result","permission_denials":{list}}}"#).as_bytes()).unwrap();
    let Kind::Result(result) = event.kind() else {
        panic!("not a result: {event:?}")
    };
    assert_eq!(result.permission_denials.len(), 65_536);
    assert_eq!(event.field("permission_denials").unwrap().as_str(), list);
}

#[test]
fn the_types_of_stream_events_may_be_escaped() {
    let line = br#"{"type":"stream_event","event":{"type":"content_block_delt\u0061","index":0,"delta":{"type":"te\u0078t_delta","text":"hi"}}}"#;
    let event = parse_line(line).unwrap();
    let Kind::StreamEvent(stream) = event.kind() else {
        panic!("not a stream event: {event:?}")
    };
    assert_eq!(
        stream.body,
        StreamBody::ContentBlockDelta {
            index: 0,
            delta: Delta::Text("hi".into())
        }
    );
}
