//! Lines for the CLI's stdin.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use claude_code::event::{ControlRequestBody, PermissionMode};
use claude_code::input::{self, Answer, HostRequest, MessageBlock, MessageId, PermissionAnswer, UserMessage};
use claude_code::{Expansion, Kind, RawJson, parse_line};
use insta::assert_snapshot;
use serde_json::{Value, json};

const ID: &str = "80650f64-4884-4890-b40e-a32903c34296";

/// The one line in these bytes.
fn line(bytes: &[u8]) -> &str {
    let line = std::str::from_utf8(bytes)
        .unwrap()
        .strip_suffix('\n')
        .expect("a line ends with a newline");
    assert!(
        !line.contains(['\n', '\r', '\u{2028}', '\u{2029}']),
        "a line is one line for every reader: {line}"
    );
    serde_json::from_str::<serde::de::IgnoredAny>(line).expect("a line is JSON");
    line
}

/// The input of a tool as it arrives in a request.
fn tool_input(json: &str) -> RawJson {
    let request = format!(
        r#"{{"type":"control_request","request_id":"r","request":{{"subtype":"can_use_tool","input":{json}}}}}"#
    );
    let event = parse_line(request.as_bytes()).unwrap();
    let Kind::ControlRequest(request) = event.kind() else {
        panic!("not a request: {event:?}")
    };
    let ControlRequestBody::CanUseTool(tool) = &request.body else {
        panic!("not about a tool: {event:?}")
    };
    tool.input.clone().unwrap()
}

#[test]
fn a_text_message_has_role_content_and_id() {
    let message = UserMessage {
        id: MessageId::parse(ID),
        ..UserMessage::text("Hi \"there\"")
    };
    assert_snapshot!(
        line(&input::user_message(&message, Expansion::Commands)),
        @r#"{"type":"user","message":{"role":"user","content":"Hi \"there\""},"uuid":"80650f64-4884-4890-b40e-a32903c34296"}"#
    );
    assert_snapshot!(
        line(&input::user_message(&UserMessage::anonymous("/cost"), Expansion::Literal)),
        @r#"{"type":"user","message":{"role":"user","content":"/cost"},"client_composed":true}"#
    );
}

#[test]
fn blocks_carry_text_images_and_anything_else() {
    let message = UserMessage {
        id: None,
        ..UserMessage::blocks([
            MessageBlock::Text("What is this?".into()),
            MessageBlock::Image {
                media_type: "image/png".into(),
                base64: "iVBORw0=".into(),
            },
            MessageBlock::Other(json!({"type": "document", "title": "x"})),
        ])
    };
    assert_snapshot!(
        line(&input::user_message(&message, Expansion::Commands)),
        @r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0="}},{"title":"x","type":"document"}]}}"#
    );
}

#[test]
fn no_text_can_break_a_line() {
    let text = "a\nb\r\nc\u{2028}d\u{2029}e\u{0}\u{7f}é漢🎉\u{201c}\\u2028 \\n";
    let bytes = input::user_message(&UserMessage::text(text), Expansion::Literal);
    let read: Value = serde_json::from_str(line(&bytes)).unwrap();
    assert_eq!(
        read["message"]["content"], text,
        "the text arrives as it was said"
    );
}

