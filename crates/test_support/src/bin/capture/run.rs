//! Runs the scenarios that were asked for.

use crate::conversation::{Outcome, converse};
use crate::index::Index;
use crate::keep::Written;
use crate::scenario::{Run, Scenario, Step};
use crate::{keep, table};
use std::io::{self, Write as _};
use std::path::PathBuf;
use test_support::fake_model::FakeModel;
use test_support::normalise::{Normaliser, Place};
use test_support::real_cli::{Agent, RealCli, Workspace};
use test_support::{bin, fixtures};

/// What the user asked for; nothing = everything of Claude Code.
pub(crate) struct Selection {
    pub(crate) agent: Agent,
    pub(crate) version: Option<String>,
    pub(crate) names: Vec<String>,
    pub(crate) directory: Option<PathBuf>,
}

impl Selection {
    fn includes(&self, version: &str, scenario: &Scenario) -> bool {
        self.version.as_deref().is_none_or(|wanted| wanted == version)
            && (self.names.is_empty() || self.names.iter().any(|wanted| wanted == scenario.name))
    }

    /// The first name that no scenario has.
    fn unknown<'a>(&'a self, scenarios: &[Scenario]) -> Option<&'a String> {
        let is_known = |name: &String| scenarios.iter().any(|scenario| scenario.name == name);
        self.names.iter().find(|name| !is_known(name))
    }
}

pub(crate) fn run(selection: &Selection) -> io::Result<()> {
    let scenarios = table::of(selection.agent);
    if let Some(name) = selection.unknown(&scenarios) {
        return Err(io::Error::other(format!("no scenario is called `{name}`")));
    }
    let kept = || fixtures::directory_of(selection.agent.name());
    let directory = selection.directory.clone().unwrap_or_else(kept);
    std::fs::create_dir_all(&directory)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut index = Index::open(&directory)?;
    let mut failures = Vec::new();
    for scenario in scenarios {
        for version in scenario
            .versions
            .iter()
            .filter(|version| selection.includes(version, &scenario))
        {
            let captured = runtime.block_on(capture(&scenario, version));
            let (entry, ending) = match captured {
                Ok(mut captured) => {
                    let outcome = &captured.outcome;
                    let written = Written {
                        version,
                        scenario: &scenario,
                        run: &captured.run,
                        outcome,
                    };
                    let entry = keep::write(&directory, &written, &mut captured.normaliser)?;
                    (Some(entry), format!("{:?}", outcome.ending))
                }
                Err(error) => {
                    failures.push(format!("{version}/{}", scenario.name));
                    (None, format!("failed: {error}"))
                }
            };
            writeln!(io::stderr(), "{version:8} {:28} {ending}", scenario.name)?;
            if let Some(entry) = entry {
                index.put(entry);
                index.save()?;
            }
        }
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(io::Error::other(format!("not captured: {}", failures.join(", "))))
    }
}

/// What came of a scenario.
struct Captured {
    /// As it was run, with everything filled in.
    run: Run,
    outcome: Outcome,
    normaliser: Normaliser,
}

async fn capture(scenario: &Scenario, version: &str) -> io::Result<Captured> {
    let cli = RealCli::install(scenario.agent, version).map_err(io::Error::other)?;
    let server = bin("fake_mcp").map_err(io::Error::other)?;
    let workspace = Workspace::create()?;
    // The same ids each time.
    let model = FakeModel::start_blocking(0, Some(0))?;
    scenario.agent.write_settings(&workspace, model.base_url())?;
    let server_path = server.display().to_string();
    for (name, content) in &scenario.files {
        let path = workspace.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, content.replace(table::MCP_SERVER, &server_path))?;
    }
    let mut session = String::new();
    let directory = workspace.path().display().to_string();
    let here = |run: &Run, session: &str| {
        let mut run = run.clone();
        for argument in &mut run.arguments {
            *argument = argument
                .replace(table::MCP_SERVER, &server_path)
                .replace(table::SESSION_BEFORE, session);
        }
        for step in &mut run.steps {
            if let Step::Send(line) = step {
                let filled = line
                    .to_string()
                    .replace(table::DIRECTORY, &directory)
                    .replace(table::SESSION_BEFORE, session);
                // Neither has a character that JSON escapes, so that it is a line still.
                *line = serde_json::from_str(&filled).unwrap_or_default();
            }
        }
        run
    };
    for run in &scenario.before {
        let outcome = converse(&cli, &here(run, &session), &workspace, &model).await?;
        session = outcome.session().unwrap_or(session);
    }
    let run = here(&scenario.run, &session);
    let outcome = converse(&cli, &run, &workspace, &model).await?;
    let place = Place::default()
        .with_path(&workspace.path(), "/workspace")
        .with_path(&workspace.home(), "/home/user")
        .with_path(workspace.root(), "/sandbox")
        .with_path(cli.directory(), &format!("/opt/{}", scenario.agent.name()))
        .with_path(&server, table::MCP_SERVER);
    Ok(Captured {
        run,
        outcome,
        normaliser: Normaliser::new(place),
    })
}
