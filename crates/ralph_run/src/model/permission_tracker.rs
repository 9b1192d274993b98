//! `PermissionTracker`: the permission mode that a run works in, by its start, the agent's reports and commands.

use std::collections::VecDeque;

use agent_api::CommandAnswered;
use serde::{Deserialize, Serialize};

use crate::control::PermissionChoice;
use crate::record::CommandReceived;

/// The ids that the harness gives to changes of the permission mode begin with this.
const CHANGE_ID_PREFIX: &str = "set_permission_mode-";

/// A part of the run's saved state, which has always had `permission_mode`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PermissionTracker {
    #[serde(rename = "permission_mode")]
    confirmed: Option<String>,
    /// Changes that the agent has not answered yet, oldest first. Not every agent reports its new mode.
    #[serde(rename = "permission_changes", skip_serializing_if = "VecDeque::is_empty")]
    pending: VecDeque<String>,
}

impl PermissionTracker {
    pub(super) fn mode(&self) -> Option<&str> {
        self.pending
            .back()
            .or(self.confirmed.as_ref())
            .map(String::as_str)
    }

    pub(super) fn start(&mut self, mode: Option<&str>) {
        self.confirmed = mode.map(str::to_owned);
    }

    /// A change that was made while no process ran has no answer: the next process starts with it.
    pub(super) fn on_attempt_started(&mut self) {
        if let Some(mode) = self.pending.pop_back() {
            self.confirmed = Some(mode);
            self.pending.clear();
        }
    }

    pub(super) fn report(&mut self, mode: Option<&String>) {
        if let Some(mode) = mode {
            self.confirmed = Some(mode.clone());
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
            self.pending.push_back(name.to_owned());
        }
    }

    pub(super) fn on_answer(&mut self, answered: &CommandAnswered) {
        if !answered.command_id.starts_with(CHANGE_ID_PREFIX) {
            return;
        }
        if let Some(mode) = self.pending.pop_front()
            && answered.error.is_none()
        {
            self.confirmed = Some(mode);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::PermissionTracker;

    fn changed(modes: &[&str]) -> PermissionTracker {
        let mut tracker = PermissionTracker::default();
        tracker.start(Some("ask"));
        for mode in modes {
            let command =
                json!({"command_id": "c", "command": "set_permission_mode", "permission_mode": mode});
            tracker.on_command(&from_value(command).unwrap());
        }
        tracker
    }

    fn answer(tracker: &mut PermissionTracker, id: &str, error: Option<&str>) {
        tracker.on_answer(&from_value(json!({"command_id": id, "error": error})).unwrap());
    }

    #[test]
    fn a_change_counts_unless_the_agent_refuses_it() {
        let mut accepted = changed(&["bypass"]);
        assert_eq!(accepted.mode(), Some("bypass"));
        answer(&mut accepted, "set_permission_mode-1", None);
        assert_eq!(accepted.mode(), Some("bypass"));
        let mut refused = changed(&["bypass"]);
        answer(&mut refused, "set_permission_mode-1", Some("no"));
        assert_eq!(refused.mode(), Some("ask"));
    }

    #[test]
    fn answers_to_other_commands_say_nothing_about_the_mode() {
        let mut tracker = changed(&["bypass"]);
        answer(&mut tracker, "set_model-1", Some("unknown model"));
        assert_eq!(tracker.mode(), Some("bypass"));
        answer(&mut tracker, "set_permission_mode-2", Some("no"));
        assert_eq!(tracker.mode(), Some("ask"));
    }

    #[test]
    fn of_two_changes_each_has_its_own_answer() {
        let mut tracker = changed(&["bypass", "plan"]);
        answer(&mut tracker, "set_permission_mode-1", None);
        answer(&mut tracker, "set_permission_mode-2", Some("no"));
        assert_eq!(tracker.mode(), Some("bypass"));
    }

    #[test]
    fn a_change_between_processes_holds_in_the_next_one() {
        let mut tracker = changed(&["bypass"]);
        tracker.on_attempt_started();
        tracker.on_command(
            &from_value(
                json!({"command_id": "d", "command": "set_permission_mode", "permission_mode": "ask"}),
            )
            .unwrap(),
        );
        answer(&mut tracker, "set_permission_mode-3", Some("no"));
        assert_eq!(tracker.mode(), Some("bypass"));
    }

    #[test]
    fn a_state_saved_by_an_earlier_version_is_read() {
        let saved = json!({"permission_mode": "plan"});
        let tracker: PermissionTracker = from_value(saved.clone()).unwrap();
        assert_eq!(tracker.mode(), Some("plan"));
        assert_eq!(to_value(&tracker).unwrap(), saved);
    }
}
