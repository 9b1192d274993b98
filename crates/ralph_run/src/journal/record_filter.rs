//! `RecordFilter`: which records a page of failures or of file changes has, by more than their kind.

use agent_api::FileChange;
use serde::Deserialize;

use super::record_head::RecordHead;

/// Records that are selected by their content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordFilter {
    /// Errors, failed tool calls, failed verify commands, and attempts that ended with an error.
    Failures,
    /// Tool calls that completed and changed files, as far as the agent reports.
    FileChanges,
}

impl RecordFilter {
    /// Whether records of this kind can be among them.
    pub(super) fn may_accept(self, kind: &str) -> bool {
        match self {
            Self::Failures => ["error", "tool_finished", "verify_finished", "attempt_ended"].contains(&kind),
            Self::FileChanges => kind == "tool_finished",
        }
    }

    pub(super) fn accepts(self, head: &RecordHead<'_>) -> bool {
        #[derive(Deserialize)]
        struct Tool<'a> {
            #[serde(borrow)]
            status: &'a str,
            #[serde(default)]
            changes: Vec<FileChange>,
        }
        #[derive(Deserialize)]
        struct Verify {
            is_ok: bool,
        }
        #[derive(Deserialize)]
        struct Attempt {
            error: Option<serde::de::IgnoredAny>,
        }
        match (self, head.event.kind.as_ref()) {
            (Self::Failures, "error") => true,
            (Self::Failures, "tool_finished") => head
                .data::<Tool<'_>>()
                .is_some_and(|tool| tool.status == "failed"),
            (Self::Failures, "verify_finished") => head.data::<Verify>().is_some_and(|verify| !verify.is_ok),
            (Self::Failures, "attempt_ended") => head
                .data::<Attempt>()
                .is_some_and(|attempt| attempt.error.is_some()),
            (Self::FileChanges, "tool_finished") => head
                .data::<Tool<'_>>()
                .is_some_and(|tool| tool.status == "completed" && !tool.changes.is_empty()),
            (Self::Failures | Self::FileChanges, _) => false,
        }
    }
}