#[test]
fn control_requests_carry_their_id_and_body() {
    let request =
        |request: HostRequest| String::from_utf8(input::host_request("r1", &request).to_vec()).unwrap();
    let lines = [
        HostRequest::Initialize(serde_json::Map::new()),
        HostRequest::Interrupt,
        HostRequest::SetModel(Some("haiku".into())),
        HostRequest::SetPermissionMode(PermissionMode::Plan),
        HostRequest::SetMaxThinkingTokens(Some(2000)),
        HostRequest::StopTask { task_id: "b1".into() },
        HostRequest::EndSession,
        HostRequest::other("mcp_status"),
    ]
    .map(request)
    .concat();
    for text in lines.lines() {
        line(format!("{text}\n").as_bytes());
    }
    assert_snapshot!(lines, @r#"
    {"type":"control_request","request_id":"r1","request":{"subtype":"initialize"}}
    {"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}
    {"type":"control_request","request_id":"r1","request":{"subtype":"set_model","model":"haiku"}}
    {"type":"control_request","request_id":"r1","request":{"subtype":"set_permission_mode","mode":"plan"}}
    {"type":"control_request","request_id":"r1","request":{"subtype":"set_max_thinking_tokens","max_thinking_tokens":2000}}
    {"type":"control_request","request_id":"r1","request":{"subtype":"stop_task","task_id":"b1"}}
    {"type":"control_request","request_id":"r1","request":{"subtype":"end_session"}}
    {"type":"control_request","request_id":"r1","request":{"subtype":"mcp_status"}}
    "#);
}

#[test]
fn a_body_cannot_overwrite_the_subtype() {
    let body = serde_json::Map::from_iter([
        ("subtype".to_owned(), json!("interrupt")),
        ("x".to_owned(), json!(1)),
    ]);
    let request = HostRequest::Other {
        subtype: "get_settings".into(),
        body,
    };
    assert_snapshot!(
        line(&input::host_request("r1", &request)),
        @r#"{"type":"control_request","request_id":"r1","request":{"subtype":"get_settings","x":1}}"#
    );
}

#[test]
fn permission_answers_say_what_runs_and_what_does_not() {
    let answer = |answer: PermissionAnswer| line(&input::answer("q1", &answer.into())).to_owned();
    let allow = PermissionAnswer::allow(&tool_input(r#"{"command":"touch x"}"#)).unwrap();
    assert_snapshot!(
        answer(allow.clone()),
        @r#"{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"behavior":"allow","updatedInput":{"command":"touch x"}}}}"#
    );
    let PermissionAnswer::Allow { input, .. } = allow else {
        panic!("allow allows")
    };
    let permissions = vec![json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"})];
    assert_snapshot!(
        answer(PermissionAnswer::Allow { input, permissions }),
        @r#"{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"behavior":"allow","updatedInput":{"command":"touch x"},"updatedPermissions":[{"destination":"session","mode":"acceptEdits","type":"setMode"}]}}}"#
    );
    assert_snapshot!(
        answer(PermissionAnswer::deny("not\nnow")),
        @r#"{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"behavior":"deny","message":"not\nnow"}}}"#
    );
    assert_snapshot!(
        answer(PermissionAnswer::deny_and_end_turn("stop")),
        @r#"{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"behavior":"deny","message":"stop","interrupt":true}}}"#
    );
}

#[test]
fn other_requests_get_a_body_or_an_error() {
    let body = Answer::Body(json!({"mcp_response": {"jsonrpc": "2.0", "id": 1}}));
    assert_snapshot!(
        line(&input::answer("q1", &body)),
        @r#"{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"mcp_response":{"id":1,"jsonrpc":"2.0"}}}}"#
    );
    assert_snapshot!(
        line(&input::answer("q1", &Answer::Error("no such hook".into()))),
        @r#"{"type":"control_response","response":{"subtype":"error","request_id":"q1","error":"no such hook"}}"#
    );
}

#[test]
fn a_tools_input_goes_back_as_it_was_written() {
    // None of this survives a round trip through a Rust value.
    let written = r#"{"n":1e400,"i":123456789012345678901234567890,"s":"\ud83d","d":1,"d":2,"f":1.0}"#;
    let allow = PermissionAnswer::allow(&tool_input(written)).unwrap();
    let bytes = input::answer("q1", &allow.into());
    assert!(
        line(&bytes).contains(&format!(r#""updatedInput":{written}}}"#)),
        "{bytes:?}"
    );
}

#[test]
fn answers_are_added_to_the_questions() {
    let questions =
        r#"{"questions":[{"question":"Which color?","options":[{"label":"Red"},{"label":"Blue"}]}]}"#;
    let answered = |json: &str| {
        let input = input::with_answers(&tool_input(json), [("Which \"color\"?", "Blue")]).unwrap();
        input.get().to_owned()
    };
    assert_snapshot!(
        answered(questions),
        @r#"{"questions":[{"question":"Which color?","options":[{"label":"Red"},{"label":"Blue"}]}],"answers":{"Which \"color\"?":"Blue"}}"#
    );
    assert_snapshot!(answered("{ }"), @r#"{ "answers":{"Which \"color\"?":"Blue"}}"#);
    let replaced: Value = serde_json::from_str(&answered(r#"{"answers":{"x":"y"}}"#)).unwrap();
    assert_eq!(
        replaced["answers"],
        json!({"Which \"color\"?": "Blue"}),
        "the last answers count"
    );
    assert!(
        input::with_answers(&tool_input("[1]"), []).is_err(),
        "only an object can hold answers"
    );
}

#[test]
fn an_input_that_cannot_be_sent_back_is_refused() {
    let event = parse_line(b"{\"type\":\"control_request\",\"request\":{\"subtype\":\"can_use_tool\",\"input\":{\"a\":\"\xff\"}}}").unwrap();
    let Kind::ControlRequest(request) = event.kind() else {
        panic!("not a request")
    };
    let ControlRequestBody::CanUseTool(tool) = &request.body else {
        panic!("not about a tool")
    };
    let refused = PermissionAnswer::allow(tool.input.as_ref().unwrap()).unwrap_err();
    assert!(refused.to_string().contains("deny the request"), "{refused}");
}
