//! opencode: `opencode acp`.

use super::acp::Acp;
use crate::scenario::Scenario;
use test_support::real_cli::Agent;

const ASKING: &str = r#"{"permission": {"bash": "ask", "edit": "ask"}}"#;

pub(super) fn scenarios() -> Vec<Scenario> {
    let acp = Acp {
        agent: Agent::Opencode,
        allowed: &["acp"],
        asking: &["acp"],
        asking_settings: Some(("opencode.json", ASKING)),
        failed_prompt: "error",
    };
    acp.scenarios()
}
