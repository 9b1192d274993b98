//! A process that is about to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says that the process is asked to end: from then on no reader is waited for without a limit. Can be set by any
/// thread, also while another one waits.
#[derive(Debug, Clone, Default)]
pub struct Hurry(Arc<AtomicBool>);

impl Hurry {
    /// The process is asked to end.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
