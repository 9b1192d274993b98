//! `Value`: what a setting can hold, and how it is read from a text or from `ralph.yml`. The `layer!` macro uses it for
//! every field.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_api::MicroUsd;
use clap::ValueEnum;
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::backend::{BackendName, backend_names, parse_backend};
use super::choices::{
    AgentOutput, Auth, ColorChoice, Denials, Output, PermissionMode, PromptMode, SessionPolicy, Transport,
};
use super::document::{Node, Problem, Value as Yaml};
use super::values::{
    Names, choice_names, excerpt, parse_choice, parse_count, parse_duration, parse_money, parse_names,
    parse_switch, parse_text, parse_tokens,
};

pub(super) trait Value: Sized {
    /// An empty variable means "off" instead of "not given".
    const IS_EMPTY_OFF: bool = false;

    /// For the reference.
    fn describe() -> String;

    /// For "must be …, not a list".
    fn expected() -> String {
        format!("a {}", Self::describe())
    }

    fn parse(text: &str) -> Result<Self, String>;

    /// Reads a node that is not null.
    fn read(node: &Node, key: &str) -> Result<Self, Problem> {
        match &node.value {
            Yaml::Scalar(text) => {
                Self::parse(text).map_err(|message| (node.at, format!("`{key}` {message}")))
            }
            _ => Err(wrong_kind(node, key, &Self::expected())),
        }
    }

    fn show(&self) -> String;

    /// What parsing would refuse, for values that clap has made.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    fn anchor(self, _base: &Path) -> Self {
        self
    }

    fn is_zero(&self) -> bool {
        self.amount() == Some(0)
    }

    /// For limits.
    fn amount(&self) -> Option<u128> {
        None
    }
}

pub(super) fn wrong_kind(node: &Node, key: &str, expected: &str) -> Problem {
    (
        node.at,
        format!("`{key}` must be {expected}, not {}", node.describe()),
    )
}

impl Value for bool {
    const IS_EMPTY_OFF: bool = true;

    fn describe() -> String {
        "true or false".to_owned()
    }

    fn expected() -> String {
        Self::describe()
    }

