//! GitHub Copilot CLI: `copilot --acp`.

use super::acp::Acp;
use crate::scenario::Scenario;
use test_support::real_cli::Agent;

pub(super) fn scenarios() -> Vec<Scenario> {
    let acp = Acp {
        agent: Agent::Copilot,
        allowed: &["--acp", "--no-auto-update", "--allow-all"],
        asking: &["--acp", "--no-auto-update"],
        asking_settings: None,
        failed_prompt: "result",
    };
    acp.scenarios()
}
