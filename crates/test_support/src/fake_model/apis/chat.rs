//! OpenAI's chat completions, as Qwen Code, opencode and Copilot use them.

use super::playback::{CACHED, INPUT, OUTPUT, Playback, REASONING};
use super::reading::{Conversation, elements, texts, tool_result};
use crate::fake_model::events::{Action, Identity};
use crate::fake_model::message::{Block, Message};
use serde_json::{Value, json};

pub(super) fn conversation(body: &Value) -> Value {
    let mut conversation = Conversation::default();
    for message in elements(&body["messages"]) {
        match message["role"].as_str() {
            Some("user") => conversation.say("user", texts(&message["content"])),
            Some("assistant") => conversation.say("assistant", texts(&message["content"])),
            Some("tool") => conversation.say("user", vec![tool_result(&message["content"])]),
            Some("system") => {
                for part in texts(&message["content"]) {
                    conversation.look_for_directory(part["text"].as_str().unwrap_or_default());
                }
            }
            _ => {}
        }
    }
    let names: Vec<&str> = elements(&body["tools"])
        .iter()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    conversation.finish(&body["model"], &names, &Value::Null, body["stream"] == true)
}

pub(super) fn whole(message: &Message, identity: &Identity<'_>) -> String {
    let text: String = message
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let mut reply = json!({"role": "assistant", "content": text});
    let calls = calls(message);
    if !calls.is_empty() {
        reply["tool_calls"] = calls.into();
    }
    json!({"id": identity.message_id, "object": "chat.completion", "created": 1_800_000_000, "model": identity.model,
        "choices": [{"index": 0, "message": reply, "finish_reason": finish_reason(message)}], "usage": usage()})
    .to_string()
}

pub(super) fn stream(message: &Message, identity: &Identity<'_>) -> Vec<Action> {
    let mut playback = Playback::new(message, identity);
    let head = format!(
        r#""id":"{}","object":"chat.completion.chunk","created":1800000000,"model":{}"#,
        identity.message_id,
        Value::from(identity.model)
    );
    let chunk = |delta: &str, reason: Value| {
        format!(
            "data: {{{head},\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{reason}}}]}}\n\n"
        )
    };
    playback.send(chunk(r#"{"role":"assistant","content":""}"#, Value::Null));
    for block in &message.blocks {
        match block {
            Block::Text { text } => playback.deltas(text, |piece| {
                chunk(&format!(r#"{{"content":{piece}}}"#), Value::Null)
            }),
            Block::Thinking { thinking, .. } => playback.deltas(thinking, |piece| {
                chunk(&format!(r#"{{"reasoning_content":{piece}}}"#), Value::Null)
            }),
            _ => {}
        }
    }
    for call in calls(message) {
        playback.send(chunk(&json!({"tool_calls": [call]}).to_string(), Value::Null));
    }
    playback.send(chunk("{}", finish_reason(message).into()));
    playback.send(format!(
        "data: {{{head},\"choices\":[],\"usage\":{}}}\n\n",
        usage()
    ));
    playback.send("data: [DONE]\n\n".to_owned());
    playback.finish()
}

fn calls(message: &Message) -> Vec<Value> {
    let calls = message.blocks.iter().filter_map(|block| match block {
        Block::ToolUse { id, name, input } => Some((id, name, input)),
        _ => None,
    });
    calls
        .enumerate()
        .map(|(index, (id, name, input))| {
            json!({"index": index, "id": id, "type": "function",
                "function": {"name": name, "arguments": input.to_string()}})
        })
        .collect()
}

fn finish_reason(message: &Message) -> &'static str {
    match message.stop_reason {
        "tool_use" => "tool_calls",
        "max_tokens" => "length",
        "refusal" => "content_filter",
        _ => "stop",
    }
}

fn usage() -> Value {
    json!({
        "prompt_tokens": INPUT, "prompt_tokens_details": {"cached_tokens": CACHED},
        "completion_tokens": OUTPUT, "completion_tokens_details": {"reasoning_tokens": REASONING},
        "total_tokens": INPUT + OUTPUT,
    })
}
