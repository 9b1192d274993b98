//! `Keymap`: which keys do what, from the table of keys and the user's changes. Dispatch, footers and help ask it.

use std::collections::{BTreeMap, HashMap};

use terminal_input::Key;

use super::binding::{Action, Binding, Context};
use super::dialog_table::DIALOG_BINDINGS;
use super::key_name::{label_of, parse_key};
use super::table::SCREEN_BINDINGS;

/// The keys of each action that a user has changed, by the action's name, such as `run.stop`.
pub type KeyChanges = BTreeMap<String, Vec<String>>;

/// The keys of one terminal UI.
#[derive(Debug, Clone)]
pub struct Keymap {
    rows: Vec<BoundRow>,
}

/// A row of the table, with the keys that it has here.
#[derive(Debug, Clone)]
pub(crate) struct BoundRow {
    pub(crate) binding: &'static Binding,
    pub(crate) keys: Vec<Key>,
}

impl BoundRow {
    /// The first key, for a footer.
    pub(crate) fn label(&self) -> String {
        match self.binding.action {
            Action::ChooseOption => format!("1-{}", self.keys.len()),
            _ => self.keys.first().map(label_of).unwrap_or_default(),
        }
    }

    /// All keys, for help and documentation.
    pub(crate) fn labels(&self) -> Vec<String> {
        match self.binding.action {
            Action::ChooseOption => vec![self.label()],
            _ => self.keys.iter().map(label_of).collect(),
        }
    }

    fn works_in(&self, context: Context) -> bool {
        let own = self.binding.context;
        own == context || own == Context::Anywhere && context.has_common_keys()
    }
}

impl Default for Keymap {
    fn default() -> Self {
        let rows = SCREEN_BINDINGS.iter().chain(DIALOG_BINDINGS);
        let rows = rows.map(|binding| BoundRow {
            binding,
            // A test reads every key of the table.
            keys: binding
                .keys
                .iter()
                .filter_map(|name| parse_key(name).ok())
                .collect(),
        });
        Self { rows: rows.collect() }
    }
}

impl Keymap {
    /// The keys of the table with these changes.
    ///
    /// # Errors
    /// If an action or a key does not exist or cannot be changed, or if a key would have two meanings.
    pub fn with_changes(changes: &KeyChanges) -> Result<Self, String> {
        let mut keymap = Self::default();
        for (name, keys) in changes {
            let row = keymap.rows.iter_mut().find(|row| row.binding.name() == *name);
            let Some(row) = row else {
                let name = run_view::one_line(name, 60);
                return Err(format!(
                    "`{name}` is not an action; docs/terminal-ui.md lists all of them"
                ));
            };
            if row.binding.is_fixed() {
                return Err(format!("the keys of `{name}` cannot be changed"));
            }
            if keys.is_empty() {
                return Err(format!("`{name}` needs at least one key"));
            }
            let keys: Result<Vec<Key>, String> = keys.iter().map(|key| parse_key(key)).collect();
            row.keys = keys.map_err(|reason| format!("{name}: {reason}"))?;
            // What cancels, leaves and suspends does so everywhere.
            if let Some(key) = row.keys.iter().find(|key| matches!(key, Key::Control('c' | 'z'))) {
                return Err(format!("{name}: `{}` cannot be used for it", label_of(key)));
            }
            if row.binding.context.is_text()
                && let Some(key) = row.keys.iter().find(|key| is_typed(key))
            {
                let key = label_of(key);
                return Err(format!(
                    "{name}: `{key}` is text in a field; use ctrl or alt with a letter"
                ));
            }
        }
        keymap.check()?;
        Ok(keymap)
    }

