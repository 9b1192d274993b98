//! `Approvals`: rows of the requests of a run, as `RunModel` opens and closes them.

use jiff::Timestamp;

use crate::rows::{ApprovalKind, ApprovalRow, ApprovalState};
use ralph_run::RecordHead;

#[derive(Debug, Default)]
pub(super) struct Approvals {
    /// Open requests, and whether an index has not seen them.
    open: Vec<(ApprovalRow, bool)>,
    closed: Vec<ApprovalRow>,
}

impl Approvals {
    pub(super) fn resume(rows: Vec<ApprovalRow>) -> Self {
        Self {
            open: rows.into_iter().map(|row| (row, false)).collect(),
            closed: Vec::new(),
        }
    }

    pub(super) fn open(&mut self, run: &str, request: &str, head: &RecordHead<'_>, at: Timestamp) {
        let kind = match &*head.event.kind {
            "question_asked" => ApprovalKind::Question,
            "plan_proposed" => ApprovalKind::Plan,
            _ => ApprovalKind::Permission,
        };
        let Some(data) = head.data() else { return };
        // Asked again: the new request takes the place of the old one.
        self.close(request, ApprovalState::Withdrawn, at);
        let row = ApprovalRow {
            run: run.to_owned(),
            request: request.to_owned(),
            kind,
            seq: head.seq,
            asked_at: at,
            data,
            state: ApprovalState::Pending,
            closed_at: None,
        };
        self.open.push((row, true));
    }

    pub(super) fn close(&mut self, request: &str, state: ApprovalState, at: Timestamp) {
        if let Some(index) = self.open.iter().position(|(row, _)| row.request == request) {
            let (mut row, _) = self.open.remove(index);
            row.state = state;
            row.closed_at = Some(at);
            self.closed.push(row);
        }
    }

    /// Whether there are rows that an index has not seen as they are.
    pub(super) fn has_news(&self) -> bool {
        !self.closed.is_empty() || self.open.iter().any(|(_, is_new)| *is_new)
    }

    /// Rows that an index has not seen as they are.
    pub(super) fn take(&mut self) -> Vec<ApprovalRow> {
        let mut rows = std::mem::take(&mut self.closed);
        for (row, is_new) in &mut self.open {
            if std::mem::take(is_new) {
                rows.push(row.clone());
            }
        }
        rows
    }
}
