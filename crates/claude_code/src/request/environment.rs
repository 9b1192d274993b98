//! The child's environment.

use std::ffi::{OsStr, OsString};

use agent_process::{EnvPolicy, Isolation};

/// Set by the CLI for its own children; a CLI that sees it behaves as one inside the other.
const NESTED: &str = "CLAUDECODE";
/// Tells the CLI that root may bypass permissions because there is a sandbox.
const SANDBOXED: &str = "IS_SANDBOX";

/// What the child's variables start from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BaseEnvironment {
    /// This process's variables.
    #[default]
    Inherit,
    /// Nothing. The CLI needs at least `PATH` and `HOME`.
    Clear,
}

/// The child's environment: a base and changes to it. The environment of this process is never changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// What to start from; `None` leaves it to the client, and then it is [`BaseEnvironment::Inherit`].
    pub base: Option<BaseEnvironment>,
    /// Variables to set. Of two settings of one name the later counts.
    pub set: Vec<(OsString, OsString)>,
    /// Variables to take away from the base. One that is also set is set.
    pub remove: Vec<OsString>,
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
        self.set.push((name.into(), value.into()));
        self
    }

    /// Takes a variable away.
    #[must_use]
    pub fn remove(mut self, name: impl Into<OsString>) -> Self {
        self.remove.push(name.into());
        self
    }

    /// Fills in what `self` leaves open: `self` wins for each variable that both name.
    #[must_use]
    pub(crate) fn or(self, defaults: &Self) -> Self {
        let overridden = |name: &OsStr| self.remove.iter().any(|removed| removed == name);
        let mut set: Vec<_> = defaults
            .set
            .iter()
            .filter(|(name, _)| !overridden(name))
            .cloned()
            .collect();
        set.extend(self.set.iter().cloned());
        let mut remove = defaults.remove.clone();
        remove.extend(self.remove.iter().cloned());
        Self {
            base: self.base.or(defaults.base),
            set,
            remove,
        }
    }

    /// What the process is started with. `IS_SANDBOX` is set only if there really is one and the caller says nothing
    /// about the variable.
    pub(crate) fn policy(&self, isolation: Isolation) -> EnvPolicy {
        let mut set: Vec<(OsString, OsString)> = Vec::new();
        for (name, value) in self.set.iter().filter(|(name, _)| name != NESTED) {
            match set.iter_mut().find(|(known, _)| known == name) {
                Some(known) => known.1.clone_from(value),
                None => set.push((name.clone(), value.clone())),
            }
        }
        let is_decided =
            set.iter().any(|(name, _)| name == SANDBOXED) || self.remove.iter().any(|name| name == SANDBOXED);
        if isolation != Isolation::None && !is_decided {
            set.push((SANDBOXED.into(), "1".into()));
        }
        match self.base.unwrap_or_default() {
            BaseEnvironment::Inherit => {
                let mut remove = self.remove.clone();
                remove.push(NESTED.into());
                EnvPolicy::Inherit { set, remove }
            }
            BaseEnvironment::Clear => EnvPolicy::Clear { set },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Environment;
    use agent_process::{EnvPolicy, Isolation};
    use std::ffi::OsString;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        pairs
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    #[test]
    fn the_mark_of_a_surrounding_session_never_reaches_the_child() {
        let inherited = Environment::default()
            .set("CLAUDECODE", "1")
            .set("A", "1")
            .policy(Isolation::None);
        assert_eq!(
            inherited,
            EnvPolicy::Inherit {
                set: pairs(&[("A", "1")]),
                remove: vec!["CLAUDECODE".into()]
            }
        );
        let cleared = Environment::clear()
            .set("CLAUDECODE", "1")
            .policy(Isolation::None);
        assert_eq!(cleared, EnvPolicy::Clear { set: vec![] });
    }

    #[test]
    fn a_sandbox_is_announced_only_when_there_is_one() {
        assert_eq!(
            Environment::clear().set("A", "1").policy(Isolation::PidNamespace),
            EnvPolicy::Clear {
                set: pairs(&[("A", "1"), ("IS_SANDBOX", "1")])
            }
        );
        assert_eq!(
            Environment::clear().policy(Isolation::None),
            EnvPolicy::Clear { set: vec![] }
        );
    }

    #[test]
    fn what_the_caller_says_about_the_sandbox_stays() {
        for isolation in [Isolation::None, Isolation::PidNamespace] {
            assert_eq!(
                Environment::clear().set("IS_SANDBOX", "0").policy(isolation),
                EnvPolicy::Clear {
                    set: pairs(&[("IS_SANDBOX", "0")])
                }
            );
            assert_eq!(
                Environment::clear().remove("IS_SANDBOX").policy(isolation),
                EnvPolicy::Clear { set: vec![] }
            );
            assert_eq!(
                Environment::inherit().remove("IS_SANDBOX").policy(isolation),
                EnvPolicy::Inherit {
                    set: vec![],
                    remove: vec!["IS_SANDBOX".into(), "CLAUDECODE".into()]
                }
            );
        }
    }

    #[test]
    fn a_request_overrides_the_client_for_each_variable() {
        let client = Environment::clear()
            .set("A", "client")
            .set("B", "client")
            .set("C", "client");
        let request = Environment::default().set("A", "request").remove("B");
        assert_eq!(
            request.or(&client).policy(Isolation::None),
            EnvPolicy::Clear {
                set: pairs(&[("A", "request"), ("C", "client")])
            }
        );
    }
}
