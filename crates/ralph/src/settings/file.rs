//! `ConfigFile`: a `ralph.yml` as the file layer of the settings. `resolve` uses it.

use std::path::{Path, PathBuf};

use super::error::{SettingsError, Warning};
use super::layer::{Layer as _, Setting};
use super::suggest::nearest_key;
use super::table::{SETTINGS, SettingsLayer, ViewArgs, mode_keys};
use super::values::excerpt;
use yaml_tree::{Entry, Node, Position, Problem, Value, parse_document};

/// The file's name; it is at the top of the workspace.
pub const CONFIG_FILE: &str = "ralph.yml";

const SECTIONS: [&str; 6] = ["cli", "acp", "event_loop", "watch", "notify", "worktree"];

/// A section has keys. `watch: false` is a setting of its own.
fn is_section(entry: &Entry) -> bool {
    let is_setting = matches!(entry.value.value, Value::Scalar(_)) && setting_named(&entry.key).is_some();
    SECTIONS.contains(&entry.key.as_str()) && !is_setting
}

/// A `ralph.yml` in which every known key has a value of the right type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    path: PathBuf,
    root: Node,
    pub(super) settings: SettingsLayer,
    pub(super) view: ViewArgs,
    warnings: Vec<Warning>,
}

/// A key that a file sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// The setting, as in the reference: `verify`, `cli.env`, `modes.*.tools`.
    pub setting: String,
    /// The same with the names that the file has: `verify`, `cli.env.NAME`, `modes.NAME.tools`.
    pub key: String,
    /// Its value, or the values of a list. Empty for an empty list and for a variable that is removed.
    pub values: Vec<String>,
}

impl ConfigFile {
    pub fn parse(path: &Path, text: &str) -> Result<Self, SettingsError> {
        let failed = |(position, message)| SettingsError::File {
            path: path.to_owned(),
            position,
            message,
        };
        let root = parse_document(text).map_err(failed)?;
        let mut file = Self {
            path: path.to_owned(),
            settings: SettingsLayer::default(),
            view: ViewArgs::default(),
            warnings: Vec::new(),
            root: Node {
                at: root.at,
                value: Value::Null,
            },
        };
        file.read(&root).map_err(failed)?;
        file.root = root;
        Ok(file)
    }

    /// Every known key that the file sets. `trust` decides about each.
    pub fn entries(&self) -> Vec<FileEntry> {
        let mut entries = Vec::new();
        for entry in self.root.entries() {
            if is_section(entry) {
                for inner in entry.value.entries() {
                    let key = format!("{}.{}", entry.key, inner.key);
                    entries.extend(entries_of(&key, &inner.value));
                }
            } else {
                entries.extend(entries_of(&entry.key, &entry.value));
            }
        }
        entries
    }

    /// The file with only those of its known keys that `keep` accepts. A mode is removed as a whole if one of its keys
    /// is: without its list of tools it would mean something else.
    ///
    /// # Errors
    /// If what is left has a value of the wrong type; it had one before, then.
    pub fn retain(mut self, keep: impl Fn(&FileEntry) -> bool) -> Result<Self, SettingsError> {
        let keep: &dyn Fn(&FileEntry) -> bool = &keep;
        if let Value::Map(entries) = &mut self.root.value {
            entries.retain_mut(|entry| retain_entry(entry, keep));
        }
        let root = self.root.clone();
        self.settings = SettingsLayer::default();
        self.view = ViewArgs::default();
        self.warnings.clear();
        let path = self.path.clone();
        let failed = |(position, message)| SettingsError::File {
            path,
            position,
            message,
        };
        self.read(&root).map_err(failed)?;
        Ok(self)
    }

    /// Unknown and repeated keys.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Stops at the first value of the wrong type.
    fn read(&mut self, root: &Node) -> Result<(), Problem> {
        root.require_map("the file")?;
        for entry in root.entries() {
            if is_section(entry) {
                entry.value.require_map(&format!("`{}`", entry.key))?;
                for inner in entry.value.entries() {
                    self.read_entry(inner, &format!("{}.{}", entry.key, inner.key))?;
                }
            } else {
                self.read_entry(entry, &entry.key)?;
            }
        }
        self.warn_of_repeated(root);
        Ok(())
    }

    fn read_entry(&mut self, entry: &Entry, key: &str) -> Result<(), Problem> {
        if setting_named(key).is_none() {
            self.warn_of_unknown(entry, key);
        } else if entry.value.value != Value::Null {
            self.settings.read_key(key, &entry.value, key)?;
            self.view.read_key(key, &entry.value, key)?;
        }
        if key == "modes" {
            for mode in entry.value.entries() {
                let is_unknown = |entry: &&Entry| !mode_keys().any(|known| known == entry.key);
                for entry in mode.value.entries().iter().filter(is_unknown) {
                    self.warn_of_unknown(entry, &format!("modes.{}.{}", excerpt(&mode.key), entry.key));
                }
            }
        }
        Ok(())
    }

