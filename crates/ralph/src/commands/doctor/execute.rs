//! What `ralph doctor` does.

use std::path::Path;

use ralph_run::Home;
use serde::Serialize;

use super::agents::{self, Agent};
use super::check::{Check, Level};
use super::{machine, render};
use crate::cli::{DoctorArgs, RunArgs};
use crate::commands::listing::render_json;
use crate::console::write_stdout;
use crate::settings::{
    CONFIG_FILE, Context, Settings, SettingsError, find_workspace, load_settings, resolve,
};

/// What was found.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// Whether a run can start.
    pub(super) is_ready: bool,
    pub(super) ralph_version: &'static str,
    pub(super) agents: Vec<Agent>,
    pub(super) protection: Vec<Check>,
    pub(super) directories: Vec<Check>,
    pub(super) settings: Vec<Check>,
}

/// Looks at everything a run needs, and says what is missing.
///
/// # Errors
/// When nothing can be looked at.
pub async fn execute(
    args: &DoctorArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> anyhow::Result<u8> {
    let (settings, checks) = settings(variables, cwd)?;
    let agents = agents::find(&settings, variables).await?;
    let directories = machine::directories(home, &settings.workspace).await;
    let is_broken = checks
        .iter()
        .chain(&directories)
        .any(|check| check.level == Level::Failed);
    let report = Report {
        is_ready: !is_broken && agents.iter().any(|agent| agent.is_usable && agent.is_real),
        ralph_version: env!("CARGO_PKG_VERSION"),
        agents,
        protection: machine::protection(),
        directories,
        settings: checks,
    };
    write_stdout(&if args.json {
        render_json(&report)?
    } else {
        render::render(&report)
    });
    Ok(u8::from(!report.is_ready))
}

/// The settings of a run that would start here. Where they are wrong, the defaults stand in for them.
fn settings(
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> Result<(Settings, Vec<Check>), SettingsError> {
    let workspace = find_workspace(None, cwd)?;
    let has_file = workspace.join(CONFIG_FILE).exists();
    let args = RunArgs::default();
    match load_settings(&args, variables, cwd) {
        Ok((settings, warnings)) => {
            let mut checks = vec![if has_file {
                Check::ok(CONFIG_FILE, workspace.join(CONFIG_FILE).display().to_string())
            } else {
                Check::ok(CONFIG_FILE, "none here, the defaults hold").advise("`ralph init` writes one")
            }];
            checks.extend(
                warnings
                    .iter()
                    .map(|warning| Check::warning(CONFIG_FILE, warning.to_string())),
            );
            Ok((settings, checks))
        }
        Err(error) => {
            let context = Context {
                cwd: cwd.to_owned(),
                workspace,
            };
            let (settings, _) = resolve(&args, &|_| None, None, &context)?;
            Ok((settings, vec![Check::failed("settings", error.to_string())]))
        }
    }
}
