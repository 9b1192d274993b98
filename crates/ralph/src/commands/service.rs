//! `ralph service`: lets the system start `ralph agents up` and keep it running.

mod manager;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use ralph_run::{Durability, write_atomic};

use super::agents::refuse_agents;
use crate::console::{render_json_pretty, write_text};
use manager::{Manager, Step};

/// Keep agents up in the background, as a service of your user
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(
    disable_help_subcommand = true,
    arg_required_else_help = true,
    after_help = "Examples:
  ralph service install
  ralph service status
  ralph service uninstall

The service runs `ralph agents up`: a systemd user unit on Linux, a launch agent
on macOS. Runs continue when it stops."
)]
pub struct ServiceArgs {
    #[command(subcommand)]
    pub command: ServiceCommand,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub enum ServiceCommand {
    Install(ServiceInstallArgs),
    Uninstall(ServiceUninstallArgs),
    Status(ServiceStatusArgs),
}

/// Write the unit, enable it and start it
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph service install
  ralph service install --no-start     only write the unit

Agents get the PATH and the RALPH_ and XDG_ variables of this shell, and no
others: store keys in each agent's own login.")]
pub struct ServiceInstallArgs {
    /// Only write the unit
    #[arg(long)]
    pub no_start: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Stop the service and remove its unit; runs continue
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph service uninstall")]
pub struct ServiceUninstallArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Show whether the service is installed and running
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph service status
  ralph service status --json

Exits with 1 if it is not running.")]
pub struct ServiceStatusArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Carries out the command. Gives the exit code.
pub fn execute(
    args: &ServiceArgs,
    variables: &dyn Fn(&str) -> Option<String>,
    out: &mut dyn Write,
) -> anyhow::Result<u8> {
    if !matches!(args.command, ServiceCommand::Status(_)) {
        refuse_agents(variables)?;
    }
    let manager = Manager::of_this_system(variables)?;
    match &args.command {
        ServiceCommand::Install(args) => install(args, &manager, out),
        ServiceCommand::Uninstall(args) => uninstall(args, &manager, out),
        ServiceCommand::Status(args) => status(args, &manager, out),
    }
}

fn install(args: &ServiceInstallArgs, manager: &Manager, out: &mut dyn Write) -> anyhow::Result<u8> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let passed = std::env::vars()
        .filter(|(name, _)| is_passed_on(name))
        .collect::<Vec<_>>();
    let text = manager.unit(&program, &passed)?;
    if let Some(folder) = manager.path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    }
    // Private: a variable may hold the address of a webhook.
    write_atomic(&manager.path, text.as_bytes(), Durability::Synced)
        .with_context(|| format!("cannot write `{}`", manager.path.display()))?;
    let mut done = vec![format!("wrote {}", manager.path.display())];
    let mut exit_code = 0;
    if !args.no_start {
        exit_code = perform(&manager.start, &mut done);
    }
    if exit_code == 0 && !args.no_start {
        done.extend(manager.hint.map(str::to_owned));
    }
    report(args.json, &manager.path, &done, out)?;
    Ok(exit_code)
}

/// What the service needs of this shell's environment to find agents and state. Keys are left out: units can be read by
/// every program of the user.
fn is_passed_on(name: &str) -> bool {
    let is_secret = ["KEY", "TOKEN", "SECRET", "PASSWORD"]
        .iter()
        .any(|word| name.contains(word));
    let is_wanted = name == "PATH"
        || matches!(
            name,
            "XDG_STATE_HOME" | "XDG_CONFIG_HOME" | "XDG_DATA_HOME" | "XDG_CACHE_HOME"
        )
        || name.starts_with("RALPH_");
    let is_of_server =
        name.starts_with("RALPH_SERVER_") || name.starts_with("RALPH_DATABASE") || name == "RALPH_RUN_ID";
    is_wanted && !is_secret && !is_of_server
}

fn uninstall(args: &ServiceUninstallArgs, manager: &Manager, out: &mut dyn Write) -> anyhow::Result<u8> {
    let mut done = Vec::new();
    if !manager.path.exists() {
        done.push("the service is not installed".to_owned());
        report(args.json, &manager.path, &done, out)?;
        return Ok(0);
    }
    let exit_code = perform(&manager.stop, &mut done);
    match fs::remove_file(&manager.path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot remove `{}`", manager.path.display()));
        }
        _ => done.push(format!("removed {}", manager.path.display())),
    }
    done.push("active runs continue; `ralph stop --all` ends them".to_owned());
    report(args.json, &manager.path, &done, out)?;
    Ok(exit_code)
}

fn status(args: &ServiceStatusArgs, manager: &Manager, out: &mut dyn Write) -> anyhow::Result<u8> {
    let is_installed = manager.path.exists();
    let is_running = is_installed && manager.is_running();
    let text = if args.json {
        render_json_pretty(&serde_json::json!({
            "unit": manager.path,
            "is_installed": is_installed,
            "is_running": is_running,
        }))?
    } else {
        let path = manager.path.display();
        match (is_installed, is_running) {
            (false, _) => "the service is not installed; run `ralph service install`\n".to_owned(),
            (true, false) => format!("the service is installed ({path}) and not running\n"),
            (true, true) => format!("the service is running ({path})\n"),
        }
    };
    write_text(out, &text);
    Ok(u8::from(!is_running))
}

/// Runs the commands in order. Of one that fails, the user is told how to run it by hand.
fn perform(steps: &[Step], done: &mut Vec<String>) -> u8 {
    for step in steps {
        match step.run() {
            Ok(()) => done.push(format!("ran {step}")),
            Err(error) => {
                done.push(format!("could not run {step}: {error}; run it yourself"));
                return 1;
            }
        }
    }
    0
}

fn report(is_json: bool, path: &PathBuf, done: &[String], out: &mut dyn Write) -> anyhow::Result<()> {
    let text = match is_json {
        true => render_json_pretty(&serde_json::json!({"unit": path, "steps": done}))?,
        false => done.iter().map(|line| format!("{line}\n")).collect(),
    };
    write_text(out, &text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_passed_on;

    #[test]
    fn the_service_gets_places_and_settings_and_no_secrets() {
        for name in ["PATH", "XDG_STATE_HOME", "RALPH_MODEL", "RALPH_PERMISSION_MODE"] {
            assert!(is_passed_on(name), "{name}");
        }
        for name in [
            "ANTHROPIC_API_KEY",
            "RALPH_SERVER_TOKEN",
            "RALPH_API_KEY",
            "RALPH_DATABASE",
            "RALPH_RUN_ID",
            "EDITOR",
            "XDG_RUNTIME_DIR",
        ] {
            assert!(!is_passed_on(name), "{name}");
        }
    }
}
