//! `ralph.yml`.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::document::{Node, Position, Value, parse_document};
use super::error::{SettingsError, Warning};
use super::file_check::check_document;
use super::table::Setting;

/// What the file is called; it stands at the top of the workspace.
pub const CONFIG_FILE: &str = "ralph.yml";

/// More is not a configuration.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A `ralph.yml` in which every known key has a value of the right kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    path: PathBuf,
    root: Node,
    warnings: Vec<Warning>,
}

impl ConfigFile {
    /// Reads the workspace's file, if it has one.
    ///
    /// # Errors
    /// If it cannot be read, is not YAML, or has a value of the wrong kind.
    pub fn load(workspace: &Path) -> Result<Option<Self>, SettingsError> {
        let path = workspace.join(CONFIG_FILE);
        let unreadable = |error| SettingsError::Unreadable {
            path: path.clone(),
            error,
        };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        let mut text = String::new();
        file.take(MAX_FILE_BYTES + 1)
            .read_to_string(&mut text)
            .map_err(unreadable)?;
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(unreadable(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "it is larger than 1 MiB",
            )));
        }
        Self::parse(&path, &text).map(Some)
    }

    /// Takes a text as the content of a file.
    ///
    /// # Errors
    /// If it is not YAML, or has a value of the wrong kind.
    pub fn parse(path: &Path, text: &str) -> Result<Self, SettingsError> {
        let failed = |(position, message)| SettingsError::File {
            path: path.to_owned(),
            position,
            message,
        };
        let root = parse_document(text).map_err(failed)?;
        let unknown = check_document(&root).map_err(failed)?;
        let warnings = unknown.into_iter().map(|(position, message)| Warning {
            path: path.to_owned(),
            position,
            message,
        });
        Ok(Self {
            path: path.to_owned(),
            warnings: warnings.collect(),
            root,
        })
    }

    /// What is probably not meant so.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    pub(super) fn node(&self, setting: &Setting) -> Option<&Node> {
        self.at(setting.key).or_else(|| self.at(setting.short_key))
    }

    /// A single value.
    pub(super) fn scalar(&self, setting: &Setting) -> Option<(&str, Position)> {
        let node = self.node(setting)?;
        match &node.value {
            Value::Scalar(text) => Some((text, node.at)),
            Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    pub(super) fn fail(&self, position: Position, message: impl Into<String>) -> SettingsError {
        SettingsError::File {
            path: self.path.clone(),
            position,
            message: message.into(),
        }
    }

    fn at(&self, key: &str) -> Option<&Node> {
        if key.is_empty() {
            return None;
        }
        key.split('.').try_fold(&self.root, Node::get)
    }
}

/// The words of a list, or the one of a single value.
pub(super) fn items(node: &Node) -> Vec<&str> {
    match &node.value {
        Value::Scalar(text) => vec![text],
        Value::List(nodes) => nodes.iter().flat_map(items).collect(),
        Value::Null | Value::Map(_) => Vec::new(),
    }
}
