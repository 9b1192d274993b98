//! `Story`: records of a run that tests make up.

use agent_api::{AgentKind, Body, Delta, DeltaMode, Event, ItemId, Part, Piece, TextBlock};
use jiff::{SignedDuration, Timestamp};
use ralph_run::{Record, RunBody, RunEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::theme::Theme;
use crate::transcript::{Transcript, TranscriptView};

pub(super) struct Story {
    pub(super) transcript: Transcript,
    pub(super) at: Timestamp,
    seq: u64,
    pub(super) iteration: u32,
}

impl Story {
    pub(super) fn new() -> Self {
        Self {
            transcript: Transcript::default(),
            at: "2026-01-02T03:04:05Z".parse().unwrap(),
            seq: 0,
            iteration: 1,
        }
    }

    pub(super) fn record(&mut self, event: RunEvent) {
        self.seq += 1;
        self.at += SignedDuration::from_millis(1_200);
        self.transcript.apply(&Record {
            seq: self.seq,
            at: self.at,
            iteration: self.iteration,
            attempt: 1,
            event,
        });
    }

    pub(super) fn run(&mut self, body: RunBody) -> &mut Self {
        self.record(RunEvent::Run(body));
        self
    }

    /// The next record has this number.
    pub(super) fn run_seq(&mut self, seq: u64) {
        self.seq = seq - 1;
    }

    /// An event of the run as JSON.
    pub(super) fn run_json(&mut self, json: &serde_json::Value) -> &mut Self {
        self.run(serde_json::from_value(json.clone()).unwrap())
    }

    pub(super) fn agent(&mut self, body: Body) -> &mut Self {
        self.record(RunEvent::Agent(Event::new(AgentKind::DEMO, body)));
        self
    }

    /// An event of a subagent.
    pub(super) fn inner(&mut self, parent: &str, body: Body) -> &mut Self {
        let mut event = Event::new(AgentKind::DEMO, body);
        event.parent = Some(ItemId::new(parent));
        self.record(RunEvent::Agent(event));
        self
    }

    pub(super) fn text(&mut self, item: &str, text: &str) -> &mut Self {
        self.agent(text_block(item, text))
    }

    /// A piece of text that is not recorded yet.
    pub(super) fn live(&mut self, item: &str, part: Part, text: &str) -> &mut Self {
        let delta = Delta {
            item: ItemId::new(item),
            part,
            mode: DeltaMode::Append,
            text: text.to_owned(),
        };
        let event = Event::new(AgentKind::DEMO, Body::Delta(delta));
        self.transcript.apply_delta(&event);
        self
    }
}

pub(super) fn text_block(item: &str, text: &str) -> Body {
    Body::TextBlock(TextBlock {
        item: ItemId::new(item),
        text: text.to_owned(),
        piece: Piece::WHOLE,
        is_aborted: false,
    })
}

pub(super) fn draw(view: &mut TranscriptView, story: &Story, width: u16, height: u16) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    view.render(&story.transcript, area, &mut buffer, Theme::default(), story.at);
    buffer
}

/// The rows of a buffer as text.
pub(super) fn rows_of(buffer: &Buffer) -> Vec<String> {
    let area = buffer.area;
    let row = |y| {
        let symbols = (area.x..area.right()).map(|x| buffer[(x, y)].symbol());
        symbols.collect::<String>().trim_end().to_owned()
    };
    (area.y..area.bottom()).map(row).collect()
}
