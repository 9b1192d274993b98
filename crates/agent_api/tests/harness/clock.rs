//! Time that stands still unless the test moves it.

use std::sync::mpsc;
use std::time::Duration;

/// Holds the clock of a single-threaded runtime.
pub(crate) struct Clock {
    /// The runtime moves a paused clock by itself when nothing else is to be done, except while such a task runs.
    _hold: mpsc::Sender<()>,
}

impl Clock {
    pub(crate) fn stop() -> Self {
        tokio::time::pause();
        let (hold, held) = mpsc::channel::<()>();
        tokio::task::spawn_blocking(move || {
            // Ends, with an error, when the clock is dropped.
            let _ = held.recv();
        });
        Self { _hold: hold }
    }

    /// Moves the clock and lets everybody act on it.
    pub(crate) async fn advance(&self, duration: Duration) {
        super::stage::let_others_run().await;
        tokio::time::advance(duration).await;
        super::stage::let_others_run().await;
    }

    /// Time passes again: the end of a process takes some.
    pub(crate) fn go_on(self) {
        tokio::time::resume();
    }
}
