//! `PermissionCallback`: the caller's closure that decides whether tools may run.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::backend::Answer;
use crate::event::PermissionRequested;

/// A person may be asked.
const TIMEOUT: Duration = Duration::from_secs(60 * 60);

type Decision = Pin<Box<dyn Future<Output = Answer> + Send>>;

#[derive(Clone)]
pub(crate) struct PermissionCallback {
    decide: Arc<dyn Fn(PermissionRequested) -> Decision + Send + Sync>,
    pub(crate) timeout: Duration,
}

impl fmt::Debug for PermissionCallback {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PermissionCallback")
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl PermissionCallback {
    pub(super) fn new<F, Fut>(decide: F) -> Self
    where
        F: Fn(PermissionRequested) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Answer> + Send + 'static,
    {
        Self {
            decide: Arc::new(move |asked| Box::pin(decide(asked))),
            timeout: TIMEOUT,
        }
    }

    /// The decision on a request. The closure itself runs inside the future, so that a panic stays there.
    pub(crate) fn decide(&self, asked: PermissionRequested) -> impl Future<Output = Answer> + Send + use<> {
        let decide = Arc::clone(&self.decide);
        async move { decide(asked).await }
    }
}
