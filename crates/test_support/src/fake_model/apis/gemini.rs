//! Google's API, as Gemini CLI uses it.

use super::playback::{CACHED, INPUT, OUTPUT, Playback, REASONING};
use super::reading::{Conversation, elements, text, tool_result};
use crate::fake_model::events::{Action, Identity};
use crate::fake_model::message::{Block, Message};
use serde_json::{Map, Value, json};

/// What the API says it is, whatever was asked for.
const MODEL: &str = "scripted-model";

pub(super) fn conversation(body: &Value, path: &str) -> Value {
    let mut conversation = Conversation::default();
    for content in elements(&body["contents"]) {
        let role = if content["role"] == "model" {
            "assistant"
        } else {
            "user"
        };
        let blocks = elements(&content["parts"]).iter().filter_map(|part| {
            let response = part
                .get("functionResponse")
                .map(|result| tool_result(&result["response"]));
            response.or_else(|| part["text"].as_str().map(text))
        });
        conversation.say(role, blocks.collect());
    }
    let names: Vec<&str> = elements(&body["tools"])
        .iter()
        .flat_map(|tools| elements(&tools["functionDeclarations"]))
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let model = path
        .rsplit('/')
        .next()
        .and_then(|last| last.split(':').next())
        .unwrap_or_default();
    let streams = path.ends_with(":streamGenerateContent");
    conversation.finish(&model.into(), &names, &Value::Null, streams)
}

/// The CLI also asks small questions of its own, with a schema for the answer; they have nothing to do with the scenario.
pub(super) fn structured_answer(body: &Value) -> Option<String> {
    let settings = &body["generationConfig"];
    let schema = ["responseJsonSchema", "responseSchema"]
        .into_iter()
        .find_map(|key| settings.get(key))?;
    let filled: Map<String, Value> = schema["properties"]
        .as_object()?
        .iter()
        .map(|(name, property)| (name.clone(), filler(property)))
        .collect();
    Some(answer(&[json!({"text": Value::Object(filled).to_string()})]).to_string())
}

fn filler(property: &Value) -> Value {
    if let Some(first) = elements(&property["enum"]).first() {
        return first.clone();
    }
    match property["type"].as_str().map(str::to_ascii_lowercase).as_deref() {
        Some("boolean") => false.into(),
        Some("number" | "integer") => 0.into(),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => "scripted".into(),
    }
}

pub(super) fn whole(message: &Message) -> String {
    let parts: Vec<Value> = message.blocks.iter().filter_map(part).collect();
    answer(&parts).to_string()
}

pub(super) fn stream(message: &Message, identity: &Identity<'_>) -> Vec<Action> {
    let mut playback = Playback::new(message, identity);
    let chunk = |part: &str| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"role\":\"model\",\"parts\":[{part}]}},\"index\":0}}],\"modelVersion\":\"{MODEL}\",\"responseId\":\"{}\"}}\r\n\r\n",
            identity.message_id
        )
    };
    let mut calls = Vec::new();
    for block in &message.blocks {
        match block {
            Block::Text { text } => playback.deltas(text, |piece| {
                // The CLI takes a bare U+2028 for the end of the event.
                let piece = piece.replace('\u{2028}', "\\u2028");
                chunk(&format!(r#"{{"text":{piece}}}"#))
            }),
            Block::Thinking { thinking, .. } => playback.deltas(thinking, |piece| {
                chunk(&format!(r#"{{"text":{piece},"thought":true}}"#))
            }),
            _ => calls.extend(part(block)),
        }
    }
    // The real API sends calls that belong together in one piece.
    if !calls.is_empty() {
        let calls: Vec<String> = calls.iter().map(Value::to_string).collect();
        playback.send(chunk(&calls.join(",")));
    }
    playback.send(format!("data: {}\r\n\r\n", answer(&[json!({"text": ""})])));
    playback.finish()
}

fn part(block: &Block) -> Option<Value> {
    match block {
        Block::Text { text } => Some(json!({"text": text})),
        Block::Thinking { thinking, .. } => Some(json!({"text": thinking, "thought": true})),
        Block::ToolUse { name, input, .. } => Some(json!({"functionCall": {"name": name, "args": input}})),
        Block::RedactedThinking { .. } | Block::ServerToolUse { .. } | Block::WebSearchToolResult { .. } => {
            None
        }
    }
}

fn answer(parts: &[Value]) -> Value {
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": INPUT, "cachedContentTokenCount": CACHED,
            // Unlike elsewhere, thoughts are not part of the answer's tokens.
            "candidatesTokenCount": OUTPUT, "thoughtsTokenCount": REASONING,
            "totalTokenCount": INPUT + OUTPUT + REASONING,
        },
        "modelVersion": MODEL,
    })
}
