//! Flag, then variable, then file, then default.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::document::Position;
use super::error::SettingsError;
use super::file::{ConfigFile, items};
use super::table::{Kind, Setting};
use super::values::{parse_names, parse_text};

/// Who decided a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Nobody.
    Default,
    /// `ralph.yml`.
    File,
    /// The mode.
    Mode,
    /// A `RALPH_` variable.
    Environment,
    /// The command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Default => "default",
            Self::File => "ralph.yml",
            Self::Mode => "mode",
            Self::Environment => "environment",
            Self::Flag => "flag",
        })
    }
}

/// A value, and who decided it.
pub(super) type Decided<T> = Option<(T, Origin)>;

/// Looks in one place after the other, and keeps who decided.
pub(super) struct Layers<'a> {
    variables: &'a dyn Fn(&str) -> Option<String>,
    pub(super) file: Option<&'a ConfigFile>,
    pub(super) origins: BTreeMap<String, Origin>,
}

type Parse<T> = fn(&str) -> Result<T, String>;

impl<'a> Layers<'a> {
    pub(super) fn new(variables: &'a dyn Fn(&str) -> Option<String>, file: Option<&'a ConfigFile>) -> Self {
        Self {
            variables,
            file,
            origins: BTreeMap::new(),
        }
    }

    /// A setting that has a default.
    pub(super) fn value<T>(
        &mut self,
        setting: &Setting,
        flag: Option<T>,
        parse: Parse<T>,
    ) -> Result<T, SettingsError> {
        let decided = match self.stated(setting, flag, parse)? {
            Some(decided) => Some(decided),
            None => self.filed(setting, parse)?,
        };
        self.or_default(setting, decided, parse)
    }

    /// A setting without a default.
    pub(super) fn optional<T>(
        &mut self,
        setting: &Setting,
        flag: Option<T>,
        mode: Option<T>,
        parse: Parse<T>,
    ) -> Result<Option<T>, SettingsError> {
        let stated = self.stated(setting, flag, parse)?;
        let decided = match stated.or(mode.map(|value| (value, Origin::Mode))) {
            Some(decided) => Some(decided),
            None => self.filed(setting, parse)?,
        };
        Ok(self.note(setting, decided))
    }

    /// By flag or variable.
    pub(super) fn stated<T>(
        &self,
        setting: &Setting,
        flag: Option<T>,
        parse: Parse<T>,
    ) -> Result<Decided<T>, SettingsError> {
        if let Some(value) = flag {
            return Ok(Some((value, Origin::Flag)));
        }
        let Some(text) = self.variable(setting) else {
            return Ok(None);
        };
        let value = parse(&text).map_err(|message| SettingsError::Environment {
            name: setting.variable.to_owned(),
            message,
        })?;
        Ok(Some((value, Origin::Environment)))
    }

    /// By `ralph.yml`.
    pub(super) fn filed<T>(&self, setting: &Setting, parse: Parse<T>) -> Result<Decided<T>, SettingsError> {
        let Some((text, position)) = self.file.and_then(|file| file.scalar(setting)) else {
            return Ok(None);
        };
        let value = parse(text).map_err(|message| self.wrong(setting, position, &message))?;
        Ok(Some((value, Origin::File)))
    }

    pub(super) fn or_default<T>(
        &mut self,
        setting: &Setting,
        decided: Decided<T>,
        parse: Parse<T>,
    ) -> Result<T, SettingsError> {
        let (value, origin) = match decided {
            Some(decided) => decided,
            None => {
                let wrong =
                    |message| SettingsError::Conflict(format!("the default of {} {message}", setting.name()));
                (parse(setting.default).map_err(wrong)?, Origin::Default)
            }
        };
        self.origins.insert(setting.name().to_owned(), origin);
        Ok(value)
    }

    pub(super) fn note<T>(&mut self, setting: &Setting, decided: Decided<T>) -> Option<T> {
        let (value, origin) =
            decided.map_or((None, Origin::Default), |(value, origin)| (Some(value), origin));
        self.origins.insert(setting.name().to_owned(), origin);
        value
    }

    /// A list of names.
    pub(super) fn names(
        &mut self,
        setting: &Setting,
        flag: Option<Vec<String>>,
        mode: Option<Vec<String>>,
    ) -> Result<Option<Vec<String>>, SettingsError> {
        let parse = |text: &str| parse_names(text).map(|names| names.0);
        let stated = self.stated(setting, flag, parse)?;
        let decided = stated.or(mode.map(|names| (names, Origin::Mode))).or_else(|| {
            let node = self.file?.node(setting)?;
            Some((split_names(&items(node)), Origin::File))
        });
        Ok(self.note(setting, decided))
    }

    /// A list of lines. Flags replace the file's.
    pub(super) fn lines(
        &mut self,
        setting: &Setting,
        flags: &[String],
    ) -> Result<Vec<String>, SettingsError> {
        for line in flags {
            parse_text(line)
                .map_err(|message| SettingsError::Usage(format!("{} {message}", setting.flag)))?;
        }
        let decided = if flags.is_empty() {
            let node = self.file.and_then(|file| file.node(setting));
            node.map(|node| (items(node).into_iter().map(str::to_owned).collect(), Origin::File))
        } else {
            Some((flags.to_vec(), Origin::Flag))
        };
        Ok(self.note(setting, decided).unwrap_or_default())
    }

    fn variable(&self, setting: &Setting) -> Option<String> {
        if setting.variable.is_empty() {
            return None;
        }
        let text = (self.variables)(setting.variable)?;
        // An empty variable turns a switch off; elsewhere it decides nothing.
        (matches!(setting.kind, Kind::Switch) || !text.trim().is_empty()).then_some(text)
    }

    fn wrong(&self, setting: &Setting, position: Position, message: &str) -> SettingsError {
        let message = format!("`{}` {message}", setting.name());
        match self.file {
            Some(file) => file.fail(position, message),
            None => SettingsError::Conflict(message),
        }
    }
}

/// Each item of a list may hold several names.
pub(super) fn split_names(items: &[&str]) -> Vec<String> {
    let names = items.iter().filter_map(|item| parse_names(item).ok());
    names.flat_map(|names| names.0).collect()
}
