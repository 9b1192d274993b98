//! `NotifySettings`: which notifications a run sends, and how. The `notify` module sends them.

use std::path::{Path, is_separator};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::error::SettingsError;
use super::kind::{Value, wrong_kind};
use super::table::SettingsLayer;
use super::values::{choice_names, excerpt, parse_choice, parse_text};
use yaml_tree::{Node, Problem, Value as Yaml};

/// What a notification is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum NotifyOn {
    /// The run waits for a person or for a usage limit
    Waiting,
    /// The run warns
    Warning,
    /// The run has ended
    Ended,
}

/// A list of events, as in `waiting,ended`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifyEvents(pub Vec<NotifyOn>);

/// A command line for the shell, or a program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotifyCommand {
    Shell(String),
    Program(Vec<String>),
}

/// An address of a webhook. Its path may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WebhookUrl(pub String);

/// Which notifications a run sends, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotifySettings {
    pub on: Vec<NotifyOn>,
    pub bell: bool,
    pub desktop: bool,
    pub command: Option<NotifyCommand>,
    pub webhook: Option<WebhookUrl>,
    /// The environment variable with the key of the signature.
    pub webhook_secret_env: Option<String>,
}

impl NotifySettings {
    pub(super) fn resolve(effective: &SettingsLayer) -> Result<Self, SettingsError> {
        let is_on = effective.notify.unwrap_or(true);
        if effective.notify_webhook_secret_env.is_some() && effective.notify_webhook.is_none() {
            return Err(SettingsError::Conflict(
                "`notify.webhook_secret_env` needs `notify.webhook`".to_owned(),
            ));
        }
        Ok(Self {
            on: effective
                .notify_on
                .clone()
                .filter(|_| is_on)
                .map(|events| events.0)
                .unwrap_or_default(),
            bell: is_on && effective.notify_bell.unwrap_or_default(),
            desktop: is_on && effective.notify_desktop.unwrap_or_default(),
            command: effective.notify_command.clone().filter(|_| is_on),
            webhook: effective.notify_webhook.clone().filter(|_| is_on),
            webhook_secret_env: effective.notify_webhook_secret_env.clone().filter(|_| is_on),
        })
    }

    /// Whether no channel is configured.
    pub fn is_empty(&self) -> bool {
        !self.bell && !self.desktop && self.command.is_none() && self.webhook.is_none()
    }
}

impl Value for NotifyEvents {
    fn describe() -> String {
        format!("list of `{}`", choice_names::<NotifyOn>().join("`, `"))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        words.map(parse_choice).collect::<Result<_, _>>().map(Self)
    }

    fn read(node: &Node, key: &str) -> Result<Self, Problem> {
        let events = Vec::<String>::read(node, key)?;
        Self::parse(&events.join(",")).map_err(|message| (node.at, format!("an item of `{key}` {message}")))
    }

    fn show(&self) -> String {
        let names = self.0.iter().filter_map(ValueEnum::to_possible_value);
        names
            .map(|name| name.get_name().to_owned())
            .collect::<Vec<_>>()
            .join(",")
    }
}

impl Value for NotifyCommand {
    fn describe() -> String {
        "command line, or list of words".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        parse_text(text).map(Self::Shell)
    }

    fn read(node: &Node, key: &str) -> Result<Self, Problem> {
        match &node.value {
            Yaml::Scalar(text) => {
                Self::parse(text).map_err(|message| (node.at, format!("`{key}` {message}")))
            }
            Yaml::List(items) if !items.is_empty() => Vec::<String>::read(node, key).map(Self::Program),
            Yaml::List(_) | Yaml::Null | Yaml::Map(_) => {
                Err(wrong_kind(node, key, "a command line or a list of words"))
            }
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Shell(line) => line.clone(),
            Self::Program(words) => shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default(),
        }
    }

    /// A program with a `/` in its name is a path of the workspace.
    fn anchor(self, base: &Path) -> Self {
        match self {
            Self::Program(mut words) => {
                if let Some(program) = words.first_mut().filter(|program| program.contains(is_separator)) {
                    *program = base.join(&*program).display().to_string();
                }
                Self::Program(words)
            }
            Self::Shell(line) => Self::Shell(line),
        }
    }
}

impl Value for WebhookUrl {
    fn describe() -> String {
        "URL".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let url = parse_text(text)?.trim().to_owned();
        let rest = url
            .strip_prefix("https://")
            .or_else(|| url.strip_prefix("http://"));
        let is_valid = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
            && !url.contains(|character: char| character.is_whitespace() || character.is_control());
        match is_valid {
            true => Ok(Self(url)),
            false => Err(format!(
                "must be an https:// or http:// address, not `{}`",
                excerpt(text)
            )),
        }
    }

    /// Only the server: the path may be a secret.
    fn show(&self) -> String {
        let (scheme, rest) = self.0.split_once("://").unwrap_or(("https", ""));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        format!("{scheme}://{host}/…")
    }
}
