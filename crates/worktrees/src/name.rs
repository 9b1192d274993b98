//! `WorktreeName`: a name that is safe as a folder, as a part of a branch and in a shell.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::Error;

const MAX_LENGTH: usize = 64;

/// The name of a worktree: lower-case letters, digits, `-` and `_`, so that it means the same on every file system.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorktreeName(String);

impl WorktreeName {
    /// # Errors
    /// If the text has other characters, or too many.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        let starts_well = text
            .bytes()
            .next()
            .is_some_and(|first| is_inner(first) && !b"-_".contains(&first));
        if starts_well && text.len() <= MAX_LENGTH && text.bytes().all(is_inner) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Error::BadName(text.to_owned()))
        }
    }

    /// The nearest name to any text; `None` if nothing of it is left.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut name = String::new();
        for character in text.chars() {
            match character.to_ascii_lowercase() {
                letter if letter.is_ascii_alphanumeric() || letter == '_' => name.push(letter),
                _ if name.ends_with('-') => {}
                _ => name.push('-'),
            }
        }
        let name: String = name.trim_matches(['-', '_']).chars().take(MAX_LENGTH).collect();
        Self::parse(name.trim_end_matches('-')).ok()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `ralph/<name>`.
    pub fn branch(&self) -> String {
        format!("ralph/{self}")
    }

    /// `refs/heads/ralph/<name>`.
    pub(crate) fn branch_ref(&self) -> String {
        format!("refs/heads/ralph/{self}")
    }
}

impl fmt::Display for WorktreeName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl TryFrom<String> for WorktreeName {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        Self::parse(&text)
    }
}

impl From<WorktreeName> for String {
    fn from(name: WorktreeName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::WorktreeName;

    #[test]
    fn a_name_leads_nowhere_and_is_no_option() {
        for name in ["a", "fix-login", "7", "a_b", &"x".repeat(64)] {
            assert!(WorktreeName::parse(name).is_ok(), "{name}");
        }
        for name in [
            "",
            "-a",
            "_a",
            ".a",
            "a.lock",
            "a/b",
            "..",
            "A",
            "é",
            "a b",
            "a\n",
            &"x".repeat(65),
        ] {
            assert!(WorktreeName::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn any_text_gives_a_name_or_none() {
        let named = |text| WorktreeName::from_text(text).map(String::from);
        assert_eq!(named("Fix: the Login!").as_deref(), Some("fix-the-login"));
        assert_eq!(named("../../etc").as_deref(), Some("etc"));
        assert_eq!(named("日本"), None);
        assert_eq!(named(&"ab ".repeat(60)).map(|name| name.len() <= 64), Some(true));
    }
}
