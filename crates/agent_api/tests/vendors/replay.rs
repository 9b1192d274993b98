//! Recorded bytes through a mapping, as the harness would feed it.

use agent_api::backends::claude_code::{ClaudeMapper, MapperSetup};
use agent_api::backends::codex::CodexMapper;
use agent_api::backends::gemini::GeminiMapper;
use agent_api::{AgentKind, Body, Emitter, Event, Mapper, TurnFinished, Usage};
use bytes::Bytes;
use json_lines::LineFramer;
use test_support::fixtures::{self, Fixture};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vendor {
    Codex,
    Gemini,
    Qwen,
}

impl Vendor {
    pub(crate) const ALL: [Self; 3] = [Self::Codex, Self::Gemini, Self::Qwen];

    pub(crate) fn kind(self) -> AgentKind {
        match self {
            Self::Codex => AgentKind::CODEX,
            Self::Gemini => AgentKind::GEMINI,
            Self::Qwen => AgentKind::QWEN,
        }
    }

    /// For a new session.
    pub(crate) fn mapper(self) -> Box<dyn Mapper> {
        match self {
            Self::Codex => Box::new(CodexMapper::default()),
            Self::Gemini => Box::new(GeminiMapper::new()),
            Self::Qwen => Box::new(ClaudeMapper::new(MapperSetup {
                dialect: agent_api::backends::qwen::DIALECT,
                extras: agent_api::backends::qwen::EXTRAS,
                ..MapperSetup::default()
            })),
        }
    }

    pub(crate) fn fixtures(self) -> Vec<Fixture> {
        fixtures::of(self.kind().as_str()).unwrap()
    }

    pub(crate) fn fixture(self, name: &str) -> Fixture {
        fixtures::one(self.kind().as_str(), name).unwrap()
    }

    pub(crate) fn replay(self, bytes: &[u8]) -> Replayed {
        replay_with(self, self.mapper(), bytes)
    }

    pub(crate) fn replay_fixture(self, name: &str) -> Replayed {
        self.replay(&self.fixture(name).bytes)
    }
}

/// What became of a stream.
pub(crate) struct Replayed {
    pub(crate) events: Vec<Event>,
    pub(crate) is_idle: bool,
}

pub(crate) fn replay_with(vendor: Vendor, mut mapper: Box<dyn Mapper>, bytes: &[u8]) -> Replayed {
    let mut framer = LineFramer::default();
    framer.push(Bytes::copy_from_slice(bytes));
    let mut emitter = Emitter::new(vendor.kind());
    while let Some(line) = framer.next_line().or_else(|| framer.finish()) {
        mapper.map_line(line, &mut emitter);
    }
    mapper.map_end(&mut emitter);
    Replayed {
        events: std::iter::from_fn(|| emitter.next_event()).collect(),
        is_idle: mapper.is_idle(),
    }
}

impl Replayed {
    pub(crate) fn bodies(&self) -> impl Iterator<Item = &Body> {
        self.events.iter().map(|event| &event.body)
    }

    /// The names of all events, those of deltas once in a row.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.bodies().map(Body::name).collect();
        names.dedup_by(|one, other| *one == "delta" && one == other);
        names
    }

    pub(crate) fn last_turn(&self) -> Option<&TurnFinished> {
        let turns = self.bodies().filter_map(|body| match body {
            Body::TurnFinished(turn) => Some(&**turn),
            _ => None,
        });
        turns.last()
    }

    pub(crate) fn last_usage(&self) -> Option<&Usage> {
        let reports = self.bodies().filter_map(|body| match body {
            Body::Usage(usage) => Some(&**usage),
            _ => None,
        });
        reports.last()
    }
}
