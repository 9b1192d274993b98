use super::{
    answers, codex, copilot, dialogues, faults, gemini, hosts, limits, opencode, permissions, qwen, sessions,
    signals, tools,
};
use crate::scenario::Scenario;
use test_support::real_cli::Agent;

/// Stands for the path of `fake_mcp` in arguments and in fixtures.
pub(crate) const MCP_SERVER: &str = "/opt/fake_mcp";

/// Stands for the id of the session of the run before.
pub(crate) const SESSION_BEFORE: &str = "{session}";

/// For what changed from version to version.
pub(super) const OLDER: [&str; 3] = ["2.1.197", "2.1.83", "1.0.108"];

/// For what the oldest does not have.
pub(super) const RECENT: [&str; 2] = ["2.1.197", "2.1.83"];

/// Every scenario of an agent.
pub(crate) fn of(agent: Agent) -> Vec<Scenario> {
    match agent {
        Agent::Claude => claude(),
        Agent::Codex => codex::scenarios(),
        Agent::Gemini => gemini::scenarios(),
        Agent::Qwen => qwen::scenarios(),
        Agent::Opencode => opencode::scenarios(),
        Agent::Copilot => copilot::scenarios(),
    }
}

fn claude() -> Vec<Scenario> {
    [
        answers::scenarios(),
        tools::scenarios(),
        permissions::scenarios(),
        limits::scenarios(),
        faults::scenarios(),
        sessions::scenarios(),
        signals::scenarios(),
        dialogues::scenarios(),
        hosts::scenarios(),
    ]
    .concat()
}
