//! `RoleTurns`: whose turn it is in a loop of roles, and what the role before handed over. `LoopMachine` asks it.

use agent_api::SessionChoice;

use super::effect::Handover;
use super::plan::{RolePlan, RoleSession};

/// Without roles there are no turns, and every answer is "nothing".
#[derive(Debug, Default)]
pub(super) struct RoleTurns {
    roles: Vec<RolePlan>,
    /// The session of each role's last process.
    sessions: Vec<Option<String>>,
    current: usize,
    handover: Option<Handover>,
}

impl RoleTurns {
    pub(super) fn new(roles: Vec<RolePlan>) -> Self {
        Self {
            sessions: vec![None; roles.len()],
            roles,
            current: 0,
            handover: None,
        }
    }

    pub(super) fn current(&self) -> Option<&RolePlan> {
        self.roles.get(self.current)
    }

    pub(super) fn handover(&self) -> Option<Handover> {
        self.handover.clone()
    }

    /// The session of the role whose turn it is. A session that could not be resumed is not tried again.
    pub(super) fn session(&self) -> SessionChoice {
        let keeps = self.current().map(|role| role.session) == Some(RoleSession::Keep);
        let last = self.sessions.get(self.current).cloned().flatten();
        match last.filter(|_| keeps) {
            Some(id) => SessionChoice::Resume(id),
            None => SessionChoice::New,
        }
    }

    pub(super) fn note_session(&mut self, id: Option<&String>) {
        if let Some(session) = self.sessions.get_mut(self.current) {
            *session = id.cloned();
        }
    }

    /// The role has done its part. A role that failed has not: its turn comes again, with the same handover.
    pub(super) fn pass_on(&mut self, text: Option<&str>) {
        let Some(role) = self.roles.get(self.current) else {
            return;
        };
        self.handover = text.map(|text| Handover {
            from: role.name.clone(),
            text: text.to_owned(),
        });
        self.current = role.next;
    }
}
