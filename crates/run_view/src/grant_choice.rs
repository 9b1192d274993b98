//! `GrantChoice`: which lasting permissions are given with an answer, chosen one by one. Console and terminal UI use it.

use std::collections::BTreeSet;

use agent_api::{Grant, GrantKind, PermissionRequested};
use ralph_run::control::AnswerChoice;

use crate::fold_blanks::fold_blanks;
use crate::visible::escape_hidden;

/// The grants of a request, and those that are chosen. None is chosen at first.
#[derive(Debug, Clone)]
pub struct GrantChoice {
    grants: Vec<Grant>,
    takes_one: bool,
    chosen: BTreeSet<usize>,
}

impl GrantChoice {
    /// `None` if the request offers nothing that lasts.
    #[must_use]
    pub fn of(asked: &PermissionRequested) -> Option<Self> {
        (!asked.grants.is_empty()).then(|| Self {
            grants: asked.grants.clone(),
            takes_one: asked.takes_one_grant,
            chosen: BTreeSet::new(),
        })
    }

    /// How many there are to choose from.
    #[must_use]
    pub fn count(&self) -> usize {
        self.grants.len()
    }

    /// Chooses a grant by its index, or no longer chooses it.
    pub fn toggle(&mut self, index: usize) {
        if index >= self.grants.len() || self.chosen.remove(&index) {
            return;
        }
        if self.takes_one {
            self.chosen.clear();
        }
        self.chosen.insert(index);
    }

    /// The indexes of those that are chosen.
    #[must_use]
    pub fn chosen(&self) -> &BTreeSet<usize> {
        &self.chosen
    }

    /// One line for each grant, safe for a terminal.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.grants.iter().map(describe_grant)
    }

    /// The answer that gives exactly the chosen grants. `None` while there are none: allowing once is another choice.
    #[must_use]
    pub fn answer(&self) -> Option<AnswerChoice> {
        let grants = self.chosen.iter().filter_map(|index| self.grants.get(*index));
        let grants: Vec<_> = grants.map(|grant| grant.id.clone()).collect();
        (!grants.is_empty()).then_some(AnswerChoice::Allow { grants })
    }
}

/// A grant in one line, with nothing hidden. A mode, which allows much more than one thing, is marked.
#[must_use]
pub fn describe_grant(grant: &Grant) -> String {
    let text = escape_hidden(&fold_blanks(&grant.text))
        .replace('\n', "\\n")
        .replace('\t', "\\t");
    match grant.kind {
        GrantKind::Mode => format!("MODE: {text}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use agent_api::{GrantId, PermissionRequested, RequestId, ToolKind};
    use ralph_run::control::AnswerChoice;
    use serde_json::json;

    use super::GrantChoice;

    fn choice(takes_one: bool) -> GrantChoice {
        let mut asked = PermissionRequested::new(RequestId::new("p"), "Bash", ToolKind::Execute);
        assert!(GrantChoice::of(&asked).is_none());
        let grant =
            |kind: &str| json!({"id": kind, "kind": kind, "destination": "session", "text": "a\n\u{202e}b"});
        asked.grants =
            serde_json::from_value(json!([grant("rule"), grant("directory"), grant("mode")])).unwrap();
        asked.takes_one_grant = takes_one;
        GrantChoice::of(&asked).unwrap()
    }

    fn answer(choice: &GrantChoice) -> Vec<String> {
        match choice.answer() {
            Some(AnswerChoice::Allow { grants }) => grants.iter().map(GrantId::to_string).collect(),
            Some(other) => unreachable!("{other:?}"),
            None => Vec::new(),
        }
    }

    #[test]
    fn nothing_is_given_but_what_was_chosen() {
        let mut several = choice(false);
        assert_eq!(several.answer(), None);
        several.toggle(0);
        several.toggle(2);
        several.toggle(7);
        assert_eq!(answer(&several), ["rule", "mode"]);
        several.toggle(2);
        assert_eq!(answer(&several), ["rule"]);
        let mut one = choice(true);
        one.toggle(0);
        one.toggle(1);
        assert_eq!(answer(&one), ["directory"]);
    }

    #[test]
    fn each_grant_is_one_line_and_a_mode_is_marked() {
        let lines: Vec<String> = choice(false).lines().collect();
        assert_eq!(
            lines,
            ["a\\n\\u{202e}b", "a\\n\\u{202e}b", "MODE: a\\n\\u{202e}b"]
        );
    }
}
