//! Which agent.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Names a kind of agent, for example `claude_code`. Cheap to clone and to compare.
#[derive(Clone)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(type = "string"))]
pub struct AgentKind(Name);

#[derive(Clone)]
enum Name {
    BuiltIn(&'static str),
    Given(Arc<str>),
}

impl AgentKind {
    /// Anthropic's Claude Code.
    pub const CLAUDE_CODE: Self = Self::built_in("claude_code");
    /// OpenAI's Codex.
    pub const CODEX: Self = Self::built_in("codex");
    /// Google's Gemini CLI.
    pub const GEMINI: Self = Self::built_in("gemini");
    /// Qwen Code.
    pub const QWEN: Self = Self::built_in("qwen");
    /// Any command that writes plain text.
    pub const CUSTOM: Self = Self::built_in("custom");
    /// The scripted agent that comes with this crate.
    pub const DEMO: Self = Self::built_in("demo");

    const BUILT_IN: [Self; 6] = [
        Self::CLAUDE_CODE,
        Self::CODEX,
        Self::GEMINI,
        Self::QWEN,
        Self::CUSTOM,
        Self::DEMO,
    ];

    /// A kind whose name is known at compile time.
    #[must_use]
    pub const fn built_in(name: &'static str) -> Self {
        Self(Name::BuiltIn(name))
    }

    /// A kind by its name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let known = Self::BUILT_IN.into_iter().find(|kind| kind.as_str() == name);
        known.unwrap_or_else(|| Self(Name::Given(name.into())))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Name::BuiltIn(name) => name,
            Name::Given(name) => name,
        }
    }
}

impl fmt::Display for AgentKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Debug for AgentKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), formatter)
    }
}

impl PartialEq for AgentKind {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for AgentKind {}

impl std::hash::Hash for AgentKind {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Serialize for AgentKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for AgentKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Ok(Self::new(&name))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::AgentKind;

    #[test]
    fn a_kind_is_its_name_wherever_it_comes_from() {
        let given = AgentKind::new(&String::from("claude_code"));
        assert_eq!(given, AgentKind::CLAUDE_CODE);
        let read: AgentKind = serde_json::from_str(r#""claude\u005fcode""#).unwrap();
        assert_eq!(read, given);
        let kinds: HashSet<AgentKind> = [given, AgentKind::new("mine"), AgentKind::built_in("mine")].into();
        assert_eq!(kinds.len(), 2);
    }
}
