use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::watch;

/// Places where the model waits for the test. A gate comes into being when somebody names it.
#[derive(Default)]
pub(super) struct Gates {
    gates: Mutex<HashMap<String, watch::Sender<Gate>>>,
}

#[derive(Clone, Copy, Default)]
struct Gate {
    is_reached: bool,
    is_open: bool,
}

impl Gates {
    /// The model is here, and waits until the gate is open.
    pub(super) async fn pass(&self, name: &str) {
        self.change(name, |gate| gate.is_reached = true);
        self.wait(name, |gate| gate.is_open).await;
    }

    pub(super) fn open(&self, name: &str) {
        self.change(name, |gate| gate.is_open = true);
    }

    pub(super) async fn reached(&self, name: &str) {
        self.wait(name, |gate| gate.is_reached).await;
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Gate)) {
        self.gates
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(name.to_owned())
            .or_default()
            .send_modify(change);
    }

    async fn wait(&self, name: &str, done: impl FnMut(&Gate) -> bool) {
        let mut state = {
            let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
            gates.entry(name.to_owned()).or_default().subscribe()
        };
        let mut done = done;
        // The sender lives in the map, which outlives every wait.
        let _ = state.wait_for(|gate| done(gate)).await;
    }
}
