//! Every line that real CLIs wrote is a typed event, byte for byte.
#![expect(clippy::panic, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;

use bytes::Bytes;
use claude_code::event::{
    Block, ControlRequestBody, ControlResponseBody, Delta, StreamBody, StreamEvent, System,
};
use claude_code::reconcile::TextCollector;
use claude_code::{CostAccount, CostBasis, Decoder, Event, Kind, parse_bytes};
use test_support::fixtures::{self, Fixture};

fn events(fixture: &Fixture) -> Vec<Event> {
    let mut decoder = Decoder::default();
    decoder.push(Bytes::copy_from_slice(&fixture.bytes));
    decoder.finish();
    let items = std::iter::from_fn(|| decoder.next());
    items
        .map(|item| item.unwrap_or_else(|error| panic!("{}: {error}", fixture.path.display())))
        .collect()
}

/// The kind's name as the vendor writes it, or a name with `unknown` in it.
fn name(event: &Event) -> String {
    let type_name = event.type_name().unwrap_or_default().into_owned();
    match event.kind() {
        Kind::Unknown { .. } => format!("unknown type {type_name}"),
        Kind::System(System::Unknown { subtype }) => format!("unknown subtype {subtype:?}"),
        Kind::System(system) => format!("system/{}", system.subtype().unwrap_or_default()),
        Kind::StreamEvent(stream) => format!("stream_event/{}", stream_name(stream)),
        Kind::ControlRequest(request) => match &request.body {
            ControlRequestBody::CanUseTool(_) => "control_request/can_use_tool".into(),
            ControlRequestBody::HookCallback(_) => "control_request/hook_callback".into(),
            ControlRequestBody::McpMessage(_) => "control_request/mcp_message".into(),
            other => format!("unknown request {other:?}"),
        },
        Kind::ControlResponse(response) => match &response.body {
            ControlResponseBody::Success { .. } => "control_response/success".into(),
            ControlResponseBody::Error { .. } => "control_response/error".into(),
            other => format!("unknown response {other:?}"),
        },
        Kind::Result(result) => {
            format!(
                "result/{}",
                result
                    .subtype
                    .as_ref()
                    .map_or("unknown", |subtype| subtype.as_str())
            )
        }
        _ => type_name,
    }
}

fn stream_name(stream: &StreamEvent) -> &'static str {
    match &stream.body {
        StreamBody::MessageStart { .. } => "message_start",
        StreamBody::ContentBlockStart { .. } => "content_block_start",
        StreamBody::ContentBlockDelta { delta, .. } => match delta {
            Delta::Text(_) => "text_delta",
            Delta::Thinking(_) => "thinking_delta",
            Delta::InputJson(_) => "input_json_delta",
            Delta::Signature(_) => "signature_delta",
            _ => "unknown delta",
        },
        StreamBody::ContentBlockStop { .. } => "content_block_stop",
        StreamBody::MessageDelta { .. } => "message_delta",
        StreamBody::MessageStop => "message_stop",
        StreamBody::Ping => "ping",
        _ => "unknown event",
    }
}

/// Kinds that the captured sessions are known to hold.
const KINDS: &[&str] = &[
    "assistant",
    "attachment",
    "command_lifecycle",
    "control_cancel_request",
    "control_request/can_use_tool",
    "control_request/hook_callback",
    "control_request/mcp_message",
    "control_response/error",
    "control_response/success",
    "conversation_reset",
    "rate_limit_event",
    "result/error_during_execution",
    "result/error_max_budget_usd",
    "result/error_max_structured_output_retries",
    "result/error_max_turns",
    "result/success",
    "stream_event/content_block_start",
    "stream_event/content_block_stop",
    "stream_event/input_json_delta",
    "stream_event/message_delta",
    "stream_event/message_start",
    "stream_event/message_stop",
    "stream_event/signature_delta",
    "stream_event/text_delta",
    "stream_event/thinking_delta",
    "system/api_retry",
    "system/background_tasks_changed",
    "system/compact_boundary",
    "system/hook_response",
    "system/hook_started",
    "system/informational",
    "system/init",
    "system/model_fallback",
    "system/model_refusal_no_fallback",
    "system/notification",
    "system/permission_denied",
    "system/session_state_changed",
    "system/session_title_changed",
    "system/status",
    "system/task_notification",
    "system/task_progress",
    "system/task_started",
    "system/task_updated",
    "system/thinking_tokens",
    "system/ui_invalidate",
    "tool_progress",
    "tool_use_summary",
    "user",
];

