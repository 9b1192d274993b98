//! `AgentName`: the name of an agent, which is also the name of its directory.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const MAX_BYTES: usize = 40;

/// 1 to 40 of the characters `a-z`, `0-9`, `-` and `_`, beginning with a letter or digit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentName(String);

/// A text that cannot be the name of an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid agent name `{0}`: use 1 to {MAX_BYTES} of the characters a-z, 0-9, `-` and `_`, and begin with a letter or digit"
)]
pub struct InvalidName(String);

impl AgentName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_valid = (1..=MAX_BYTES).contains(&text.len())
            && text.bytes().next().is_some_and(is_plain)
            && text
                .bytes()
                .all(|byte| is_plain(byte) || matches!(byte, b'-' | b'_'));
        match is_valid {
            true => Ok(Self(text.to_owned())),
            false => Err(InvalidName(text.chars().take(2 * MAX_BYTES).collect())),
        }
    }
}

impl TryFrom<String> for AgentName {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        text.parse()
    }
}

impl From<AgentName> for String {
    fn from(name: AgentName) -> Self {
        name.0
    }
}

impl Borrow<str> for AgentName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::AgentName;

    #[test]
    fn a_name_is_a_directory_that_needs_no_quoting() {
        for name in ["a", "7", "docs-writer", "worker_2", &"x".repeat(40)] {
            assert!(name.parse::<AgentName>().is_ok(), "{name}");
        }
        for name in [
            "",
            ".",
            "..",
            "-x",
            "_x",
            "A",
            "a b",
            "a/b",
            "ä",
            "a.lock",
            &"x".repeat(41),
        ] {
            assert!(name.parse::<AgentName>().is_err(), "{name}");
        }
    }
}
