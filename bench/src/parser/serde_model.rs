//! The other way to read the same lines: derived serde types with one lenient helper, and a repair for what serde
//! refuses. Kept here to be measured against the reader of our own; `docs/adr/0002-json-scanner.md` has the figures.

use std::borrow::Cow;

use bytes::Bytes;
use json_lines::RawJson;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Text that borrows from its line where nothing had to be decoded.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Every line in one flat struct: tagged enums would copy each line into a buffer first, and cannot hold `RawValue`.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow, rename = "type", deserialize_with = "lenient")]
    kind: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    subtype: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    uuid: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    session_id: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    parent_tool_use_id: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    message: Option<Box<Message<'a>>>,
    #[serde(borrow, deserialize_with = "lenient")]
    event: Option<Box<StreamEvent<'a>>>,
    #[serde(borrow)]
    tool_use_result: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "lenient")]
    result: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    stop_reason: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    terminal_reason: Option<Text<'a>>,
    #[serde(deserialize_with = "lenient")]
    is_error: bool,
    #[serde(deserialize_with = "lenient")]
    duration_ms: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    duration_api_ms: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    num_turns: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    total_cost_usd: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    usage: Option<Usage>,
    #[serde(borrow, rename = "modelUsage")]
    model_usage: Option<&'a RawValue>,
    #[serde(borrow)]
    permission_denials: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "lenient")]
    cwd: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    model: Option<Text<'a>>,
    #[serde(borrow, rename = "permissionMode", deserialize_with = "lenient")]
    permission_mode: Option<Text<'a>>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    mcp_servers: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "lenient")]
    task_id: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    tool_use_id: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    status: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    description: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    request_id: Option<Text<'a>>,
    #[serde(borrow)]
    request: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    rate_limit_info: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow, deserialize_with = "lenient")]
    id: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    model: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    stop_reason: Option<Text<'a>>,
    /// A string or a list of blocks.
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(deserialize_with = "lenient")]
    usage: Option<Usage>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow, rename = "type", deserialize_with = "lenient")]
    kind: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    text: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    thinking: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    id: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    name: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    tool_use_id: Option<Text<'a>>,
    #[serde(deserialize_with = "lenient")]
    is_error: bool,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct StreamEvent<'a> {
    #[serde(borrow, rename = "type", deserialize_with = "lenient")]
    kind: Option<Text<'a>>,
    #[serde(deserialize_with = "lenient")]
    index: Option<u64>,
    #[serde(borrow, deserialize_with = "lenient")]
    message: Option<Box<Message<'a>>>,
    #[serde(borrow, deserialize_with = "lenient")]
    content_block: Option<Box<Block<'a>>>,
    #[serde(borrow, deserialize_with = "lenient")]
    delta: Option<Delta<'a>>,
    #[serde(deserialize_with = "lenient")]
    usage: Option<Usage>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Delta<'a> {
    #[serde(borrow, rename = "type", deserialize_with = "lenient")]
    kind: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    text: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    thinking: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    partial_json: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    stop_reason: Option<Text<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Usage {
    #[serde(deserialize_with = "lenient")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    cache_read_input_tokens: Option<u64>,
}

/// A value of another type reads as absent.
fn lenient<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    let raw = <&RawValue>::deserialize(from)?;
    Ok(serde_json::from_str(raw.get()).unwrap_or_default())
}

/// Reads a line and uses what a consumer uses. `None` if the line is lost.
pub fn read(line: &[u8], source: &Bytes) -> Option<u64> {
    if let Ok(line) = serde_json::from_slice::<Line<'_>>(line) {
        return Some(touch(&line));
    }
    // Lone surrogates, control characters, invalid UTF-8.
    let raw = RawJson::parse(source.slice_ref(line)).ok()?;
    let strict = raw.deserialize::<Box<RawValue>>().ok()?;
    serde_json::from_str(strict.get()).ok().map(|line| touch(&line))
}

fn touch(line: &Line<'_>) -> u64 {
    let text = |text: &Option<Text<'_>>| text.as_ref().map_or(0, |text| text.0.len() as u64);
    let raw = |raw: &Option<&RawValue>| raw.map_or(0, |raw| raw.get().len() as u64);
    let tokens = |usage: &Option<Usage>| {
        let usage = usage.as_ref();
        usage.map_or(0, |usage| {
            let counts = [
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_creation_input_tokens,
            ];
            counts.into_iter().flatten().sum::<u64>() + usage.cache_read_input_tokens.unwrap_or(0)
        })
    };
    let block = |block: &Block<'_>| {
        [
            &block.kind,
            &block.text,
            &block.thinking,
            &block.id,
            &block.name,
            &block.tool_use_id,
        ]
        .map(text)
        .iter()
        .sum::<u64>()
            + raw(&block.input)
            + content(block.content)
            + u64::from(block.is_error)
    };
    let message = |message: &Message<'_>| {
        [&message.id, &message.model, &message.stop_reason]
            .map(text)
            .iter()
            .sum::<u64>()
            + content(message.content)
            + tokens(&message.usage)
    };
    let event = |event: &StreamEvent<'_>| {
        let delta = event.delta.as_ref().map_or(0, |delta| {
            [
                &delta.kind,
                &delta.text,
                &delta.thinking,
                &delta.partial_json,
                &delta.stop_reason,
            ]
            .map(text)
            .iter()
            .sum()
        });
        text(&event.kind)
            + event.index.unwrap_or(0)
            + delta
            + event.message.as_deref().map_or(0, message)
            + event.content_block.as_deref().map_or(0, block)
            + tokens(&event.usage)
    };
    let texts = [
        &line.kind,
        &line.subtype,
        &line.uuid,
        &line.session_id,
        &line.parent_tool_use_id,
        &line.result,
        &line.stop_reason,
        &line.terminal_reason,
        &line.cwd,
        &line.model,
        &line.permission_mode,
        &line.task_id,
        &line.tool_use_id,
        &line.status,
        &line.description,
        &line.request_id,
    ];
    let raws = [
        &line.tool_use_result,
        &line.model_usage,
        &line.permission_denials,
        &line.tools,
        &line.mcp_servers,
        &line.request,
        &line.response,
        &line.rate_limit_info,
    ];
    let counts = [line.duration_ms, line.duration_api_ms, line.num_turns];
    texts.map(text).iter().sum::<u64>()
        + raws.map(raw).iter().sum::<u64>()
        + counts.into_iter().flatten().sum::<u64>()
        + line.total_cost_usd.map_or(0, |cost| cost as u64)
        + u64::from(line.is_error)
        + tokens(&line.usage)
        + line.message.as_deref().map_or(0, message)
        + line.event.as_deref().map_or(0, event)
}

/// The content of a message or of a result: a string, blocks, or something else.
fn content(raw: Option<&RawValue>) -> u64 {
    let Some(raw) = raw else { return 0 };
    if let Ok(text) = serde_json::from_str::<Text<'_>>(raw.get()) {
        return text.0.len() as u64;
    }
    let blocks = serde_json::from_str::<Vec<&RawValue>>(raw.get()).unwrap_or_default();
    let length = |block: &&RawValue| {
        let block: Block<'_> = serde_json::from_str(block.get()).unwrap_or_default();
        let texts = [
            block.kind,
            block.text,
            block.thinking,
            block.id,
            block.name,
            block.tool_use_id,
        ];
        let texts: u64 = texts.iter().flatten().map(|text| text.0.len() as u64).sum();
        texts
            + block.input.map_or(0, |input| input.get().len() as u64)
            + content(block.content)
            + u64::from(block.is_error)
    };
    blocks.iter().map(length).sum()
}
