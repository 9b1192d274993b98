//! `ralph help`: the help page of a command, and the settings reference.

use clap::Args;

use crate::cli;
use crate::console::{terminal_width, write_stdout};
use crate::failure::Failure;
use crate::settings::render_settings_help;

/// Print the help of a command, or every setting
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph help run
  ralph help config         every setting: key, flag, variable, default
  ralph help config cost    settings whose name contains `cost`")]
pub struct HelpArgs {
    /// A command, or `config` and parts of setting names
    #[arg(value_name = "COMMAND|config")]
    pub topic: Vec<String>,
}

/// The width of a help page where the terminal does not say its own.
const USUAL_COLUMNS: usize = 80;
/// Longer lines are hard to read.
const MAX_COLUMNS: usize = 100;

/// Prints the page.
pub fn execute(args: &HelpArgs) -> anyhow::Result<u8> {
    let columns = terminal_width().unwrap_or(USUAL_COLUMNS).min(MAX_COLUMNS);
    write_stdout(&render_help(&args.topic, columns)?);
    Ok(0)
}

/// The page about a command or the settings.
pub fn render_help(topic: &[String], columns: usize) -> Result<String, Failure> {
    if let Some((first, names)) = topic.split_first()
        && first == "config"
    {
        return render_settings_help(names, columns).ok_or_else(|| {
            Failure::usage(format!(
                "no setting has `{}` in its name; `ralph help config` lists all",
                names.join(" ")
            ))
        });
    }
    let mut command = cli::command().term_width(columns);
    command.build();
    for word in topic {
        let found = command.find_subcommand(word).cloned();
        command = found.ok_or_else(|| {
            Failure::usage(format!(
                "no help for `{}`; `ralph help` lists the commands",
                topic.join(" ")
            ))
        })?;
    }
    Ok(command.render_long_help().to_string())
}
