//! Reading alone, and reading and mapping. Both frame the same bytes, and both start anew with every process.

use std::hint::black_box;

use agent_api::backends::acp::replay_mapper;
use agent_api::backends::claude_code::{ClaudeMapper, MapperSetup};
use agent_api::backends::codex::{AppServerMapper, CodexMapper};
use agent_api::backends::gemini::GeminiMapper;
use agent_api::{AgentKind, Emitter, Mapper};
use bytes::Bytes;
use claude_code::Decoder;
use json_lines::{Framed, LineFramer, LineObjects, RawObject, Value};

use crate::corpus::Corpus;

/// Who wrote the lines.
#[derive(Clone, Copy)]
pub enum Agent {
    Claude,
    Codex,
    CodexAppServer,
    Gemini,
    Acp,
}

impl Agent {
    /// Reads everything into `serde_json::Value`, which every other figure can be compared with.
    pub fn read_serde_values(corpus: &Corpus) -> usize {
        let is_read = |framed: &Framed| match framed {
            Framed::Line(line) => black_box(serde_json::from_slice::<serde_json::Value>(&line.bytes)).is_ok(),
            Framed::Overlong { .. } => false,
        };
        runs(corpus).map(|run| lines(run).filter(is_read).count()).sum()
    }

    /// Reads everything into the vendor's own shapes and says how many there were.
    pub fn parse(self, corpus: &Corpus) -> usize {
        let parse = match self {
            Self::Claude => decode,
            Self::Codex | Self::CodexAppServer | Self::Gemini | Self::Acp => read_values,
        };
        runs(corpus).map(parse).sum()
    }

    /// Reads and maps everything and says how many events there were.
    pub fn map(self, corpus: &Corpus) -> usize {
        let count = |run| match self {
            Self::Claude => drain(
                &mut ClaudeMapper::new(MapperSetup::default()),
                AgentKind::CLAUDE_CODE,
                run,
            ),
            Self::Codex => drain(&mut CodexMapper::default(), AgentKind::CODEX, run),
            Self::CodexAppServer => drain(&mut AppServerMapper::recorded(), AgentKind::CODEX, run),
            Self::Gemini => drain(&mut GeminiMapper::new(), AgentKind::GEMINI, run),
            Self::Acp => drain(&mut *replay_mapper(), AgentKind::built_in("opencode"), run),
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
    while let Some(item) = decoder.next() {
        count += usize::from(black_box(item).is_ok());
    }
    count
}

fn read_values(run: Bytes) -> usize {
    let objects = lines(run).flat_map(LineObjects::<RawObject>::of).flatten();
    objects
        .map(|object| black_box(Value::of(object.json()).is_object()))
        .filter(|is_object| *is_object)
        .count()
}

fn lines(run: Bytes) -> impl Iterator<Item = Framed> {
    let mut framer = LineFramer::default();
    framer.push(run);
    std::iter::from_fn(move || framer.next_line())
}

/// Events are taken after every line, as a live run does it.
fn drain(mapper: &mut dyn Mapper, kind: AgentKind, run: Bytes) -> usize {
    let mut events = Emitter::new(kind);
    let mut count = 0;
    for framed in lines(run) {
        mapper.map_line(framed, &mut events);
        while let Some(event) = events.next_event() {
            black_box(event);
            count += 1;
        }
    }
    count
}
