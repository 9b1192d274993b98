//! Who watches a run from within the runner.

use std::time::Duration;

use agent_api::Event;

use crate::record::Record;

/// Watches a run from within the runner: the console, a terminal UI. All see the same.
///
/// A sink must not wait for anybody: it is called in the loop that reads the agent.
pub trait Sink: Send {
    /// An event as it comes, before it is recorded. Pieces of text come here first, one by one; their records come
    /// later and joined.
    fn live(&mut self, event: &Event) {
        let _ = event;
    }

    /// Something was recorded.
    fn record(&mut self, record: &Record);

    /// Some time has passed: a status line can be drawn anew.
    fn tick(&mut self) {}

    /// How often it wants to hear so. The run may look after other things then, too, so not too seldom.
    fn tick_interval(&self) -> Duration {
        Duration::from_millis(100)
    }

    /// Whether nobody sees what is written any more: the run is ended then.
    fn is_closed(&self) -> bool {
        false
    }
}
