//! The answer to the control command `status`, and the figures that `run.json` has beside the state.

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

    /// Brings the limits, the number of warnings and the age of the state in `run.json` up to date.
    pub(super) fn publish_figures(&mut self) {
        let limits = self.machine.budget().limits();
        let model = &self.keeper.model;
        let figures = (
            limits.cost,
            limits.iterations,
            model.counts().warnings,
            model.state_since(),
        );
        let status = &mut self.run_file.status;
        let known = (
            status.max_cost,
            status.max_iterations,
            status.warnings,
            status.state_since,
        );
        if known != figures {
            (
                status.max_cost,
                status.max_iterations,
                status.warnings,
                status.state_since,
            ) = figures;
            self.is_file_stale = true;
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
