//! `Change`: a setting that is changed while the run is active. It holds once the agent has accepted it.

use agent_api::{CommandAnswered, PermissionMode};

use super::run::Driver;
use crate::record::WarningKind;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    Model(Option<String>),
    PermissionMode(PermissionMode),
}

impl Driver {
    /// Tells the agent. What it takes holds for its later processes, too.
    pub(super) fn change(&mut self, change: Change) {
        let Some(attempt) = &self.attempt else {
            self.changed(change);
            return;
        };
        let control = &attempt.handle.control;
        let told = match &change {
            Change::Model(model) => control.set_model(model.clone()),
            Change::PermissionMode(mode) => control.set_permission_mode(*mode),
        };
        match told {
            Ok(command_id) => self.changes.push((command_id, change)),
            Err(error) => self.not_changed(&change, &error.to_string()),
        }
    }

    /// The agent has answered a command, maybe one of these.
    pub(super) fn on_answered(&mut self, answered: &CommandAnswered) {
        let place = self
            .changes
            .iter()
            .position(|(command_id, _)| *command_id == answered.command_id);
        let Some(place) = place else { return };
        let (_, change) = self.changes.swap_remove(place);
        match &answered.error {
            None => self.changed(change),
            Some(error) => self.not_changed(&change, error),
        }
    }

    pub(super) fn changed(&mut self, change: Change) {
        // Of the role that works: the others have reasons for theirs.
        let role = self.run_file.status.role.clone();
        let options = &mut self.spec.role_mut(role.as_deref()).options;
        match change {
            Change::Model(model) => {
                self.run_file.model.clone_from(&model);
                options.model = model;
            }
            Change::PermissionMode(mode) => options.permission_mode = Some(mode),
        }
        self.is_file_stale = true;
    }

    fn not_changed(&mut self, change: &Change, error: &str) {
        let what = match change {
            Change::Model(_) => "model",
            Change::PermissionMode(_) => "permission mode",
        };
        self.warn(
            WarningKind::Degraded,
            format!("the agent did not accept the new {what}: {error}"),
        );
    }
}
