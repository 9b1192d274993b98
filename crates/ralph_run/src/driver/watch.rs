//! Feeds the watchdog the clock, and the machine what the watchdog found.

use jiff::Timestamp;

use super::run::Driver;
use crate::machine::Input;
use crate::record::RunBody;

impl Driver {
    pub(super) fn tick_watchdog(&mut self) {
        let found = self.keeper.watchdog.tick(Timestamp::now());
        self.keeper.findings.extend(found);
    }

    /// The effects of a finding are records, too: they are watched until nothing more is found.
    pub(super) async fn act_on_findings(&mut self) {
        while !self.keeper.findings.is_empty() {
            for finding in std::mem::take(&mut self.keeper.findings) {
                if self.machine.has_ended() {
                    // Too late to act on it, but not to show it.
                    self.keeper.body(RunBody::Warned(finding.warned()));
                    continue;
                }
                let message_id = agent_api::new_message_id();
                self.step(Input::Finding { finding, message_id }).await;
            }
            self.keeper.flush();
        }
    }
}
