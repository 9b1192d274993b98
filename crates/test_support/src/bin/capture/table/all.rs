use super::{answers, dialogues, faults, hosts, limits, permissions, sessions, signals, tools};
use crate::scenario::Scenario;

/// Stands for the path of `fake_mcp` in arguments and in fixtures.
pub(crate) const MCP_SERVER: &str = "/opt/fake_mcp";

/// For what changed from version to version.
pub(super) const OLDER: [&str; 3] = ["2.1.197", "2.1.83", "1.0.108"];

/// For what the oldest does not have.
pub(super) const RECENT: [&str; 2] = ["2.1.197", "2.1.83"];

/// Every scenario.
pub(crate) fn all() -> Vec<Scenario> {
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
