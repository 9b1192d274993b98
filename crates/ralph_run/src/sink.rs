//! `Sink`: receives a run's records inside the runner. `RecordKeeper` feeds every sink of a run; `Views` is what the
//! caller of `drive` passes in.

use std::sync::Arc;

use agent_api::Event;
use tokio::sync::{mpsc, oneshot};

use crate::record::{Record, Warned};

/// Receives what a run records, already redacted.
///
/// A sink must not block: it is called in the loop that reads the agent. A view that can be slower than the run, such
/// as a terminal, uses [`RecordSender`](crate::RecordSender).
pub trait Sink: Send {
    /// A piece of text as it arrives. The records that contain it follow later, with several pieces joined.
    fn delta(&mut self, event: &Event) {
        let _ = event;
    }

    /// A record. `line_bytes` is its length in the journal.
    fn record(&mut self, record: &Arc<Record>, line_bytes: usize);
}

/// The views of a run inside its runner.
#[derive(Default)]
pub struct Views {
    /// All of them see the same.
    pub sinks: Vec<Box<dyn Sink>>,
    /// Resolves when nothing reads the output of the runner any more, which ends the run. If the sender is dropped, the
    /// output counts as open.
    pub output_closed: Option<oneshot::Receiver<()>>,
    /// Warnings of views, which the run records: only the runner writes its journal.
    pub warnings: Option<mpsc::UnboundedReceiver<Warned>>,
}

impl Views {
    /// Views whose output cannot be closed.
    pub fn new(sinks: Vec<Box<dyn Sink>>) -> Self {
        Self {
            sinks,
            output_closed: None,
            warnings: None,
        }
    }
}
