//! `session/update` notifications become events: text, tool calls, plans, usage, unknown kinds.

use agent_api::{Body, DeltaMode, Part, PlanStatus, ToolKind, ToolStatus};
use serde_json::json;

use super::scripted::{PROMPT, prompted, run, stopped, text_chunk, update};

#[tokio::test]
async fn an_update_of_an_unknown_call_creates_the_call() {
    let end = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "failed",
        "title": "Looking around", "kind": "search", "rawOutput": {"error": "nothing there"}});
    let script = prompted()
        .emit(update(&end))
        .emit(update(&end))
        .emit(stopped(PROMPT, "end_turn"));
    let (events, _) = run(&script.read_to_end()).await;
    let started = events.iter().find_map(|event| match &event.body {
        Body::ToolStarted(tool) => Some(tool),
        _ => None,
    });
    let started = started.unwrap();
    assert_eq!(
        (started.name.as_str(), started.kind),
        ("search", ToolKind::Search)
    );
    let ends: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolFinished(tool) => Some(tool),
            _ => None,
        })
        .collect();
    assert_eq!(ends.len(), 1, "a call ends once");
    assert_eq!(
        (ends[0].status, ends[0].output.as_str()),
        (ToolStatus::Failed, "nothing there")
    );
}

#[tokio::test]
async fn a_command_that_fails_has_failed_although_the_agent_calls_it_completed() {
    let call =
        json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "bash", "status": "pending"});
    let running = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "in_progress",
        "rawInput": {"command": "false"}, "content": [{"type": "content", "content": {"type": "text", "text": "so far"}}]});
    let end = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed",
        "rawOutput": {"output": "no", "metadata": {"exit": 1}}});
    let script = prompted().emit_lines([
        update(&call),
        update(&running),
        update(&end),
        stopped(PROMPT, "end_turn"),
    ]);
    let (events, _) = run(&script.read_to_end()).await;
    let live = events.iter().find_map(|event| match &event.body {
        Body::Delta(delta) if delta.part == Part::ToolOutput => Some((delta.mode, delta.text.clone())),
        _ => None,
    });
    assert_eq!(live, Some((DeltaMode::Snapshot, "so far".to_owned())));
    let end = events.iter().find_map(|event| match &event.body {
        Body::ToolFinished(tool) => Some((tool.status, tool.exit_code)),
        _ => None,
    });
    assert_eq!(end, Some((ToolStatus::Failed, Some(1))));
}

#[tokio::test]
async fn a_message_is_split_by_its_id_by_its_kind_and_by_a_tool_call() {
    let chunk = |kind: &str, id: &str, text: &str| {
        update(&json!({"sessionUpdate": kind, "messageId": id, "content": {"type": "text", "text": text}}))
    };
    let call =
        json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "read", "status": "completed"});
    let script = prompted().emit_lines([
        chunk("agent_thought_chunk", "m1", "hm"),
        chunk("agent_message_chunk", "m1", "one "),
        chunk("agent_message_chunk", "m1", "block"),
        chunk("agent_message_chunk", "m2", "two"),
        update(&call),
        chunk("agent_message_chunk", "m2", "three"),
        text_chunk(" and a half"),
        stopped(PROMPT, "end_turn"),
    ]);
    let (events, _) = run(&script.read_to_end()).await;
    let blocks: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::TextBlock(block) => Some((block.item.as_str(), block.text.as_str())),
            Body::ThinkingBlock(block) => Some((block.item.as_str(), block.text.as_str())),
            _ => None,
        })
        .collect();
    let expected = [
        ("m1", "hm"),
        ("m1/2", "one block"),
        ("m2", "two"),
        ("m2/2", "three and a half"),
    ];
    assert_eq!(blocks, expected);
}

#[tokio::test]
async fn plans_modes_titles_and_unknown_updates_have_events() {
    let entries =
        json!([{"content": "look", "status": "completed"}, {"content": "act", "status": "in_progress"}]);
    let script = prompted().emit_lines([
        update(&json!({"sessionUpdate": "plan", "entries": entries})),
        update(&json!({"sessionUpdate": "current_mode_update", "currentModeId": "yolo"})),
        update(&json!({"sessionUpdate": "session_info_update", "title": "A title"})),
        update(&json!({"sessionUpdate": "telepathy", "thought": 1})),
        stopped(PROMPT, "end_turn"),
    ]);
    let (events, _) = run(&script.read_to_end()).await;
    let plan = events.iter().find_map(|event| match &event.body {
        Body::PlanUpdated(plan) => Some(plan.entries.iter().map(|entry| entry.status).collect::<Vec<_>>()),
        _ => None,
    });
    assert_eq!(plan, Some(vec![PlanStatus::Completed, PlanStatus::InProgress]));
    let sessions: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::SessionUpdated(session) => {
                Some((session.permission_mode.as_deref(), session.title.as_deref()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(sessions, [(Some("yolo"), None), (None, Some("A title"))]);
    let unknown = events.iter().find_map(|event| match &event.body {
        Body::Unknown(unknown) => Some(unknown.type_name.as_str()),
        _ => None,
    });
    assert_eq!(unknown, Some("telepathy"));
}
