//! `Transcript`: the fold of a run's records into cells.

use agent_api::{Event, RawRef};
use ralph_run::Record;

/// What a run said and did, as cells in order.
#[derive(Debug, Default)]
pub struct Transcript {
    cells: Vec<Cell>,
}

#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) seq: u64,
    pub(crate) attempt: u32,
    pub(crate) raw: Option<RawRef>,
}

impl Transcript {
    /// Takes the next record.
    pub fn apply(&mut self, record: &Record) {
        let raw = match &record.event {
            ralph_run::RunEvent::Agent(event) => event.raw,
            ralph_run::RunEvent::Run(_) | ralph_run::RunEvent::Unknown(_) => None,
        };
        self.cells.push(Cell {
            seq: record.seq,
            attempt: record.attempt,
            raw,
        });
    }

    /// Takes a piece of text that is not recorded yet.
    pub fn apply_delta(&mut self, _event: &Event) {}

    /// The journal cannot be read here.
    pub fn push_damage(&mut self, _message: &str) {}

    pub fn len(&self) -> usize {
        self.cells.len()
    }

    pub(crate) fn cell(&self, index: usize) -> Option<&Cell> {
        self.cells.get(index)
    }

    pub fn to_markdown(&self) -> String {
        format!("{} cells\n", self.cells.len())
    }
}