#[test]
fn every_captured_line_is_a_known_event_and_none_is_lost() {
    let mut census: BTreeMap<String, usize> = BTreeMap::new();
    for fixture in fixtures::all().unwrap() {
        for line in fixture.lines() {
            let events: Vec<Event> = parse_bytes(Bytes::copy_from_slice(line))
                .map(Result::unwrap)
                .collect();
            if line.starts_with(b"[") {
                // `--output-format json --verbose` writes all events as one array.
                let elements = events.iter().map(|event| String::from_utf8_lossy(event.raw()));
                assert_eq!(
                    format!("[{}]", elements.collect::<Vec<_>>().join(",")).as_bytes(),
                    line
                );
            } else {
                let raw: Vec<&[u8]> = events.iter().map(|event| &event.raw()[..]).collect();
                assert_eq!(raw, [line], "{}", fixture.path.display());
            }
            for event in &events {
                *census.entry(name(event)).or_default() += 1;
            }
        }
    }
    let unknown: Vec<_> = census
        .keys()
        .filter(|name| !KINDS.contains(&name.as_str()))
        .collect();
    assert!(unknown.is_empty(), "kinds without a type: {unknown:?}");
    let missing: Vec<_> = KINDS.iter().filter(|kind| !census.contains_key(**kind)).collect();
    assert!(missing.is_empty(), "kinds that were not captured: {missing:?}");
}

#[test]
fn every_captured_block_is_known() {
    for fixture in fixtures::all().unwrap() {
        for event in events(&fixture) {
            let message = match event.kind() {
                Kind::Assistant(assistant) => assistant.message.as_ref(),
                Kind::User(user) => user.message.as_ref(),
                _ => continue,
            };
            for block in message.unwrap().content.blocks() {
                assert!(
                    !matches!(block, Block::Unknown(_)),
                    "{}: {block:?}",
                    fixture.path.display()
                );
                if let Block::ToolResult(result) = block {
                    let inner = result
                        .content
                        .blocks()
                        .iter()
                        .find(|block| matches!(block, Block::Unknown(_)));
                    assert!(inner.is_none(), "{}: {inner:?}", fixture.path.display());
                }
            }
        }
    }
}

#[test]
fn every_captured_event_tells_its_session() {
    for fixture in fixtures::all().unwrap() {
        for event in events(&fixture) {
            let is_control = event.type_name().unwrap().starts_with("control_");
            assert_eq!(
                event.session_id().is_none(),
                is_control,
                "{}: {event:?}",
                fixture.path.display()
            );
        }
    }
}

#[test]
fn collected_text_is_what_the_result_says() {
    let mut compared = 0;
    for fixture in fixtures::all().unwrap() {
        let events = events(&fixture);
        let mut collector = TextCollector::new();
        events.iter().for_each(|event| collector.apply(event));
        // The last one: the results of several turns may come together at the end.
        let mut results = events.iter().rev().filter_map(|event| match event.kind() {
            Kind::Result(result) => Some(result),
            _ => None,
        });
        let Some(result) = results.next().filter(|result| result.is_success()) else {
            continue;
        };
        // A structured answer is no text.
        if result.structured_output.is_some() {
            continue;
        }
        // An empty one says nothing: the CLI leaves it empty at times although there was text.
        let said = result.result.as_deref().filter(|text| !text.is_empty());
        if let (Some(text), Some(last)) = (said, collector.last_text()) {
            assert_eq!(last.trim(), text.trim(), "{}", fixture.path.display());
            compared += 1;
        }
    }
    assert!(compared > 50, "only {compared} results were compared");
}

#[test]
fn cost_accounts_agree_with_the_totals_of_new_sessions() {
    let mut compared = 0;
    for fixture in fixtures::all().unwrap() {
        let mut account = CostAccount::new(CostBasis::NewSession);
        let mut total = None;
        let mut parts = 0;
        for event in events(&fixture) {
            account.apply(&event);
            if let Kind::Result(result) = event.kind() {
                total = result.total_cost;
                parts += u64::from(result.model_usage_since_last_result.is_present());
            }
        }
        // Sessions that go on from an earlier one: their totals include it.
        let is_resumed = ["resume", "continue", "fork"]
            .iter()
            .any(|word| fixture.name.contains(word));
        if let (Some(total), false) = (total, is_resumed) {
            let difference = account
                .cost()
                .unwrap()
                .as_micro_usd()
                .abs_diff(total.as_micro_usd());
            assert!(
                difference <= parts,
                "{}: {difference} micro dollars apart",
                fixture.path.display()
            );
            compared += 1;
        }
    }
    assert!(compared > 50, "only {compared} sessions were compared");
}
