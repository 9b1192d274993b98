//! `AgentKind`: the name of a backend, such as `claude_code`.

use std::fmt;

use json_lines::Text;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of a backend, for example `claude_code`. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(type = "string"))]
pub struct AgentKind(Text);

impl AgentKind {
    /// Anthropic's Claude Code.
    pub const CLAUDE_CODE: Self = Self::built_in("claude_code");
    /// OpenAI's Codex.
    pub const CODEX: Self = Self::built_in("codex");
    /// Google's Gemini CLI.
    pub const GEMINI: Self = Self::built_in("gemini");
    /// Qwen Code.
    pub const QWEN: Self = Self::built_in("qwen");
    /// Sourcegraph's Amp.
    pub const AMP: Self = Self::built_in("amp");
    /// The coding agent pi.
    pub const PI: Self = Self::built_in("pi");
    /// Any command that writes plain text.
    pub const CUSTOM: Self = Self::built_in("custom");
    /// The scripted agent of the crate `demo_agent`.
    pub const DEMO: Self = Self::built_in("demo");

    /// A kind whose name is known at compile time.
    #[must_use]
    pub const fn built_in(name: &'static str) -> Self {
        Self(Text::from_static(name))
    }

    /// The kind of this name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(Text::from(name))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
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

impl Serialize for AgentKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for AgentKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Text::from(String::deserialize(deserializer)?)))
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
