//! Who parses. Each takes the whole corpus, finds the lines itself and says how many became events.

use std::hint::black_box;

use bytes::Bytes;
use claude_code::event::{Block, Delta, Kind, StreamBody};
use claude_code::{Decoder, Event};
use serde::de::IgnoredAny;

use super::serde_model;

/// One way to parse.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Contestant {
    NewlineScan,
    IgnoredAny,
    Ours,
    OursFromChunks,
    SerdeModel,
    ClaudeCodes,
    Unified,
}

impl Contestant {
    pub const ALL: &[Self] = &[
        Self::NewlineScan,
        Self::IgnoredAny,
        Self::Ours,
        Self::OursFromChunks,
        Self::SerdeModel,
        Self::ClaudeCodes,
        Self::Unified,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::NewlineScan => "newline scan",
            Self::IgnoredAny => "serde_json IgnoredAny",
            Self::Ours => "ours, typed events",
            Self::OursFromChunks => "ours, from 256 KiB chunks",
            Self::SerdeModel => "serde model, for comparison",
            Self::ClaudeCodes => "claude-codes",
            Self::Unified => "unified-agent-api-claude-code",
        }
    }

    /// Gives the number of lines that became events.
    pub fn parse(self, corpus: &Bytes) -> usize {
        match self {
            Self::NewlineScan => lines(corpus).map(black_box).count(),
            Self::IgnoredAny => lines(corpus)
                .filter(|line| serde_json::from_slice::<IgnoredAny>(line).is_ok())
                .count(),
            Self::Ours => {
                let events = lines(corpus).flat_map(|line| claude_code::parse_bytes(corpus.slice_ref(line)));
                events.flatten().map(|event| black_box(touch(&event))).count()
            }
            Self::OursFromChunks => from_chunks(corpus),
            Self::SerdeModel => lines(corpus)
                .filter_map(|line| black_box(serde_model::read(line, corpus)))
                .count(),
            Self::ClaudeCodes => texts(corpus)
                .filter(|line| black_box(claude_codes::ClaudeOutput::parse_json_tolerant(line)).is_ok())
                .count(),
            Self::Unified => {
                let mut parser = unified_claude_code::ClaudeStreamJsonParser::new();
                texts(corpus)
                    .filter(|line| matches!(black_box(parser.parse_line(line)), Ok(Some(_))))
                    .count()
            }
        }
    }
}

fn lines(corpus: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    memchr::memchr_iter(b'\n', corpus).map(move |end| {
        let line = &corpus[start..end];
        start = end + 1;
        line
    })
}

/// Peers take text.
fn texts(corpus: &[u8]) -> impl Iterator<Item = &str> {
    lines(corpus).filter_map(|line| std::str::from_utf8(line).ok())
}

fn from_chunks(corpus: &Bytes) -> usize {
    let mut decoder = Decoder::default();
    let mut count = 0;
    for start in (0..corpus.len()).step_by(256 * 1024) {
        decoder.push(corpus.slice(start..corpus.len().min(start + 256 * 1024)));
        while let Some(item) = decoder.next() {
            count += usize::from(item.is_ok_and(|event| black_box(touch(&event)) < u64::MAX));
        }
    }
    count
}

/// Uses what a consumer uses: text, tool name and input, tokens.
fn touch(event: &Event) -> u64 {
    let blocks = |blocks: &[Block]| -> u64 {
        let length = |block: &Block| match block {
            Block::Text(text) => text.len(),
            Block::Thinking(thinking) => thinking.thinking.len(),
            Block::ToolUse(tool_use) => tool_use.name.len() + tool_use.input.as_bytes().len(),
            Block::ToolResult(result) => result.content.text().len(),
            _ => 1,
        };
        blocks.iter().map(length).sum::<usize>() as u64
    };
    match event.kind() {
        Kind::Assistant(assistant) => assistant.message.as_ref().map_or(0, |message| {
            let tokens = message.usage.as_ref().and_then(|usage| usage.input_tokens);
            blocks(message.content.blocks()) + tokens.unwrap_or_default()
        }),
        Kind::User(user) => user
            .message
            .as_ref()
            .map_or(0, |message| blocks(message.content.blocks())),
        Kind::StreamEvent(stream) => match &stream.body {
            StreamBody::ContentBlockDelta {
                delta: Delta::Text(text) | Delta::InputJson(text),
                ..
            } => text.len() as u64,
            StreamBody::MessageDelta {
                usage: Some(usage), ..
            } => usage.output_tokens.unwrap_or_default(),
            _ => 1,
        },
        Kind::Result(result) => {
            let tokens = result
                .usage
                .as_ref()
                .and_then(|usage| usage.output_tokens)
                .unwrap_or_default();
            let cost = result.total_cost.map_or(0, |cost| cost.as_micro_usd());
            tokens + cost + result.result.as_ref().map_or(0, |text| text.len() as u64)
        }
        _ => event.raw().len() as u64,
    }
}
