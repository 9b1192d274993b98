//! Modes: a few settings under one name. `resolve` picks one and puts it between `ralph.yml` and the environment.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::choices::SessionPolicy;
use super::kind::Value;
use super::layer::Layer as _;
use super::prompt::PromptSource;
use super::table::{ModeLayer, SettingsLayer};
use super::values::excerpt;
use yaml_tree::{Node, Problem, Value as Yaml};

/// The tools of a built-in mode. Each agent's profile has its own names for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeTools {
    /// Tools that read a project.
    Planner,
    /// Tools that change a project.
    Coder,
}

/// Modes by name, as `ralph.yml` has them.
pub type Modes = BTreeMap<String, ModeLayer>;

impl Value for Modes {
    fn describe() -> String {
        "mapping of modes".to_owned()
    }

    fn parse(_: &str) -> Result<Self, String> {
        Err("must be a mapping".to_owned())
    }

    fn read(node: &Node, key: &str) -> Result<Self, Problem> {
        node.require_map(&format!("`{key}`"))?;
        let mut modes = Self::new();
        for entry in node.entries() {
            let name = format!("{key}.{}", excerpt(&entry.key));
            entry.value.require_map(&format!("`{name}`"))?;
            let mut mode = ModeLayer::default();
            for inner in entry.value.entries() {
                if inner.value.value != Yaml::Null {
                    mode.read_key(&inner.key, &inner.value, &format!("{name}.{}", inner.key))?;
                }
            }
            modes.insert(entry.key.clone(), mode);
        }
        Ok(modes)
    }

    fn show(&self) -> String {
        self.keys().cloned().collect::<Vec<_>>().join(", ")
    }

    fn anchor(self, base: &std::path::Path) -> Self {
        let anchored = |(name, mode): (String, ModeLayer)| (name, mode.anchored(base));
        self.into_iter().map(anchored).collect()
    }
}

/// A mode, with what is built in.
#[derive(Debug, Clone, Default)]
pub(super) struct Mode {
    pub(super) layer: ModeLayer,
    /// Used unless `tools` is given.
    pub(super) builtin_tools: Option<ModeTools>,
}

/// The built-in modes, with what `ralph.yml` changes about them and adds to them.
pub(super) fn all_modes(own: Option<&Modes>) -> BTreeMap<String, Mode> {
    let planner = Mode {
        layer: ModeLayer {
            session: Some(SessionPolicy::Keep),
            once: Some(true),
            ..ModeLayer::default()
        },
        builtin_tools: Some(ModeTools::Planner),
    };
    let coder = Mode {
        builtin_tools: Some(ModeTools::Coder),
        ..Mode::default()
    };
    let mut modes = BTreeMap::from([("planner".to_owned(), planner), ("coder".to_owned(), coder)]);
    for (name, own) in own.into_iter().flatten() {
        let mode = modes.entry(name.clone()).or_default();
        mode.layer = own.clone().or(std::mem::take(&mut mode.layer));
    }
    modes
}

/// The modes from `start` on by their `next`, each with the index of the one after it. A mode without `next` is
/// followed by the first one, unless it is the only one: then there are no roles.
pub(super) fn roles_from<'a>(
    start: &'a str,
    modes: &'a BTreeMap<String, Mode>,
) -> Vec<(&'a str, &'a Mode, usize)> {
    let mut names = vec![start];
    let mut roles = Vec::new();
    while let Some((&name, mode)) = names.last().and_then(|name| Some((name, modes.get(*name)?))) {
        let next = mode.layer.next.as_deref();
        if next.is_none() && names.len() == 1 {
            return Vec::new();
        }
        let known = next.map_or(Some(0), |next| names.iter().position(|name| *name == next));
        roles.push((name, mode, known.unwrap_or(names.len())));
        match (known, next) {
            (None, Some(next)) => names.push(next),
            (Some(_), _) | (None, None) => break,
        }
    }
    roles
}

impl Mode {
    /// The prompt of the mode, if it has one.
    pub(super) fn prompt(&self) -> Option<PromptSource> {
        let text = self.layer.prompt.clone().map(PromptSource::Text);
        text.or_else(|| self.layer.prompt_file.clone().map(PromptSource::File))
    }

    pub(super) fn settings(&self) -> SettingsLayer {
        let mode = self.layer.clone();
        SettingsLayer {
            tools: mode.tools,
            allowed_tools: mode.allowed_tools,
            system_prompt_file: mode.system_prompt_file,
            append_system_prompt_file: mode.append_system_prompt_file,
            model: mode.model,
            permission_mode: mode.permission_mode,
            ..SettingsLayer::default()
        }
    }
}
