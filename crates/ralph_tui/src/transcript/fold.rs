//! `Transcript`: the fold of a run's records into cells.

use agent_api::Event;
use ralph_run::Record;

/// What a run said and did, as cells in order.
#[derive(Debug, Default)]
pub struct Transcript {}

impl Transcript {
    /// Takes the next record.
    pub fn apply(&mut self, _record: &Record) {}

    /// Takes a piece of text that is not recorded yet.
    pub fn apply_delta(&mut self, _event: &Event) {}

    /// The journal cannot be read here.
    pub fn push_damage(&mut self, _message: &str) {}
}
