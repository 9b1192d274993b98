//! The agent's environment variables.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

use agent_process::EnvPolicy;
pub use claude_code::BaseEnvironment;

/// The agent's environment: a base and changes to it. This process's own environment is never changed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// What to start from; `None` leaves it to the backend's configuration, and then it is this process's variables.
    pub base: Option<BaseEnvironment>,
    /// Changes by name; `None` takes a variable away.
    pub changes: BTreeMap<OsString, Option<OsString>>,
}

impl fmt::Debug for Environment {
    /// Names only: values are often secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = self.changes.iter().filter(|(_, value)| value.is_some());
        let removed = self.changes.iter().filter(|(_, value)| value.is_none());
        formatter
            .debug_struct("Environment")
            .field("base", &self.base)
            .field("set", &set.map(|(name, _)| name).collect::<Vec<_>>())
            .field("removed", &removed.map(|(name, _)| name).collect::<Vec<_>>())
            .finish()
    }
}

impl Environment {
    /// Starts from this process's variables.
    #[must_use]
    pub fn inherit() -> Self {
        Self {
            base: Some(BaseEnvironment::Inherit),
            ..Self::default()
        }
    }

    /// Starts from nothing.
    #[must_use]
    pub fn clear() -> Self {
        Self {
            base: Some(BaseEnvironment::Clear),
            ..Self::default()
        }
    }

    /// Sets a variable.
    #[must_use]
    pub fn set(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.changes.insert(name.into(), Some(value.into()));
        self
    }

    /// Takes a variable away.
    #[must_use]
    pub fn remove(mut self, name: impl Into<OsString>) -> Self {
        self.changes.insert(name.into(), None);
        self
    }

    /// Fills in what `self` leaves open: `self` wins for each variable that both name.
    #[must_use]
    pub fn or(mut self, defaults: &Self) -> Self {
        self.base = self.base.or(defaults.base);
        for (name, value) in &defaults.changes {
            self.changes.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self
    }

    /// What the agent will see under this name.
    #[must_use]
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<OsString> {
        let name = name.as_ref();
        match self.changes.get(name) {
            Some(value) => value.clone(),
            None if self.base == Some(BaseEnvironment::Clear) => None,
            None => std::env::var_os(name),
        }
    }

    /// For [`agent_process::SpawnSpec::env`].
    #[must_use]
    pub fn policy(&self) -> EnvPolicy {
        let set = self.set_variables().collect();
        match self.base.unwrap_or_default() {
            BaseEnvironment::Inherit => EnvPolicy::Inherit {
                set,
                remove: self.removed_variables().collect(),
            },
            BaseEnvironment::Clear => EnvPolicy::Clear { set },
        }
    }

    /// For a Claude Code client.
    #[must_use]
    pub fn for_claude(&self) -> claude_code::Environment {
        claude_code::Environment {
            base: self.base,
            set: self.set_variables().collect(),
            remove: self.removed_variables().collect(),
        }
    }

    fn set_variables(&self) -> impl Iterator<Item = (OsString, OsString)> {
        self.changes
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), value.clone()?)))
    }

    fn removed_variables(&self) -> impl Iterator<Item = OsString> {
        self.changes
            .iter()
            .filter(|(_, value)| value.is_none())
            .map(|(name, _)| name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::{BaseEnvironment, Environment};
    use agent_process::EnvPolicy;

    #[test]
    fn a_request_overrides_the_backend_for_each_variable() {
        let backend = Environment::clear()
            .set("A", "backend")
            .set("B", "backend")
            .set("C", "backend");
        let request = Environment::default().set("A", "request").remove("B");
        let merged = request.or(&backend);
        assert_eq!(merged.base, Some(BaseEnvironment::Clear));
        assert_eq!(
            merged.policy(),
            EnvPolicy::Clear {
                set: vec![("A".into(), "request".into()), ("C".into(), "backend".into())]
            }
        );
    }
}
