//! How the run is going, for those who ask.

use super::run::Driver;
use crate::control::{QueuedReport, StatusReport};

/// How many messages of the queue are told, and how much of each: the answer is one line.
const MOST_QUEUED: usize = 100;
const MOST_CHARACTERS: usize = 1_000;

impl Driver<'_> {
    pub(super) fn status(&self) -> StatusReport {
        let status = &self.run_file.status;
        let state = serde_json::to_value(status.state).ok();
        StatusReport {
            state: state
                .as_ref()
                .and_then(|state| state.as_str())
                .unwrap_or_default()
                .to_owned(),
            activity: status.activity.clone(),
            iteration: status.iteration,
            attempt: status.attempt,
            seq: self.keeper.seq(),
            totals: status.totals,
            pending: self
                .keeper
                .pending
                .iter()
                .map(|pending| pending.id().clone())
                .collect(),
            kind: self.spec.started.kind,
            queue: self.queue(),
            queue_length: self.machine.queued().count(),
        }
    }

    fn queue(&self) -> Vec<QueuedReport> {
        let queued = self.machine.queued().take(MOST_QUEUED);
        let report = queued.map(|message| QueuedReport {
            message_id: message.id.clone(),
            mode: message.mode,
            text: self
                .spec
                .redactor
                .redact(&message.text)
                .chars()
                .take(MOST_CHARACTERS)
                .collect(),
        });
        report.collect()
    }
}
