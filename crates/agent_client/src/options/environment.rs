//! `Environment`: the agent's environment variables, as a base and changes to it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

#[cfg(feature = "process")]
use agent_process::EnvPolicy;

/// The variables that an [`Environment`] starts from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BaseEnvironment {
    /// The variables of this process.
    #[default]
    Inherit,
    /// No variables. Most agents need at least `PATH` and `HOME`.
    Clear,
}

/// The agent's environment variables. The environment of this process is never changed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// The base; `None` leaves the choice to the defaults, and finally to [`BaseEnvironment::Inherit`].
    pub base: Option<BaseEnvironment>,
    /// Changes by name; `None` removes a variable.
    pub changes: BTreeMap<OsString, Option<OsString>>,
}

impl fmt::Debug for Environment {
    /// Shows names only: values are often secrets.
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
    /// Starts from the variables of this process.
    #[must_use]
    pub fn inherit() -> Self {
        Self {
            base: Some(BaseEnvironment::Inherit),
            ..Self::default()
        }
    }

    /// Starts without any variables.
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

    /// Removes a variable.
    #[must_use]
    pub fn remove(mut self, name: impl Into<OsString>) -> Self {
        self.changes.insert(name.into(), None);
        self
    }

    /// Fills the gaps with `defaults`; `self` wins for each variable that both name.
    #[must_use]
    pub fn or(mut self, defaults: &Self) -> Self {
        self.base = self.base.or(defaults.base);
        for (name, value) in &defaults.changes {
            self.changes.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self
    }

    /// The value that the agent will see.
    #[must_use]
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<OsString> {
        let name = name.as_ref();
        match self.changes.get(name) {
            Some(value) => value.clone(),
            None if self.base == Some(BaseEnvironment::Clear) => None,
            None => std::env::var_os(name),
        }
    }

    /// The value for [`agent_process::SpawnSpec::env`].
    #[cfg(feature = "process")]
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

    #[cfg(feature = "process")]
    fn set_variables(&self) -> impl Iterator<Item = (OsString, OsString)> {
        self.changes
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), value.clone()?)))
    }

    #[cfg(feature = "process")]
    fn removed_variables(&self) -> impl Iterator<Item = OsString> {
        self.changes
            .iter()
            .filter(|(_, value)| value.is_none())
            .map(|(name, _)| name.clone())
    }
}

#[cfg(all(test, feature = "process"))]
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
