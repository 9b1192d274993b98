//! Modes: a few settings under one name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::choices::{PermissionMode, SessionPolicy};
use super::document::{Node, Value};
use super::file::{ConfigFile, items};
use super::layers::split_names;
use super::table::MODES;
use super::values::{parse_choice, parse_switch};

/// A few settings under one name. They count more than the rest of `ralph.yml`, and less than a variable or a flag.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mode {
    /// The only tools there are.
    pub tools: Option<Vec<String>>,
    /// Tools that need no permission.
    pub allowed_tools: Option<Vec<String>>,
    /// Replaces the agent's system prompt.
    pub system_prompt_file: Option<PathBuf>,
    /// Added to the agent's system prompt.
    pub append_system_prompt_file: Option<PathBuf>,
    /// The model.
    pub model: Option<String>,
    /// What happens without asking.
    pub permission_mode: Option<PermissionMode>,
    /// What an iteration starts with.
    pub session: SessionPolicy,
    /// Whether one iteration is all.
    pub once: bool,
}

/// The mode that was asked for, or the empty one.
pub(super) struct ActiveMode {
    pub(super) name: Option<String>,
    pub(super) mode: Mode,
}

pub(super) const PLANNER: &str = "planner";
const CODER: &str = "coder";
const PLANNER_TOOLS: [&str; 2] = ["Read", "Bash"];
const CODER_TOOLS: [&str; 6] = ["Read", "Edit", "Write", "Bash", "Glob", "Grep"];

/// The built-in modes, with what `ralph.yml` changes about them and adds to them.
pub(super) fn resolve_modes(file: Option<&ConfigFile>, workspace: &Path) -> BTreeMap<String, Mode> {
    let tools = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let planner = Mode {
        tools: tools(&PLANNER_TOOLS),
        session: SessionPolicy::Keep,
        once: true,
        ..Mode::default()
    };
    let coder = Mode {
        tools: tools(&CODER_TOOLS),
        ..Mode::default()
    };
    let mut modes = BTreeMap::from([(PLANNER.to_owned(), planner), (CODER.to_owned(), coder)]);
    let stated = file.and_then(|file| file.node(&MODES));
    for entry in stated.map_or(&[][..], Node::entries) {
        modes
            .entry(entry.key.clone())
            .or_default()
            .change(&entry.value, workspace);
    }
    modes
}

impl Mode {
    /// What is of the wrong kind has been refused when the file was read.
    fn change(&mut self, node: &Node, workspace: &Path) {
        let text = |key: &str| match &node.get(key)?.value {
            Value::Scalar(text) => Some(text.as_str()),
            Value::Null | Value::List(_) | Value::Map(_) => None,
        };
        let names = |key: &str| node.get(key).map(|list| split_names(&items(list)));
        let path = |key: &str| text(key).map(|path| workspace.join(path));
        fill(&mut self.tools, names("tools"));
        fill(&mut self.allowed_tools, names("allowed_tools"));
        fill(&mut self.system_prompt_file, path("system_prompt_file"));
        fill(
            &mut self.append_system_prompt_file,
            path("append_system_prompt_file"),
        );
        fill(&mut self.model, text("model").map(str::to_owned));
        fill(
            &mut self.permission_mode,
            text("permission_mode").and_then(|text| parse_choice(text).ok()),
        );
        if let Some(session) = text("session").and_then(|text| parse_choice(text).ok()) {
            self.session = session;
        }
        if let Some(once) = text("once").and_then(|text| parse_switch(text).ok()) {
            self.once = once;
        }
    }
}

fn fill<T>(field: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *field = value;
    }
}