    /// A key has one meaning in a context.
    fn check(&self) -> Result<(), String> {
        for context in Context::ALL {
            let mut seen: HashMap<String, &Binding> = HashMap::new();
            for row in self.rows.iter().filter(|row| row.works_in(context)) {
                for key in &row.keys {
                    let label = label_of(key);
                    if let Some(other) = seen.insert(label.clone(), row.binding) {
                        return Err(format!(
                            "`{label}` would be both `{}` and `{}`",
                            other.name(),
                            row.binding.name()
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// What a key does in a context.
    pub(crate) fn action(&self, context: Context, key: &Key) -> Option<Action> {
        self.rows
            .iter()
            .filter(|row| row.works_in(context))
            .find(|row| row.keys.contains(key))
            .map(|row| row.binding.action)
    }

    /// The rows of a context, in the order of the table.
    pub(crate) fn rows(&self, context: Context) -> impl Iterator<Item = &BoundRow> {
        self.rows.iter().filter(move |row| row.binding.context == context)
    }

    /// The rows that a footer can name, the most important first.
    pub(crate) fn footer_rows(&self, context: Context) -> Vec<&BoundRow> {
        let mut rows: Vec<&BoundRow> = self
            .rows
            .iter()
            .filter(|row| row.works_in(context) && row.binding.footer.is_some())
            .collect();
        rows.sort_by_key(|row| (row.binding.footer, row.binding.context != Context::Anywhere));
        rows
    }

    /// `enter change · esc cancel`: the keys of a dialog or field in one line.
    pub(crate) fn hints(&self, context: Context) -> String {
        self.hints_of(context, |_| true)
    }

    /// As [`Self::hints`], without those that do nothing now.
    pub(crate) fn hints_of(&self, context: Context, does_something: impl Fn(Action) -> bool) -> String {
        let rows = self.footer_rows(context);
        let rows = rows.iter().filter(|row| does_something(row.binding.action));
        let hints: Vec<String> = rows
            .map(|row| format!("{} {}", row.label(), row.binding.hint))
            .collect();
        hints.join(" · ")
    }
}

/// A key that is the same for everybody.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FixedHint {
    pub(crate) action: Action,
    pub(crate) label: &'static str,
    pub(crate) hint: &'static str,
}

/// The hints of a context whose keys cannot be changed, the most important first.
pub(crate) fn footer_hints(context: Context) -> Vec<FixedHint> {
    let rows = DIALOG_BINDINGS.iter();
    let mut rows: Vec<&Binding> = rows
        .filter(|row| row.context == context && row.footer.is_some())
        .collect();
    rows.sort_by_key(|row| row.footer);
    let hints = rows.iter().map(|row| FixedHint {
        action: row.action,
        label: row.keys.first().copied().unwrap_or_default(),
        hint: row.hint,
    });
    hints.collect()
}

/// Whether a text field takes this key as text or to edit it.
fn is_typed(key: &Key) -> bool {
    match key {
        Key::Character(character) => *character != '\t',
        Key::Backspace
        | Key::Delete
        | Key::DeleteWord
        | Key::DeleteToStart
        | Key::DeleteToEnd
        | Key::Left
        | Key::Right
        | Key::Home
        | Key::End
        | Key::EndOfInput
        | Key::LineBreak => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use terminal_input::Key;

    use super::{KeyChanges, Keymap};
    use crate::bindings::binding::{Action, Context};

    fn changed(changes: &[(&str, &[&str])]) -> Result<Keymap, String> {
        let changes: KeyChanges = changes
            .iter()
            .map(|(name, keys)| {
                (
                    (*name).to_owned(),
                    keys.iter().map(|key| (*key).to_owned()).collect(),
                )
            })
            .collect();
        Keymap::with_changes(&changes)
    }

    #[test]
    fn every_row_of_the_table_has_keys_a_hint_and_a_sentence() {
        let mut seen: HashSet<(Context, Action)> = HashSet::new();
        for row in &Keymap::default().rows {
            let binding = row.binding;
            assert!(!row.keys.is_empty(), "{}", binding.name());
            assert!(row.labels().iter().all(|label| !label.is_empty()));
            assert!(!binding.hint.is_empty());
            assert!(binding.help.ends_with('.'), "{}", binding.help);
            assert!(
                seen.insert((binding.context, binding.action)),
                "{}",
                binding.name()
            );
        }
        for action in Action::ALL {
            assert!(seen.iter().any(|(_, bound)| bound == action), "{action:?}");
        }
    }

    #[test]
    fn every_key_of_the_table_is_read() {
        for row in &Keymap::default().rows {
            assert_eq!(row.keys.len(), row.binding.keys.len(), "{}", row.binding.name());
        }
        Keymap::default().check().unwrap();
    }

    #[test]
    fn a_changed_key_replaces_those_of_the_table() {
        let keymap = changed(&[("run.stop", &["ctrl-x", "Z"]), ("home.open", &["o"])]).unwrap();
        for (key, action) in [
            (Key::Control('x'), Some(Action::Stop)),
            (Key::Character('Z'), Some(Action::Stop)),
            (Key::Character('X'), None),
        ] {
            assert_eq!(keymap.action(Context::Run, &key), action, "{key:?}");
        }
        assert_eq!(keymap.action(Context::Home, &Key::Enter), None);
        assert_eq!(
            keymap.action(Context::Home, &Key::Character('o')),
            Some(Action::Open)
        );
    }

    #[test]
    fn what_cannot_work_is_refused_with_a_reason() {
        for (name, key, reason) in [
            ("run.stp", "x", "`run.stp` is not an action"),
            ("run.stop", "ctrl-ß", "`ctrl-ß` is not a key"),
            ("run.stop", "ctrl-c", "`ctrl-c` cannot be used"),
            ("run.stop", "ctrl-i", "`ctrl-i` is another key"),
            (
                "run.stop",
                "x",
                "`x` would be both `run.interrupt` and `run.stop`",
            ),
            (
                "run.stop",
                "q",
                "`q` would be both `anywhere.quit` and `run.stop`",
            ),
            (
                "request.allow",
                "n",
                "the keys of `request.allow` cannot be changed",
            ),
            ("new-run.start-run", "s", "`s` is text in a field"),
        ] {
            let refused = changed(&[(name, &[key])]).unwrap_err();
            assert!(refused.contains(reason), "{refused}");
        }
        assert!(changed(&[("run.stop", &[])]).is_err());
    }
}
