//! `--name value` pairs, shared by all subcommands.

use std::collections::BTreeMap;

/// What was given on the command line.
pub struct Arguments(BTreeMap<String, String>);

impl Arguments {
    /// Reads `--name value` pairs; `known` names are accepted.
    pub fn parse(given: impl Iterator<Item = String>, known: &[&str]) -> Result<Self, String> {
        let mut values = BTreeMap::new();
        let mut given = given;
        while let Some(option) = given.next() {
            let name = option.strip_prefix("--").filter(|name| known.contains(name));
            let name =
                name.ok_or_else(|| format!("unknown option `{option}`; known: {}", known.join(", ")))?;
            let value = given.next().ok_or_else(|| format!("`{option}` needs a value"))?;
            values.insert(name.to_owned(), value);
        }
        Ok(Self(values))
    }

    /// A text, or its default.
    pub fn text(&self, name: &str, default: &str) -> String {
        self.0.get(name).cloned().unwrap_or_else(|| default.to_owned())
    }

    /// A number, or its default.
    pub fn number(&self, name: &str, default: usize) -> Result<usize, String> {
        match self.0.get(name) {
            Some(text) => text
                .parse()
                .map_err(|_| format!("`--{name}` needs a number, not `{text}`")),
            None => Ok(default),
        }
    }
}