    fn parse(text: &str) -> Result<Self, String> {
        parse_switch(text)
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for u32 {
    fn describe() -> String {
        "number".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        parse_count(text)
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn amount(&self) -> Option<u128> {
        Some(u128::from(*self))
    }
}

impl Value for u64 {
    fn describe() -> String {
        "number".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        parse_tokens(text)
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn amount(&self) -> Option<u128> {
        Some(u128::from(*self))
    }
}

impl Value for MicroUsd {
    fn describe() -> String {
        "dollars".to_owned()
    }

    fn expected() -> String {
        "an amount in dollars".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        parse_money(text)
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn amount(&self) -> Option<u128> {
        Some(u128::from(self.as_micro_usd()))
    }
}

impl Value for Duration {
    fn describe() -> String {
        "duration".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        parse_duration(text)
    }

    fn show(&self) -> String {
        SignedDuration::try_from(*self)
            .map_or_else(|_| format!("{self:?}"), |duration| format!("{duration:#}"))
    }

    fn amount(&self) -> Option<u128> {
        Some(self.as_nanos())
    }
}

impl Value for String {
    fn describe() -> String {
        "text".to_owned()
    }

    fn expected() -> String {
        Self::describe()
    }

    fn parse(text: &str) -> Result<Self, String> {
        parse_text(text)
    }

    fn show(&self) -> String {
        self.clone()
    }

    fn check(&self) -> Result<(), String> {
        parse_text(self).map(drop)
    }
}

/// The completion promise: it is compared with one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise(pub String);

impl Value for Promise {
    fn describe() -> String {
        String::describe()
    }

    fn expected() -> String {
        String::expected()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let promise = parse_text(text)?.trim().to_owned();
        if promise.contains(['\n', '\r']) {
            return Err("must be a single line".to_owned());
        }
        Ok(Self(promise))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

impl Value for PathBuf {
    fn describe() -> String {
        "path".to_owned()
    }

    fn expected() -> String {
        "text".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        parse_text(text).map(Self::from)
    }

    fn show(&self) -> String {
        self.display().to_string()
    }

    fn anchor(self, base: &Path) -> Self {
        base.join(self)
    }
}

/// A program: a bare name is looked up on `PATH`, only a name with a `/` is a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program(pub PathBuf);

impl Value for Program {
    fn describe() -> String {
        PathBuf::describe()
    }

    fn expected() -> String {
        PathBuf::expected()
    }

    fn parse(text: &str) -> Result<Self, String> {
        PathBuf::parse(text).map(Self)
    }

    fn show(&self) -> String {
        self.0.show()
    }

    fn anchor(self, base: &Path) -> Self {
        if self.0.to_string_lossy().contains(std::path::is_separator) {
            Self(base.join(self.0).components().collect())
        } else {
            self
        }
    }
}

impl Value for BackendName {
    fn describe() -> String {
        words(&backend_names())
    }

    fn expected() -> String {
        format!("one of {}", backend_names().join(", "))
    }

    fn parse(text: &str) -> Result<Self, String> {
        parse_backend(text)
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

macro_rules! choices {
    ($($choice:ty),*) => {
        $(impl Value for $choice {
            fn describe() -> String {
                words(&choice_names::<Self>())
            }

            fn expected() -> String {
                format!("one of {}", choice_names::<Self>().join(", "))
            }

            fn parse(text: &str) -> Result<Self, String> {
                parse_choice(text)
            }

            fn show(&self) -> String {
                self.to_possible_value()
                    .map_or_else(String::new, |value| value.get_name().to_owned())
            }
        })*
    };
}

choices!(
    AgentOutput,
    Auth,
    ColorChoice,
    Denials,
    Output,
    PermissionMode,
    PromptMode,
    SessionPolicy,
    Transport
);

fn words(names: &[String]) -> String {
    format!("`{}`", names.join("`, `"))
}

/// The items of a list, or the one of a single value.
fn read_items<T>(
    node: &Node,
    key: &str,
    expected: &str,
    parse: fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, Problem> {
    let nodes = match &node.value {
        Yaml::Scalar(text) => {
            let item = parse(text).map_err(|message| (node.at, format!("`{key}` {message}")))?;
            return Ok(vec![item]);
        }
        Yaml::List(nodes) => nodes,
        Yaml::Null | Yaml::Map(_) => return Err(wrong_kind(node, key, expected)),
    };
    let read = |inner: &Node| match &inner.value {
        Yaml::Scalar(text) => {
            parse(text).map_err(|message| (inner.at, format!("an item of `{key}` {message}")))
        }
        _ => Err((
            inner.at,
            format!("an item of `{key}` must be text, not {}", inner.describe()),
        )),
    };
    nodes.iter().map(read).collect()
}

impl Value for Names {
    fn describe() -> String {
        "list of names".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        parse_names(text)
    }

    /// Each item may hold several names.
    fn read(node: &Node, key: &str) -> Result<Self, Problem> {
        let items = read_items(node, key, &Self::expected(), parse_names)?;
        Ok(Self(items.into_iter().flat_map(|names| names.0).collect()))
    }

    fn show(&self) -> String {
        self.0.join(",")
    }
}

impl Value for Vec<String> {
    fn describe() -> String {
        "list".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        parse_text(text).map(|line| vec![line])
    }

    fn read(node: &Node, key: &str) -> Result<Self, Problem> {
        read_items(node, key, &Self::expected(), parse_text)
    }

    fn show(&self) -> String {
        self.join("; ")
    }

    fn check(&self) -> Result<(), String> {
        self.iter().try_for_each(|line| parse_text(line).map(drop))
    }
}

/// Environment variables for an agent; one without a value is removed.
pub type Variables = BTreeMap<String, Option<String>>;

impl Value for Variables {
    fn describe() -> String {
        "mapping of text".to_owned()
    }

    fn parse(_: &str) -> Result<Self, String> {
        Err("must be a mapping".to_owned())
    }

    fn read(node: &Node, key: &str) -> Result<Self, Problem> {
        node.require_map(&format!("`{key}`"))?;
        let variable = |entry: &super::document::Entry| {
            let name = excerpt(&entry.key);
            if entry.key.is_empty() || entry.key.contains(['=', '\0']) {
                return Err((entry.at, format!("`{name}` cannot name a variable")));
            }
            let value = match &entry.value.value {
                Yaml::Scalar(text) => Some(text.clone()),
                Yaml::Null => None,
                Yaml::List(_) | Yaml::Map(_) => {
                    return Err(wrong_kind(&entry.value, &format!("{key}.{name}"), "text"));
                }
            };
            Ok((entry.key.clone(), value))
        };
        node.entries().iter().map(variable).collect()
    }

    /// Only the names: a value may be a secret.
    fn show(&self) -> String {
        self.keys().cloned().collect::<Vec<_>>().join("; ")
    }
}