    fn warn_of_unknown(&mut self, entry: &Entry, key: &str) {
        let mut message = format!("unknown key `{}`", excerpt(key));
        if let Some(known) = nearest_key(key) {
            message.push_str(&format!(", did you mean `{known}`?"));
        }
        self.warn(entry.at, message);
    }

    /// A setting under both of its keys: the longer one counts.
    fn warn_of_repeated(&mut self, root: &Node) {
        for setting in SETTINGS.iter() {
            if let (Some(_), Some(node)) = (root.at_key(setting.key), root.at_key(setting.short_key)) {
                let (short, long) = (setting.short_key, setting.key);
                self.warn(node.at, format!("`{short}` is ignored, as there is `{long}`"));
            }
        }
    }

    fn warn(&mut self, position: Position, message: String) {
        self.warnings.push(Warning {
            path: self.path.clone(),
            position,
            message,
        });
    }

    /// An error about the value of a key.
    pub(super) fn fail(&self, key: &str, message: impl Into<String>) -> SettingsError {
        self.fail_at(self.root.at_key(key), message.into())
    }

    /// An error about the value of a mode's key.
    pub(super) fn fail_in_mode(&self, mode: &str, key: &str, message: String) -> SettingsError {
        let modes = self.root.get("modes");
        self.fail_at(
            modes.and_then(|modes| modes.get(mode)?.get(key)),
            format!("`modes.{}.{key}`: {message}", excerpt(mode)),
        )
    }

    fn fail_at(&self, node: Option<&Node>, message: String) -> SettingsError {
        SettingsError::File {
            path: self.path.clone(),
            position: node.map_or_else(Position::default, |node| node.at),
            message,
        }
    }
}

fn setting_named(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.has_key(key))
}

/// What one key of the file sets.
fn entries_of(key: &str, node: &Node) -> Vec<FileEntry> {
    let Some(setting) = setting_named(key) else {
        return Vec::new();
    };
    if setting.key == "modes" {
        return node.entries().iter().flat_map(mode_entries).collect();
    }
    if setting.key.ends_with(".env") {
        return node
            .entries()
            .iter()
            .map(|entry| variable(setting, entry))
            .collect();
    }
    if node.value == Value::Null {
        return Vec::new();
    }
    vec![FileEntry {
        setting: setting.key.to_owned(),
        key: setting.key.to_owned(),
        values: texts(node),
    }]
}

fn variable(setting: &Setting, entry: &Entry) -> FileEntry {
    FileEntry {
        setting: setting.key.to_owned(),
        key: format!("{}.{}", setting.key, entry.key),
        values: texts(&entry.value),
    }
}

fn mode_entries(mode: &Entry) -> Vec<FileEntry> {
    let entries = mode.value.entries().iter();
    let entries = entries.filter(|entry| entry.value.value != Value::Null);
    entries
        .map(|entry| FileEntry {
            setting: format!("modes.*.{}", entry.key),
            key: format!("modes.{}.{}", mode.key, entry.key),
            values: texts(&entry.value),
        })
        .collect()
}

/// Whether something of a top-level entry stays.
fn retain_entry(entry: &mut Entry, keep: &dyn Fn(&FileEntry) -> bool) -> bool {
    if is_section(entry) {
        if let Value::Map(inner) = &mut entry.value.value {
            let section = &entry.key;
            inner.retain_mut(|inner| {
                let key = format!("{section}.{}", inner.key);
                retain_value(&key, &mut inner.value, keep)
            });
        }
        return true;
    }
    retain_value(&entry.key, &mut entry.value, keep)
}

fn retain_value(key: &str, node: &mut Node, keep: &dyn Fn(&FileEntry) -> bool) -> bool {
    let Some(setting) = setting_named(key) else {
        return true;
    };
    match &mut node.value {
        Value::Map(modes) if setting.key == "modes" => {
            modes.retain(|mode| mode_entries(mode).iter().all(keep));
            true
        }
        Value::Map(variables) if setting.key.ends_with(".env") => {
            variables.retain(|entry| keep(&variable(setting, entry)));
            true
        }
        _ => entries_of(key, node).iter().all(keep),
    }
}

/// The words of a list, or the one of a single value.
fn texts(node: &Node) -> Vec<String> {
    match &node.value {
        Value::Scalar(text) => vec![text.clone()],
        Value::List(nodes) => nodes.iter().flat_map(texts).collect(),
        Value::Map(entries) => {
            let pairs = entries
                .iter()
                .map(|entry| (&entry.key, texts(&entry.value).join(" ")));
            pairs.map(|(key, value)| format!("{key} {value}")).collect()
        }
        Value::Null => Vec::new(),
    }
}
