//! The answer to the control command `status`.

use super::run::Driver;
use crate::control::{QueuedReport, StatusReport};

/// How many queued messages are reported, and how much of each: the answer is one line.
const MAX_QUEUED: usize = 100;
const MAX_CHARACTERS: usize = 1_000;

impl Driver {
    pub(super) fn status(&self) -> StatusReport {
        let status = &self.run_file.status;
        StatusReport {
            state: self.state().clone(),
            iteration: status.iteration,
            attempt: status.attempt,
            seq: self.keeper.seq(),
            totals: status.totals,
            pending: self
                .machine
                .requests()
                .iter()
                .map(|pending| pending.id().clone())
                .collect(),
            kind: self.spec.started.kind.clone(),
            queue: self.queue(),
            queue_length: self.machine.queued().count(),
        }
    }

    fn queue(&self) -> Vec<QueuedReport> {
        let queued = self.machine.queued().take(MAX_QUEUED);
        let report = queued.map(|message| QueuedReport {
            message_id: message.id.clone(),
            mode: message.mode,
            text: self
                .spec
                .redactor
                .redact(&message.text)
                .chars()
                .take(MAX_CHARACTERS)
                .collect(),
        });
        report.collect()
    }
}
