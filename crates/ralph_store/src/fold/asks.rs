//! What agents ask, and what becomes of it.

use jiff::Timestamp;
use ralph_run::WaitingFor;
use serde_json::value::RawValue;

use super::data::{Asked, Closed};
use crate::glance::Glance;
use crate::rows::{ApprovalKind, ApprovalRow, ApprovalState};

/// The questions of a run.
#[derive(Debug, Default)]
pub(super) struct Asks {
    /// Those that wait, and whether an index has not seen them.
    open: Vec<(ApprovalRow, bool)>,
    closed: Vec<ApprovalRow>,
}

impl Asks {
    pub(super) fn resume(rows: Vec<ApprovalRow>) -> Self {
        Self {
            open: rows.into_iter().map(|row| (row, false)).collect(),
            closed: Vec::new(),
        }
    }

    pub(super) fn ask(&mut self, run: &str, kind: ApprovalKind, glance: &Glance<'_>, at: Timestamp) {
        let (Some(asked), Some(data)) = (glance.data::<Asked>(), glance.data::<Box<RawValue>>()) else {
            return;
        };
        let row = ApprovalRow {
            run: run.to_owned(),
            request: asked.request,
            kind,
            seq: glance.seq,
            asked_at: at,
            data,
            state: ApprovalState::Pending,
            closed_at: None,
        };
        // Asked again: the new question takes the place of the old one.
        self.close(&row.request, ApprovalState::Withdrawn, at);
        self.open.push((row, true));
    }

    pub(super) fn on_closed(&mut self, glance: &Glance<'_>, at: Timestamp) {
        let Some(closed) = glance.data::<Closed<'_>>() else {
            return;
        };
        let state = match &*closed.reason {
            "answered" | "denied" => ApprovalState::Answered,
            _ => ApprovalState::Withdrawn,
        };
        self.close(&closed.request, state, at);
    }

    fn close(&mut self, request: &str, state: ApprovalState, at: Timestamp) {
        if let Some(index) = self.open.iter().position(|(row, _)| row.request == request) {
            let (mut row, _) = self.open.remove(index);
            row.state = state;
            row.closed_at = Some(at);
            self.closed.push(row);
        }
    }

    /// The process that asked is gone.
    pub(super) fn withdraw_all(&mut self, at: Timestamp) {
        for (mut row, _) in self.open.drain(..) {
            row.state = ApprovalState::Withdrawn;
            row.closed_at = Some(at);
            self.closed.push(row);
        }
    }

    pub(super) fn pending(&self) -> u32 {
        u32::try_from(self.open.len()).unwrap_or(u32::MAX)
    }

    /// What the oldest one is about.
    pub(super) fn waiting_for(&self) -> Option<WaitingFor> {
        self.open.first().map(|(row, _)| match row.kind {
            ApprovalKind::Permission => WaitingFor::Permission,
            ApprovalKind::Question => WaitingFor::Question,
            ApprovalKind::Plan => WaitingFor::Plan,
        })
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
