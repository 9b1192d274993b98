//! `Transcript`: the fold of a run's records into cells.

use std::collections::HashMap;

use agent_api::{Body, Event, ItemId, Part, RequestId, ToolStarted};
use jiff::Timestamp;
use ralph_run::model::MessageLog;
use ralph_run::{Record, RunEvent};
use run_view::ShownErrors;

use super::cell::{Cell, CellKind, NoticeCell, TextCell};
use super::changes::Changes;
use super::text_body::Arrival;
use crate::theme::Role;

/// What a run said and did, as cells in order. A cell keeps its place: later records only change it or add others.
#[derive(Debug, Default)]
pub struct Transcript {
    cells: Vec<Cell>,
    changes: Changes,
    /// The stamp of the record that is applied.
    pub(super) stamp: Stamp,
    pub(super) workspace: String,
    pub(super) max_iterations: u32,
    /// Texts and calls of the current process by their items.
    pub(super) texts: HashMap<(ItemId, Part), usize>,
    pub(super) calls: HashMap<ItemId, usize>,
    /// Calls that are shown by their to-do list, unless they fail.
    pub(super) quiet_calls: HashMap<ItemId, (ToolStarted, Timestamp)>,
    pub(super) requests: HashMap<RequestId, usize>,
    pub(super) messages: MessageLog,
    pub(super) message_cells: HashMap<String, usize>,
    pub(super) newest_todo: Option<usize>,
    pub(super) iteration: Option<usize>,
    pub(super) verify: Option<usize>,
    /// What the run waits for.
    pub(super) wait: Option<usize>,
    pub(super) ended_tasks: std::collections::BTreeSet<String>,
    pub(super) shown_errors: ShownErrors,
    pub(super) has_noted_discard: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stamp {
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    pub(super) iteration: u32,
    /// How many attempts the run has started.
    pub(super) raw_log: u32,
}

impl Transcript {
    /// Takes the next record.
    pub fn apply(&mut self, record: &Record) {
        self.stamp = Stamp {
            seq: record.seq,
            at: record.at,
            iteration: record.iteration,
            raw_log: self.stamp.raw_log,
        };
        self.apply_messages(record);
        match &record.event {
            RunEvent::Agent(event) => self.agent_event(event),
            RunEvent::Run(body) => self.run_event(body),
            RunEvent::Unknown(event) => {
                let text = format!("unknown record `{}`", event.type_name);
                self.notice(Role::Faint, "Notice", text);
            }
        }
    }

    /// Takes a piece of text that is not recorded yet.
    pub fn apply_delta(&mut self, event: &Event) {
        if let Body::Delta(delta) = &event.body {
            self.delta(event, delta, Arrival::Live);
        }
    }

    /// The journal cannot be read here.
    pub fn push_damage(&mut self, message: &str) {
        self.notice(Role::Bad, "Damage", message.to_owned());
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The first line of what the agent was asked first.
    pub(crate) fn first_prompt(&self) -> Option<String> {
        let texts = self.cells.iter().filter_map(|cell| match &cell.kind {
            CellKind::Iteration(iteration) => Some(iteration.prompt.as_str()),
            CellKind::Message(message) => Some(message.text.as_str()),
            _ => None,
        });
        let mut lines = texts.flat_map(str::lines);
        let line = lines.find(|line| line.chars().any(char::is_alphanumeric))?;
        Some(line.trim_start_matches(['#', ' ']).trim().to_owned())
    }

    pub(crate) fn cell(&self, index: usize) -> Option<&Cell> {
        self.cells.get(index)
    }

    pub(crate) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Which cells have changed since they were added.
    pub(super) fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Changes a cell, if there is such a one.
    pub(super) fn change(&mut self, index: usize, change: impl FnOnce(&mut CellKind)) {
        if let Some(cell) = self.cells.get_mut(index) {
            change(&mut cell.kind);
            cell.version = cell.version.wrapping_add(1);
            self.changes.note(index);
        }
    }

    /// Adds a cell of the run itself.
    pub(super) fn push(&mut self, kind: CellKind) -> usize {
        let stamp = self.stamp;
        self.cells.push(Cell {
            seq: stamp.seq,
            iteration: stamp.iteration,
            raw_log: stamp.raw_log,
            depth: 0,
            raw: None,
            kind,
            version: 0,
        });
        self.cells.len() - 1
    }

    /// Adds a cell of the agent or of one of its subagents.
    pub(super) fn push_event(&mut self, event: &Event, kind: CellKind) -> usize {
        let depth = event.parent.as_ref().map_or(0, |parent| {
            let caller = self.calls.get(parent).and_then(|index| self.cells.get(*index));
            caller.map_or(1, |cell| cell.depth.saturating_add(1))
        });
        let index = self.push(kind);
        if let Some(cell) = self.cells.get_mut(index) {
            cell.depth = depth;
            cell.raw = event.raw;
        }
        index
    }

    /// Notes which line of the agent's output a cell is from, once it is known.
    pub(super) fn set_raw(&mut self, index: usize, event: &Event) {
        let seq = self.stamp.seq;
        if let Some(cell) = self.cells.get_mut(index)
            && cell.raw.is_none()
        {
            cell.raw = event.raw;
            cell.seq = cell.seq.max(seq);
        }
    }

    pub(super) fn notice(&mut self, role: Role, label: &'static str, text: String) {
        self.push(CellKind::Notice(NoticeCell { role, label, text }));
    }

    pub(super) fn notice_of(&mut self, event: &Event, role: Role, label: &'static str, text: String) {
        self.push_event(event, CellKind::Notice(NoticeCell { role, label, text }));
    }

    /// The cell of a text, which begins with its first piece.
    pub(super) fn text_cell(&mut self, event: &Event, item: &ItemId, part: Part) -> usize {
        let key = (item.clone(), part);
        if let Some(index) = self.texts.get(&key) {
            return *index;
        }
        let text = TextCell::default();
        let index = self.push_event(
            event,
            match part {
                Part::Thinking => CellKind::Thinking(text),
                Part::Text | Part::ToolInput | Part::ToolOutput => CellKind::Text(text),
            },
        );
        self.texts.insert(key, index);
        index
    }
}
