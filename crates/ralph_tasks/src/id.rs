//! `TaskId`: five characters of base 32, as run ids have them. Made at random, because several branches create tasks at
//! once and a counter would give two of them the same number.

use std::fmt;
use std::str::FromStr;

use ralph_run::{canonical_base32, is_base32, random_base32};
use serde::{Deserialize, Serialize};

const CHARACTERS: u32 = 5;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskId(String);

impl TaskId {
    /// A new id that `is_taken` does not know.
    pub fn random(is_taken: impl Fn(&Self) -> bool) -> Self {
        loop {
            let id = Self(random_base32(CHARACTERS));
            if !reads_as_number(&id.0) && !is_taken(&id) {
                return id;
            }
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether what was typed is the beginning of this id. Upper case and characters that look alike are understood.
    pub fn starts_with(&self, typed: &str) -> bool {
        let own = self.0.bytes();
        let typed_bytes = typed.bytes().map(canonical_base32);
        !typed.is_empty()
            && typed.len() <= self.0.len()
            && own.zip(typed_bytes).all(|(own, typed)| own == typed)
    }
}

/// Some programs read such an id in YAML as a number, `1e100` for example.
fn reads_as_number(id: &str) -> bool {
    id.parse::<f64>().is_ok() || id.starts_with("0x")
}

impl fmt::Display for TaskId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for TaskId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_id = text.len() == CHARACTERS as usize && text.bytes().all(is_base32);
        is_id.then(|| Self(text.to_owned())).ok_or_else(|| {
            format!(
                "must be a task id (five characters such as `k3f9a`), not `{}`",
                run_view::excerpt(text)
            )
        })
    }
}

impl TryFrom<String> for TaskId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> Self {
        id.0
    }
}

/// No single task has the id that was typed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindTaskError {
    #[error("there is no task `{typed}`; `ralph tasks` lists them")]
    Unknown { typed: String },
    #[error("`{file}` has errors, so {id} cannot be used; `ralph tasks check` shows them")]
    Broken { id: TaskId, file: String },
    #[error("`{typed}` is the beginning of several task ids: {}", list(candidates))]
    Ambiguous { typed: String, candidates: Vec<TaskId> },
}

fn list(ids: &[TaskId]) -> String {
    let ids: Vec<&str> = ids.iter().map(TaskId::as_str).collect();
    ids.join(", ")
}

#[cfg(test)]
mod tests {
    use super::{TaskId, reads_as_number};

    #[test]
    fn ids_are_five_characters_that_cannot_be_confused() {
        for text in ["k3f9a", "00000", "zzzzz"] {
            assert_eq!(text.parse::<TaskId>().unwrap().as_str(), text);
        }
        for text in ["", "k3f9", "k3f9aa", "K3F9A", "k3f9l", "../..", "k3f9é"] {
            assert!(text.parse::<TaskId>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_new_id_is_free_and_no_number_in_yaml() {
        for text in ["12345", "1e100", "0x1ff"] {
            assert!(reads_as_number(text), "{text}");
        }
        let first = TaskId::random(|_| false);
        let second = TaskId::random(|id| *id == first);
        assert_ne!(first, second);
        assert_eq!(first.as_str().parse::<TaskId>().unwrap(), first);
    }

    #[test]
    fn typed_beginnings_are_understood_in_any_case() {
        let id: TaskId = "k10ab".parse().unwrap();
        for typed in ["k", "K1", "kl0", "KIO", "k10ab"] {
            assert!(id.starts_with(typed), "{typed}");
        }
        for typed in ["", "1", "k10abc", "k11"] {
            assert!(!id.starts_with(typed), "{typed}");
        }
    }
}
