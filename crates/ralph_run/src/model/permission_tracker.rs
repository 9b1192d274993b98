//! `PermissionTracker`: the permission mode that a run works in, by its start, the agent's reports and commands.

use agent_api::CommandAnswered;
use serde::{Deserialize, Serialize};

use crate::control::PermissionChoice;
use crate::record::CommandReceived;

/// A part of the run's saved state, which has always had `permission_mode`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PermissionTracker {
    #[serde(rename = "permission_mode")]
    mode: Option<String>,
    #[serde(rename = "permission_change", skip_serializing_if = "Option::is_none")]
    change: Option<Change>,
}

/// A change that the agent has not answered yet. Not every agent reports its new mode.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Change {
    from: Option<String>,
}

impl PermissionTracker {
    pub(super) fn mode(&self) -> Option<&str> {
        self.mode.as_deref()
    }

    pub(super) fn start(&mut self, mode: Option<&str>) {
        self.mode = mode.map(str::to_owned);
    }

    pub(super) fn report(&mut self, mode: Option<&String>) {
        if let Some(mode) = mode {
            self.mode = Some(mode.clone());
            self.change = None;
        }
    }

    pub(super) fn on_command(&mut self, command: &CommandReceived) {
        if let (Some(mode), None) = (command.permission_mode, &command.refused) {
            let name = match mode {
                PermissionChoice::Ask => "ask",
                PermissionChoice::AcceptEdits => "accept_edits",
                PermissionChoice::Plan => "plan",
                PermissionChoice::Refuse => "refuse",
                PermissionChoice::Bypass => "bypass",
            };
            let from = self.mode.replace(name.to_owned());
            self.change.get_or_insert(Change { from });
        }
    }

    pub(super) fn on_answer(&mut self, answered: &CommandAnswered) {
        if let Some(change) = self.change.take()
            && answered.error.is_some()
        {
            self.mode = change.from;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::PermissionTracker;

    fn changed_to_bypass(answer: &Value) -> PermissionTracker {
        let mut tracker = PermissionTracker::default();
        tracker.start(Some("ask"));
        let command =
            json!({"command_id": "c", "command": "set_permission_mode", "permission_mode": "bypass"});
        tracker.on_command(&from_value(command).unwrap());
        assert_eq!(tracker.mode(), Some("bypass"));
        tracker.on_answer(&from_value(answer.clone()).unwrap());
        tracker
    }

    #[test]
    fn a_change_counts_unless_the_agent_refuses_it() {
        let accepted = changed_to_bypass(&json!({"command_id": "1"}));
        assert_eq!(accepted.mode(), Some("bypass"));
        let refused = changed_to_bypass(&json!({"command_id": "1", "error": "no"}));
        assert_eq!(refused.mode(), Some("ask"));
    }
}
