//! `Author`: the agent that wrote a recording, and the mapper for it.

use std::io::BufRead;
use std::path::Path;

use agent_api::backends::acp::Acp;
use agent_api::backends::custom::Custom;
use agent_api::{AgentKind, AgentRegistry, Backend, Mapper};
use anyhow::Context as _;
use demo_agent::Demo;
use ralph_run::RunFile;

use crate::settings::BackendName;

/// How many lines of a recording are looked at.
const FIRST_LINES: usize = 50;

/// The agent that wrote a recording.
pub(super) struct Author {
    pub(super) kind: AgentKind,
    pub(super) display_name: String,
    pub(super) mapper: Box<dyn Mapper>,
}

impl Author {
    /// The agent that the caller names; else the one of the run whose log this is; else the one that the log directory
    /// is named after; else the one that recognises the first lines.
    pub(super) fn find(
        path: &Path,
        named: Option<&BackendName>,
        reader: &mut impl BufRead,
    ) -> anyhow::Result<Self> {
        let registry = all_agents()?;
        if let Some(name) = named.filter(|name| !name.is_auto()) {
            let backend = registry.backend(name.as_str())?;
            return Self::of(backend.as_ref(), None)
                .with_context(|| format!("recordings of `{name}` cannot be played"));
        }
        if let Some(author) = Self::by_place(path, &registry) {
            return Ok(author);
        }
        let first = reader
            .fill_buf()
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        let lines: Vec<&[u8]> = first
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.trim_ascii().is_empty())
            .take(FIRST_LINES)
            .collect();
        let recognised = registry
            .recognise(&lines)
            .and_then(|backend| Self::of(backend.as_ref(), None));
        recognised.with_context(|| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            if lines.is_empty() {
                return format!("`{file}` is empty: there is nothing to play");
            }
            let names: Vec<&str> = registry
                .backends()
                .map(|backend| backend.profile().name())
                .collect();
            format!(
                "`{file}` is neither a run's journal nor output that ralph recognises. If you know which agent wrote it, \
                 add `--backend NAME`: {}",
                names.join(", ")
            )
        })
    }

    /// By the run whose log this is, or by the name of the log directory.
    fn by_place(path: &Path, registry: &AgentRegistry) -> Option<Self> {
        if let Some(run) = run_of(path) {
            let backend = registry.backend(run.backend.as_str()).ok()?;
            return Self::of(backend.as_ref(), Some(run.display_name));
        }
        let folder = path.parent()?.file_name()?.to_str()?;
        Self::of(registry.backend(folder).ok()?.as_ref(), None)
    }

    fn of(backend: &dyn Backend, display_name: Option<String>) -> Option<Self> {
        let profile = backend.profile();
        Some(Self {
            kind: profile.kind.clone(),
            display_name: display_name.unwrap_or_else(|| profile.display_name.to_owned()),
            mapper: backend.replay_mapper()?,
        })
    }
}

/// The registry, with the agents that need settings for a run.
fn all_agents() -> Result<AgentRegistry, agent_api::Error> {
    AgentRegistry::builtin()
        .with(Custom::new("", [""; 0]))?
        .with(Acp::custom("", [""; 0]))?
        .with(Demo::reexec())
}

/// The run whose raw log this is.
fn run_of(path: &Path) -> Option<RunFile> {
    let run = path.parent()?.parent()?;
    RunFile::load(&run.join("run.json")).ok()
}
