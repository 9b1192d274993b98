//! `ralph doctor`: whether a run can start here, and what to do if not.

mod agents;
mod check;
mod login;
mod machine;
mod render;

use std::path::Path;

use clap::Args;
use ralph_run::Home;
use serde::Serialize;

use self::agents::Agent;
use self::check::{Check, Level};
use crate::commands::run::{RunArgs, check_start};
use crate::console::{render_json_pretty, write_stdout};
use crate::settings::{
    CONFIG_FILE, Context, Settings, SettingsError, find_workspace, open_file, resolve, unknown_variables,
};
use crate::trust::Policy;

/// Check agents, logins, directories and settings
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph doctor
  ralph doctor --json

Exits with 0 if a run can start, otherwise with 1.")]
pub struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    /// Whether a run can start.
    is_ready: bool,
    /// The error that `ralph run` would report.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_error: Option<String>,
    /// The backend of the settings, unless ralph chooses one.
    backend: Option<String>,
    ralph_version: &'static str,
    agents: Vec<Agent>,
    protection: Vec<Check>,
    directories: Vec<Check>,
    settings: Vec<Check>,
}

/// Checks everything a run needs and prints a report.
pub async fn execute(
    args: &DoctorArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> anyhow::Result<u8> {
    let FoundSettings {
        settings,
        checks,
        refusal,
    } = settings(home, variables, cwd)?;
    let agents = agents::find(&settings, variables).await?;
    let directories = machine::directories(home, &settings.workspace);
    let is_broken = checks
        .iter()
        .chain(&directories)
        .any(|check| check.level == Level::Failed);
    let backend = Some(&settings.agent.backend)
        .filter(|backend| !backend.is_auto())
        .map(ToString::to_string);
    let can_run = |agent: &Agent| match &backend {
        Some(backend) => agent.is_usable && agent.backend == *backend,
        None => agent.is_usable && agent.is_real,
    };
    let start_error = match refusal {
        Some(refusal) => Some(refusal),
        None => check_start(&settings)
            .await
            .err()
            .map(|error| format!("{error:#}")),
    };
    let report = Report {
        is_ready: !is_broken && start_error.is_none() && agents.iter().any(can_run),
        start_error,
        backend,
        ralph_version: env!("CARGO_PKG_VERSION"),
        agents,
        protection: machine::protection(),
        directories,
        settings: checks,
    };
    write_stdout(&if args.json {
        render_json_pretty(&report)?
    } else {
        render::render(&report)
    });
    Ok(u8::from(!report.is_ready))
}

/// The settings of a run that would start here; the defaults if they are invalid.
struct FoundSettings {
    settings: Settings,
    checks: Vec<Check>,
    /// Why no run starts, if `ralph.yml` needs to be trusted first.
    refusal: Option<String>,
}

fn settings(
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> Result<FoundSettings, SettingsError> {
    let workspace = find_workspace(None, cwd)?;
    let has_file = workspace.join(CONFIG_FILE).exists();
    let args = RunArgs::default();
    let opened = open_file(None, cwd, &Policy::as_stored(home));
    let loaded = opened.and_then(|opened| Ok((opened.resolve(&args, variables)?, opened)));
    match loaded {
        Ok(((settings, warnings), opened)) => {
            let refusal = Some(opened.refusal()).filter(|refusal| !refusal.is_empty());
            let level = match refusal {
                Some(_) => Level::Failed,
                None => Level::Warning,
            };
            let mut checks = vec![if has_file {
                Check::ok(CONFIG_FILE, workspace.join(CONFIG_FILE).display().to_string())
            } else {
                Check::ok(CONFIG_FILE, "not found, using defaults").advise("`ralph init` writes one")
            }];
            checks.extend(opened.notice().map(|notice| Check::new("trust", level, notice)));
            checks.extend(
                warnings
                    .iter()
                    .map(|warning| Check::warning(CONFIG_FILE, warning.to_string())),
            );
            let unknown = unknown_variables(std::env::vars_os().map(|(name, _)| name));
            checks.extend(
                unknown
                    .into_iter()
                    .map(|warning| Check::warning("environment", warning)),
            );
            Ok(FoundSettings {
                settings,
                checks,
                refusal,
            })
        }
        Err(error) => {
            let context = Context {
                cwd: cwd.to_owned(),
                workspace,
            };
            let (settings, _) = resolve(&args, &|_| None, None, &context)?;
            Ok(FoundSettings {
                settings,
                checks: vec![Check::failed("settings", error.to_string())],
                refusal: Some("fix the settings first".to_owned()),
            })
        }
    }
}
