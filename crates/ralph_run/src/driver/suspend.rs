//! Ctrl-Z: suspends the run together with its agent and verify commands, and continues all of them later.

use agent_process::Suspension;

use super::run::Driver;
use crate::record::{Continued, RunBody, Suspended};
use crate::state::Durability;

impl Driver {
    /// Stops everything that the run has started, its clocks, and this process. Returns when it is continued.
    pub(super) async fn suspend(&mut self) {
        let suspension = Suspension::begin().await;
        let pid = std::process::id();
        self.keeper.body(RunBody::Suspended(Suspended { pid }));
        self.keeper.flush();
        self.save_run_file(Durability::Cached);
        suspension.stop_this_process();
        let suspended = suspension.end();
        self.keeper.begin_moment();
        self.keeper.body(RunBody::Continued(Continued {
            suspended_ms: u64::try_from(suspended.as_millis()).unwrap_or(u64::MAX),
        }));
        self.keeper.flush();
    }
}
