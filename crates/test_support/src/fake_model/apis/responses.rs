//! OpenAI's Responses API, as Codex uses it.

use super::playback::{CACHED, INPUT, OUTPUT, Playback, REASONING};
use super::reading::{Conversation, elements, texts, tool_result};
use crate::fake_model::events::{Action, Identity};
use crate::fake_model::message::{Block, Message};
use serde_json::{Value, json};

pub(super) fn conversation(body: &Value) -> Value {
    let mut conversation = Conversation::default();
    for item in elements(&body["input"]) {
        match (item["type"].as_str().unwrap_or("message"), item["role"].as_str()) {
            ("message", Some("user")) => conversation.say("user", texts(&item["content"])),
            ("message", Some("assistant")) => conversation.say("assistant", texts(&item["content"])),
            ("message", _) => {}
            (kind, _) if kind.ends_with("_output") => {
                conversation.say("user", vec![tool_result(&item["output"])]);
            }
            // A thought alone is no message.
            ("reasoning", _) => {}
            (_, _) => conversation.say("assistant", Vec::new()),
        }
    }
    let names: Vec<&str> = tools(body).map(|(_, name, _)| name).collect();
    conversation.finish(&body["model"], &names, &body["prompt_cache_key"], true)
}

/// Kind, name and namespace of the tools on offer.
fn tools(body: &Value) -> impl Iterator<Item = (&str, &str, Option<&str>)> {
    elements(&body["tools"]).iter().flat_map(|tool| {
        let namespace = tool["name"].as_str().filter(|_| tool["type"] == "namespace");
        let inner = match namespace {
            Some(_) => elements(&tool["tools"]),
            None => std::slice::from_ref(tool),
        };
        inner.iter().map(move |tool| {
            let kind = tool["type"].as_str().unwrap_or_default();
            (kind, tool["name"].as_str().unwrap_or(kind), namespace)
        })
    })
}

pub(super) fn stream(message: &Message, identity: &Identity<'_>, body: &Value) -> Vec<Action> {
    let mut playback = Playback::new(message, identity);
    let response = |status: &str, output: &[Value]| {
        json!({"id": identity.message_id, "object": "response", "created_at": 1_800_000_000, "status": status,
            "model": identity.model, "output": output, "error": null, "incomplete_details": null})
    };
    playback.send(event(
        "response.created",
        json!({"response": response("in_progress", &[])}),
    ));
    let mut output = Vec::new();
    for (index, block) in message.blocks.iter().enumerate() {
        let id = format!("{}_{index}", identity.message_id);
        let Some(item) = item(block, &id, body) else {
            continue;
        };
        playback.send(event(
            "response.output_item.added",
            json!({"output_index": index, "item": opening(&item)}),
        ));
        match block {
            Block::Text { text } => playback.deltas(text, |piece| {
                format!("event: response.output_text.delta\ndata: {{\"type\":\"response.output_text.delta\",\"item_id\":\"{id}\",\"output_index\":{index},\"content_index\":0,\"delta\":{piece}}}\n\n")
            }),
            Block::Thinking { thinking, .. } => {
                let place = json!({"item_id": id, "output_index": index, "summary_index": 0, "part": {"type": "summary_text", "text": ""}});
                playback.send(event("response.reasoning_summary_part.added", place));
                playback.deltas(thinking, |piece| {
                    format!("event: response.reasoning_summary_text.delta\ndata: {{\"type\":\"response.reasoning_summary_text.delta\",\"item_id\":\"{id}\",\"output_index\":{index},\"summary_index\":0,\"delta\":{piece}}}\n\n")
                });
            }
            _ => {}
        }
        playback.send(event(
            "response.output_item.done",
            json!({"output_index": index, "item": item}),
        ));
        output.push(item);
    }
    let mut end = response("completed", &output);
    end["usage"] = json!({
        "input_tokens": INPUT, "input_tokens_details": {"cached_tokens": CACHED},
        "output_tokens": OUTPUT, "output_tokens_details": {"reasoning_tokens": REASONING},
        "total_tokens": INPUT + OUTPUT,
    });
    playback.send(event("response.completed", json!({"response": end})));
    playback.finish()
}

/// The item as it is in the end; `None` for what this API does not have.
fn item(block: &Block, id: &str, body: &Value) -> Option<Value> {
    match block {
        Block::Text { text } => Some(
            json!({"id": id, "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}),
        ),
        Block::Thinking { thinking, .. } => Some(json!({"id": id, "type": "reasoning",
            "summary": [{"type": "summary_text", "text": thinking}], "encrypted_content": null})),
        Block::ToolUse {
            id: call,
            name,
            input,
        } => {
            let offered = tools(body).find(|(_, offered, _)| offered == name);
            Some(match offered {
                // Such a tool takes a text in place of JSON.
                Some(("custom", ..)) => {
                    json!({"id": id, "type": "custom_tool_call", "call_id": call, "name": name,
                    "input": input["input"], "status": "completed"})
                }
                Some((_, _, Some(namespace))) => {
                    json!({"id": id, "type": "function_call", "call_id": call, "name": name,
                    "namespace": namespace, "arguments": input.to_string(), "status": "completed"})
                }
                _ => json!({"id": id, "type": "function_call", "call_id": call, "name": name,
                    "arguments": input.to_string(), "status": "completed"}),
            })
        }
        Block::ServerToolUse { id, input, .. } => {
            Some(json!({"id": id, "type": "web_search_call", "status": "completed",
            "action": {"type": "search", "query": input["query"]}}))
        }
        Block::RedactedThinking { .. } | Block::WebSearchToolResult { .. } => None,
    }
}

/// The same item before its content came.
fn opening(item: &Value) -> Value {
    let mut opening = item.clone();
    for (key, empty) in [
        ("status", json!("in_progress")),
        ("content", json!([])),
        ("summary", json!([])),
        ("arguments", json!("")),
    ] {
        if let Some(value) = opening.get_mut(key) {
            *value = empty;
        }
    }
    opening
}

fn event(name: &str, mut data: Value) -> String {
    data["type"] = name.into();
    format!("event: {name}\ndata: {data}\n\n")
}
