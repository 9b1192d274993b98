//! Reading alone, and reading and mapping. Both frame the same bytes, and both start anew with every process.

use std::hint::black_box;

use agent_api::backends::claude_code::{ClaudeMapper, MapperSetup};
use agent_api::backends::codex::CodexMapper;
use agent_api::backends::gemini::GeminiMapper;
use agent_api::{AgentKind, Emitter, Mapper};
use agent_process::{Framed, LineFramer};
use bytes::Bytes;
use claude_code::Decoder;
use serde_json::Value;

use crate::corpus::Corpus;

/// Who wrote the lines.
#[derive(Clone, Copy)]
pub enum Agent {
    Claude,
    Codex,
    Gemini,
}

impl Agent {
    /// Reads everything into the vendor's own shapes and says how many there were.
    pub fn parse(self, corpus: &Corpus) -> usize {
        let parse = match self {
            Self::Claude => decode,
            Self::Codex | Self::Gemini => read_values,
        };
        runs(corpus).map(parse).sum()
    }

    /// Reads and maps everything and says how many events there were.
    pub fn map(self, corpus: &Corpus) -> usize {
        let count = |run| match self {
            Self::Claude => drain(
                ClaudeMapper::new(MapperSetup::default()),
                AgentKind::CLAUDE_CODE,
                run,
            ),
            Self::Codex => drain(CodexMapper::default(), AgentKind::CODEX, run),
            Self::Gemini => drain(GeminiMapper::new(), AgentKind::GEMINI, run),
        };
        runs(corpus).map(count).sum()
    }
}

fn runs(corpus: &Corpus) -> impl Iterator<Item = Bytes> {
    corpus.runs.iter().map(|place| corpus.bytes.slice(place.clone()))
}

fn decode(run: Bytes) -> usize {
    let mut decoder = Decoder::default();
    decoder.push(run);
    let mut count = 0;
    while let Some(item) = decoder.next_event() {
        count += usize::from(black_box(item).is_ok());
    }
    count
}

fn read_values(run: Bytes) -> usize {
    let mut framer = LineFramer::default();
    framer.push(run);
    let mut count = 0;
    while let Some(framed) = framer.next_line() {
        if let Framed::Line(line) = framed {
            count += usize::from(black_box(serde_json::from_slice::<Value>(&line.bytes)).is_ok());
        }
    }
    count
}

/// Events are taken after every line, as a live run does it.
fn drain(mut mapper: impl Mapper, kind: AgentKind, run: Bytes) -> usize {
    let mut framer = LineFramer::default();
    framer.push(run);
    let mut events = Emitter::new(kind);
    let mut count = 0;
    while let Some(framed) = framer.next_line() {
        mapper.map_line(framed, &mut events);
        while let Some(event) = events.next_event() {
            black_box(event);
            count += 1;
        }
    }
    count
}
