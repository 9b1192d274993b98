//! What `ralph run` does.

use std::path::Path;

use ralph_run::{Home, reconcile};

use super::{detach, dry_run, foreground};
use crate::cli::RunArgs;
use crate::console::write_stderr;
use crate::home;
use crate::settings::{Verbosity, load_prompt, load_settings};

/// Runs the loop. Gives what to exit with.
///
/// # Errors
/// When it could not begin: settings, files, locks, the agent.
pub async fn execute(
    args: &RunArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> anyhow::Result<u8> {
    let (settings, warnings) = load_settings(args, variables, cwd)?;
    if settings.view.verbosity != Verbosity::Quiet {
        for warning in &warnings {
            write_stderr(&format!("ralph: {warning}\n"));
        }
    }
    let prompt = load_prompt(&settings.prompt, std::io::stdin().lock())?;
    let versions = home::version_file(variables);
    if settings.dry_run {
        return dry_run::execute(&settings, prompt.as_deref(), versions.as_ref()).await;
    }
    home.prepare()?;
    let reconciled = reconcile(home, jiff::Timestamp::now())?;
    if settings.view.verbosity != Verbosity::Quiet {
        for lost in &reconciled.lost {
            write_stderr(&format!("ralph: run {} was lost: {}\n", lost.id, lost.evidence));
        }
    }
    if settings.detach {
        return detach::execute(home, settings, prompt, versions.as_ref()).await;
    }
    let ended = foreground::run(home, &settings, prompt, versions).await?;
    Ok(ended.exit_code)
}
