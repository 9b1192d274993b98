//! A message as the API sends it: whole, or as server-sent events.

use super::message::{Block, Incident, Message};
use serde_json::{Value, json};
use std::time::Duration;

/// What the server does next on a stream.
#[derive(Debug)]
pub(super) enum Action {
    Send(String),
    Pause(Duration),
    Incident(Incident),
}

/// The ids of one message.
pub(super) struct Identity<'a> {
    pub(super) message_id: &'a str,
    pub(super) model: &'a str,
    /// The CLI's directory: it is never cut in two, so that whoever looks for it in the stream finds it.
    pub(super) directory: &'a str,
}

pub(super) fn whole(message: &Message, identity: &Identity<'_>) -> String {
    let content: Vec<String> = message.blocks.iter().map(block_json).collect();
    format!(
        r#"{{"id":"{}","type":"message","role":"assistant","model":{},"content":[{}],"stop_reason":"{}","stop_sequence":{},"usage":{}}}"#,
        identity.message_id,
        Value::from(identity.model),
        content.join(","),
        message.stop_reason,
        stop_sequence(message),
        usage(message, None),
    )
}

pub(super) fn stream(message: &Message, identity: &Identity<'_>) -> Vec<Action> {
    let mut actions = Vec::new();
    let start = format!(
        r#"{{"type":"message_start","message":{{"id":"{}","type":"message","role":"assistant","model":{},"content":[],"stop_reason":null,"stop_sequence":null,"usage":{}}}}}"#,
        identity.message_id,
        Value::from(identity.model),
        usage(message, Some(1)),
    );
    actions.push(event("message_start", &start));
    let mut sent = 0;
    for (index, block) in message.blocks.iter().enumerate() {
        let (opening, deltas) = pieces(block, message, identity.directory);
        let start = format!(r#"{{"type":"content_block_start","index":{index},"content_block":{opening}}}"#);
        actions.push(event("content_block_start", &start));
        if index == 0 {
            actions.push(event("ping", r#"{"type":"ping"}"#));
        }
        for delta in deltas {
            if !message.pace.is_zero() {
                actions.push(Action::Pause(message.pace));
            }
            let delta = format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#);
            actions.push(event("content_block_delta", &delta));
            sent += 1;
            match &message.incident {
                Some((after, Incident::Error)) if *after == sent => {
                    let error =
                        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
                    actions.push(event("error", error));
                    return actions;
                }
                Some((after, Incident::End)) if *after == sent => return actions,
                Some((after, incident)) if *after == sent => actions.push(Action::Incident(incident.clone())),
                _ => {}
            }
        }
        actions.push(event(
            "content_block_stop",
            &format!(r#"{{"type":"content_block_stop","index":{index}}}"#),
        ));
    }
    let end = format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{}","stop_sequence":{}}},"usage":{}}}"#,
        message.stop_reason,
        stop_sequence(message),
        usage(message, None),
    );
    actions.push(event("message_delta", &end));
    actions.push(event("message_stop", r#"{"type":"message_stop"}"#));
    actions
}

fn event(name: &str, data: &str) -> Action {
    Action::Send(format!("event: {name}\ndata: {data}\n\n"))
}

/// The block as it opens, and its deltas.
fn pieces(block: &Block, message: &Message, directory: &str) -> (String, Vec<String>) {
    let cut = |text: &str| cut(text, message.delta_chars, directory);
    match block {
        Block::Text { text } => {
            let deltas = cut(text)
                .into_iter()
                .map(|text| format!(r#"{{"type":"text_delta","text":{text}}}"#));
            (r#"{"type":"text","text":""}"#.to_owned(), deltas.collect())
        }
        Block::Thinking { thinking, signature } => {
            let thoughts = cut(thinking)
                .into_iter()
                .map(|text| format!(r#"{{"type":"thinking_delta","thinking":{text}}}"#));
            let signature = format!(
                r#"{{"type":"signature_delta","signature":{}}}"#,
                Value::from(signature.as_str())
            );
            (
                r#"{"type":"thinking","thinking":"","signature":""}"#.to_owned(),
                thoughts.chain([signature]).collect(),
            )
        }
        Block::ToolUse { id, name, input } => (
            opening_call("tool_use", id, name),
            input_deltas(input, message, directory),
        ),
        Block::ServerToolUse { id, name, input } => (
            opening_call("server_tool_use", id, name),
            input_deltas(input, message, directory),
        ),
        Block::RedactedThinking { .. } | Block::WebSearchToolResult { .. } => (block_json(block), Vec::new()),
    }
}

fn opening_call(kind: &str, id: &str, name: &str) -> String {
    format!(
        r#"{{"type":"{kind}","id":"{id}","name":{},"input":{{}}}}"#,
        Value::from(name)
    )
}

fn input_deltas(input: &Value, message: &Message, directory: &str) -> Vec<String> {
    let json = message
        .broken_input
        .map_or_else(|| input.to_string(), str::to_owned);
    let pieces = cut(&json, message.delta_chars, directory);
    [r#""""#.to_owned()]
        .into_iter()
        .chain(pieces)
        .map(|piece| format!(r#"{{"type":"input_json_delta","partial_json":{piece}}}"#))
        .collect()
}

/// The text in pieces of that many characters, the directory counted as one, each as a JSON string.
pub(super) fn cut(text: &str, characters: usize, directory: &str) -> Vec<String> {
    const ATOM: &str = "\u{e000}";
    let text: Vec<char> = match directory {
        // Replacing nothing would put the mark between all characters.
        "" => text.chars().collect(),
        _ => text.replace(directory, ATOM).chars().collect(),
    };
    let pieces = text
        .chunks(characters.max(1))
        .map(|piece| piece.iter().collect::<String>());
    pieces
        .map(|piece| Value::from(piece.replace(ATOM, directory)).to_string())
        .collect()
}

fn block_json(block: &Block) -> String {
    // Blocks are strings, numbers and JSON values: they always serialise.
    serde_json::to_string(block).unwrap_or_default()
}

fn stop_sequence(message: &Message) -> &'static str {
    if message.stop_reason == "stop_sequence" {
        r#""STOP""#
    } else {
        "null"
    }
}

fn usage(message: &Message, output: Option<u64>) -> String {
    let usage = message.usage();
    let searches = match message.web_searches {
        0 => String::new(),
        searches => format!(
            r#","server_tool_use":{}"#,
            json!({"web_search_requests": searches, "web_fetch_requests": 0})
        ),
    };
    format!(
        r#"{{"input_tokens":{},"cache_creation_input_tokens":{creation},"cache_read_input_tokens":{},"output_tokens":{},"service_tier":"standard","cache_creation":{{"ephemeral_5m_input_tokens":{creation},"ephemeral_1h_input_tokens":0}}{searches}}}"#,
        usage.input,
        usage.cache_read,
        output.unwrap_or(usage.output),
        creation = usage.cache_creation,
    )
}
