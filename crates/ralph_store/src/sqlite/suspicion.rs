//! Damage that was seen.

use std::sync::{Arc, OnceLock};

use crate::error::StoreError;

/// The first damage that anybody met, whoever reads or writes. A file that is suspect is never closed in good order, so
/// the next one who opens it looks at all of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Suspicion(Arc<OnceLock<String>>);

impl Suspicion {
    /// Looks at what became of a question or a write.
    pub(super) fn look<T>(&self, result: &Result<T, StoreError>) {
        if let Err(StoreError::Damaged(problem)) = result
            && self.0.set(problem.clone()).is_ok()
        {
            tracing::warn!(
                problem,
                "the index is damaged: it is looked at and rebuilt at the next start"
            );
        }
    }

    /// What was met; none if all seems well.
    pub(super) fn problem(&self) -> Option<String> {
        let problem = self.0.get()?.clone();
        Some(StoreError::Damaged(problem).to_string())
    }

    pub(super) fn is_there(&self) -> bool {
        self.0.get().is_some()
    }
}
