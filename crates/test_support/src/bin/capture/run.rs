//! Runs the scenarios that were asked for.

use crate::conversation::{Outcome, converse};
use crate::index::Index;
use crate::scenario::Scenario;
use crate::{keep, table};
use std::io::{self, Write as _};
use std::path::PathBuf;
use test_support::fake_model::FakeModel;
use test_support::normalise::{Normaliser, Place};
use test_support::real_cli::{RealClaude, Workspace};
use test_support::{bin, fixtures};

/// What the user asked for; nothing = everything.
#[derive(Default)]
pub(crate) struct Selection {
    pub(crate) version: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) directory: Option<PathBuf>,
}

impl Selection {
    fn includes(&self, version: &str, scenario: &Scenario) -> bool {
        self.version.as_deref().is_none_or(|wanted| wanted == version)
            && self.name.as_deref().is_none_or(|wanted| wanted == scenario.name)
    }
}

pub(crate) fn run(selection: &Selection) -> io::Result<()> {
    let directory = selection.directory.clone().unwrap_or_else(fixtures::directory);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut index = Index::open(&directory)?;
    let mut failures = Vec::new();
    for scenario in table::all() {
        for version in scenario
            .versions
            .iter()
            .filter(|version| selection.includes(version, &scenario))
        {
            let captured = runtime.block_on(capture(&scenario, version));
            let (entry, ending) = match captured {
                Ok((outcome, mut normaliser)) => {
                    let entry = keep::write(&directory, version, &scenario, &outcome, &mut normaliser)?;
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

async fn capture(scenario: &Scenario, version: &str) -> io::Result<(Outcome, Normaliser)> {
    let claude = RealClaude::install(version).map_err(io::Error::other)?;
    let server = bin("fake_mcp").map_err(io::Error::other)?;
    let workspace = Workspace::create()?;
    // The same ids each time.
    let model = FakeModel::start_blocking(0, Some(0))?;
    for (name, content) in &scenario.files {
        let path = workspace.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, content)?;
    }
    let here = |run: &crate::scenario::Run| {
        let mut run = run.clone();
        for argument in &mut run.arguments {
            *argument = argument.replace(table::MCP_SERVER, &server.display().to_string());
        }
        run
    };
    for run in &scenario.before {
        converse(&claude, &here(run), &workspace, &model).await?;
    }
    let outcome = converse(&claude, &here(&scenario.run), &workspace, &model).await?;
    let place = Place::default()
        .with_path(&workspace.path(), "/workspace")
        .with_path(&workspace.home(), "/home/user")
        .with_path(workspace.root(), "/sandbox")
        .with_path(&server, table::MCP_SERVER);
    Ok((outcome, Normaliser::new(place)))
}
