//! `RepeatedFailure`: the same error on several tasks, which is then not about one of them.

use std::collections::BTreeMap;

use crate::board::{Card, Column};
use crate::claim::{Claim, ClaimState};
use crate::id::TaskId;

/// Several tasks that failed in the same way: something is wrong that is not about one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedFailure {
    pub evidence: String,
    pub tasks: Vec<TaskId>,
}

/// The last failures of open tasks, if so many have the same error.
pub(crate) fn repeated_failure<'a>(
    cards: impl Iterator<Item = &'a Card<'a>>,
    limit: usize,
) -> Option<RepeatedFailure> {
    let mut by_error: BTreeMap<String, RepeatedFailure> = BTreeMap::new();
    for card in cards.filter(|card| card.column != Column::Done) {
        let claim = card.claim.filter(|claim| claim.state == ClaimState::Released);
        let Some(evidence) = claim
            .and_then(Claim::last_evidence)
            .filter(|text| !text.is_empty())
        else {
            continue;
        };
        let failure = by_error
            .entry(without_accidents(evidence, card.task.id.as_str()))
            .or_insert_with(|| RepeatedFailure {
                evidence: evidence.to_owned(),
                tasks: Vec::new(),
            });
        failure.tasks.push(card.task.id.clone());
    }
    by_error
        .into_values()
        .find(|failure| limit > 0 && failure.tasks.len() >= limit)
}

/// An error without what differs from run to run: numbers, hashes, and paths, which lead through the worktree of the
/// task or have temporary names.
fn without_accidents(evidence: &str, task: &str) -> String {
    let mut error = String::new();
    for word in evidence.split_whitespace() {
        let is_accident = word.contains(['/', '\\']) || word.contains(task) || is_hash(word);
        match is_accident {
            true => error.push('…'),
            false => error.extend(word.chars().filter(|character| !character.is_ascii_digit())),
        }
        error.push(' ');
    }
    error
}

fn is_hash(word: &str) -> bool {
    let word = word.trim_matches(|character: char| !character.is_ascii_alphanumeric());
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    word.len() >= 7 && has_digit && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::without_accidents;

    #[test]
    fn worktrees_hashes_and_times_do_not_make_two_errors_different() {
        let first = "error in /state/worktrees/r/k3f9a/src/lib.rs:12:3\n  at commit 1a2b3c4d, after 17 s (branch k3f9a)";
        let second =
            "error in /state/worktrees/r/7hx2m/src/lib.rs:12:3\n at commit ffe0912, after 3 s (branch 7hx2m)";
        assert_eq!(
            without_accidents(first, "k3f9a"),
            without_accidents(second, "7hx2m")
        );
        assert_ne!(
            without_accidents("assertion failed: dates", "k3f9a"),
            without_accidents("assertion failed: zones", "7hx2m")
        );
    }
}
