//! `CorruptionFlag`: the first damage that a reader or the writer met.

use std::sync::{Arc, OnceLock};

use crate::error::StoreError;

/// Set by the first query or write that meets damage. The file then keeps its mark of an unclean stop, so that the next
/// server that opens it checks all of it.
#[derive(Debug, Clone, Default)]
pub(super) struct CorruptionFlag(Arc<OnceLock<String>>);

impl CorruptionFlag {
    /// Sets the flag if a query or a write met damage.
    pub(super) fn observe<T>(&self, result: &Result<T, StoreError>) {
        if let Err(StoreError::Damaged(problem)) = result
            && self.0.set(problem.clone()).is_ok()
        {
            tracing::warn!(
                problem,
                "the index is damaged; it is checked and rebuilt at the next start"
            );
        }
    }

    /// What is damaged; `None` if nothing is known to be.
    pub(super) fn problem(&self) -> Option<String> {
        let problem = self.0.get()?.clone();
        Some(StoreError::Damaged(problem).to_string())
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.get().is_some()
    }
}
