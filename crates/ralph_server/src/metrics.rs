//! `Metrics`: the counters that the running server keeps, shown by `/metrics`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, MutexGuard};

/// The upper ends of the steps in which the time of tools is counted, in milliseconds.
pub(crate) const TOOL_STEPS_MS: [u64; 10] =
    [10, 50, 100, 500, 1_000, 5_000, 15_000, 60_000, 300_000, 1_800_000];

/// What is counted while the server runs. Those who see something tell it.
#[derive(Debug, Default)]
pub struct Metrics {
    websocket_clients: AtomicU64,
    tool_steps: [AtomicU64; TOOL_STEPS_MS.len()],
    tool_calls: AtomicU64,
    tool_time_ms: AtomicU64,
    usage_of_models: std::sync::Mutex<Option<Counted>>,
    adding_up: Mutex<()>,
}

/// What was counted in the index, as it is shown, and when.
#[derive(Debug, Clone)]
pub(crate) struct Counted {
    pub(crate) at: Instant,
    pub(crate) text: String,
}

/// How long tools took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolLatency {
    /// How many took at most as long as each step.
    pub(crate) steps: [u64; TOOL_STEPS_MS.len()],
    pub(crate) calls: u64,
    pub(crate) time_ms: u64,
}

impl Metrics {
    /// A tool has ended after so long.
    pub fn observe_tool(&self, took: Duration) {
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        if let Some(step) = TOOL_STEPS_MS.iter().position(|end| took_ms <= *end) {
            self.tool_steps[step].fetch_add(1, Ordering::Relaxed);
        }
        self.tool_calls.fetch_add(1, Ordering::Relaxed);
        self.tool_time_ms.fetch_add(took_ms, Ordering::Relaxed);
    }

    /// A client is connected by WebSocket for as long as this is kept.
    pub(crate) fn count_websocket_client(self: &Arc<Self>) -> WebsocketClient {
        self.websocket_clients.fetch_add(1, Ordering::Relaxed);
        WebsocketClient(Arc::clone(self))
    }

    pub(crate) fn websocket_clients(&self) -> u64 {
        self.websocket_clients.load(Ordering::Relaxed)
    }

    /// What models used, as it was added up last.
    pub(crate) fn usage_of_models(&self) -> Option<Counted> {
        let known = self.usage_of_models.lock();
        known.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_usage_of_models(&self, counted: Counted) {
        let known = self.usage_of_models.lock();
        *known.unwrap_or_else(PoisonError::into_inner) = Some(counted);
    }

    /// Held by the one who adds up what models used.
    pub(crate) async fn adding_up(&self) -> MutexGuard<'_, ()> {
        self.adding_up.lock().await
    }

    pub(crate) fn tool_latency(&self) -> ToolLatency {
        let mut sum = 0;
        let steps = self.tool_steps.each_ref().map(|step| {
            sum += step.load(Ordering::Relaxed);
            sum
        });
        ToolLatency {
            steps,
            calls: self.tool_calls.load(Ordering::Relaxed),
            time_ms: self.tool_time_ms.load(Ordering::Relaxed),
        }
    }
}

/// A client that is connected by WebSocket.
pub(crate) struct WebsocketClient(Arc<Metrics>);

impl Drop for WebsocketClient {
    fn drop(&mut self) {
        self.0.websocket_clients.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{Metrics, TOOL_STEPS_MS};
    use std::time::Duration;

    #[test]
    fn each_step_counts_what_the_steps_below_it_count() {
        let metrics = Metrics::default();
        for took in [5, 10, 11, 40, 3_600_000] {
            metrics.observe_tool(Duration::from_millis(took));
        }
        let latency = metrics.tool_latency();
        assert_eq!((latency.steps[0], latency.steps[1]), (2, 4));
        assert_eq!(latency.steps[TOOL_STEPS_MS.len() - 1], 4);
        assert_eq!(latency.calls, 5);
    }
}
