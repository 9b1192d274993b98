//! `SessionState`: the conversation that each mode can resume, kept in `<backend>-session.json`.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The conversation that each mode can resume. As JSON: `{"coder_session_id":"…","updated_at":"…"}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionState {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// `<mode>_session_id`, and what others keep here.
    #[serde(flatten)]
    entries: Map<String, Value>,
}

impl SessionState {
    /// The mode's conversation; without a mode, that of runs without one.
    pub fn session_id(&self, mode: Option<&str>) -> Option<&str> {
        let id = self.entries.get(&key(mode))?.as_str()?;
        (!id.is_empty()).then_some(id)
    }

    pub fn set_session_id(&mut self, mode: Option<&str>, session_id: &str) {
        self.entries.insert(key(mode), Value::from(session_id));
    }

    /// Forgets the mode's conversation, if it is this one.
    pub fn forget_session_id(&mut self, mode: Option<&str>, session_id: &str) {
        if self.session_id(mode) == Some(session_id) {
            self.entries.remove(&key(mode));
        }
    }

    /// What a change has set or removed, by key.
    pub(super) fn changes_since(&self, before: &Self) -> Vec<(String, Option<Value>)> {
        let keys = self.entries.keys().chain(before.entries.keys());
        let changed = keys.filter(|key| self.entries.get(*key) != before.entries.get(*key));
        changed
            .map(|key| (key.clone(), self.entries.get(key).cloned()))
            .collect()
    }

    pub(super) fn apply(&mut self, changes: Vec<(String, Option<Value>)>) {
        for (key, value) in changes {
            match value {
                Some(value) => drop(self.entries.insert(key, value)),
                None => drop(self.entries.remove(&key)),
            }
        }
    }

    /// Leaves out conversations that are not in `own`.
    pub(super) fn retain_own(&mut self, own: &Self) {
        self.entries
            .retain(|key, id| !key.ends_with(SESSION_KEY) || own.entries.get(key) == Some(id));
    }
}

const SESSION_KEY: &str = "session_id";

fn key(mode: Option<&str>) -> String {
    match mode {
        Some(mode) => format!("{mode}_{SESSION_KEY}"),
        None => SESSION_KEY.to_owned(),
    }
}
