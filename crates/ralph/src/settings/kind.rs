//! `Value`: what a setting can hold, and how it is read from a text or from `ralph.yml`. The `layer!` macro uses it for
//! every field.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_api::MicroUsd;
use clap::ValueEnum;
use jiff::SignedDuration;
use ralph_run::control::PermissionChoice;
use serde::{Deserialize, Serialize};

use super::backend::{BackendName, backend_names, parse_backend};
use super::choices::{
    AgentOutput, Auth, ColorChoice, Denials, Output, PromptMode, SessionPolicy, ThemeChoice, Transport,
};
use super::permission::{parse_permission, permission_name, permission_names};
use super::values::{
    Names, choice_names, excerpt, parse_choice, parse_count, parse_duration, parse_money, parse_names,
    parse_switch, parse_text, parse_tokens,
};
use yaml_tree::{Node, Problem, Value as Yaml};

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

/// Implements [`Value`] for types of which the name, the parser and the display are all that differs.
macro_rules! values {
    ($($type:ty: $describe:expr, $expected:expr, $parse:path, $show:expr; { $($other:tt)* })*) => {
        $(impl Value for $type {
            fn describe() -> String {
                $describe.into()
            }

            fn expected() -> String {
                $expected.into()
            }

            fn parse(text: &str) -> Result<Self, String> {
                $parse(text)
            }

            fn show(&self) -> String {
                $show(self)
            }

            $($other)*
        })*
    };
}

values! {
    bool: "true or false", "true or false", parse_switch, Self::to_string; {
        const IS_EMPTY_OFF: bool = true;
    }
    u32: "number", "a number", parse_count, Self::to_string; {
        fn amount(&self) -> Option<u128> {
            Some(u128::from(*self))
        }
    }
    u64: "number", "a number", parse_tokens, Self::to_string; {
        fn amount(&self) -> Option<u128> {
            Some(u128::from(*self))
        }
    }
    MicroUsd: "dollars", "an amount in dollars", parse_money, Self::to_string; {
        fn amount(&self) -> Option<u128> {
            Some(u128::from(self.as_micro_usd()))
        }
    }
    Duration: "duration", "a duration", parse_duration, show_duration; {
        fn amount(&self) -> Option<u128> {
            Some(self.as_nanos())
        }
    }
    String: "text", "text", parse_text, Self::clone; {
        fn check(&self) -> Result<(), String> {
            parse_text(self).map(drop)
        }
    }
    Promise: "text", "text", parse_promise, |promise: &Self| promise.0.clone(); {}
    PathBuf: "path", "text", parse_path, |path: &Self| path.display().to_string(); {
        fn anchor(self, base: &Path) -> Self {
            base.join(self)
        }
    }
    Program: "path", "text", parse_program, |program: &Self| program.0.display().to_string(); {
        fn anchor(self, base: &Path) -> Self {
            if self.0.to_string_lossy().contains(std::path::is_separator) {
                Self(base.join(self.0).components().collect())
            } else {
                self
            }
        }
    }
    BackendName: words(&backend_names()), one_of(&backend_names()), parse_backend, Self::to_string; {}
    PermissionChoice: words(&permission_names()), one_of(&permission_names()), parse_permission, show_permission; {}
}

pub fn show_duration(duration: &Duration) -> String {
    SignedDuration::try_from(*duration).map_or_else(|_| format!("{duration:?}"), |it| format!("{it:#}"))
}

fn show_permission(mode: &PermissionChoice) -> String {
    permission_name(*mode).to_owned()
}

fn parse_path(text: &str) -> Result<PathBuf, String> {
    parse_text(text).map(PathBuf::from)
}

/// The completion promise: it is compared with one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise(pub String);

fn parse_promise(text: &str) -> Result<Promise, String> {
    let promise = parse_text(text)?.trim().to_owned();
    if promise.contains(['\n', '\r']) {
        return Err("must be a single line".to_owned());
    }
    Ok(Promise(promise))
}

/// A program: a bare name is looked up on `PATH`, only a name with a `/` is a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program(pub PathBuf);

fn parse_program(text: &str) -> Result<Program, String> {
    parse_path(text).map(Program)
}

macro_rules! choices {
    ($($choice:ty),*) => {
        values! {
            $($choice: words(&choice_names::<Self>()), one_of(&choice_names::<Self>()), parse_choice, choice_name; {})*
        }
    };
}

choices!(
    AgentOutput,
    Auth,
    ColorChoice,
    Denials,
    Output,
    PromptMode,
    SessionPolicy,
    ThemeChoice,
    Transport
);

fn choice_name(choice: &impl ValueEnum) -> String {
    let value = choice.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

fn words(names: &[String]) -> String {
    format!("`{}`", names.join("`, `"))
}

fn one_of(names: &[String]) -> String {
    format!("one of {}", names.join(", "))
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
        let variable = |entry: &yaml_tree::Entry| {
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
