//! Who watches a run from within the runner.

use agent_api::Event;

use crate::record::Record;

/// Watches a run from within the runner: the console, a terminal UI. All see the same.
///
/// A sink must not wait for anybody: it is called in the loop that reads the agent.
pub trait Sink {
    /// An event as it comes, before it is recorded. Pieces of text come here first, one by one; their records come
    /// later and joined.
    fn live(&mut self, event: &Event) {
        let _ = event;
    }

    /// Something was recorded.
    fn record(&mut self, record: &Record);

    /// Some time has passed: a status line can be drawn anew. Called a few times per second.
    fn tick(&mut self) {}

    /// Whether nobody sees what is written any more: the run is ended then.
    fn is_closed(&self) -> bool {
        false
    }
}
