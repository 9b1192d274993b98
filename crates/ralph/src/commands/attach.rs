//! `ralph attach`: watches a run from another terminal.

use clap::Args;
use ralph_run::Home;

use super::run_client;
use super::tui;
use super::watch::{self, Leave, watch};
use crate::console::Console;
use crate::keyboard::{KeyboardSetup, Messages};
use crate::settings::{View, ViewArgs};

/// Watch a run from the start
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph attach
  ralph attach g4k7m2 -v
  ralph attach --tui

Keys work as in `ralph run`: m sends a message, y and n answer a request.
Ctrl-C detaches; the run continues. The exit code is the run's.")]
pub struct AttachArgs {
    /// Run id or a unique beginning of it, or `latest`
    #[arg(default_value = "latest")]
    pub run: String,

    /// Start with this record
    #[arg(long, value_name = "SEQ", default_value_t = 1)]
    pub from: u64,

    /// Open the terminal UI
    #[arg(long, conflicts_with_all = ["from", "quiet", "output"], help_heading = "Output")]
    pub tui: bool,

    #[command(flatten)]
    pub view: ViewArgs,
}

/// Shows a run until it ends or the user presses Ctrl-C.
pub async fn execute(args: &AttachArgs, home: &Home, view: &View) -> anyhow::Result<u8> {
    let run = run_client::find_live(home, &args.run)?;
    if tui::opens(args.tui, view) {
        return tui::show_run(home, view, run.id()).await;
    }
    let mut leave = Leave::listen()?;
    let mut options = watch::options(view, Some(&run));
    let keyboard = KeyboardSetup::open(&run, &options, Messages::Taken, "ctrl-c detach");
    options.asks_git = true;
    options.has_keyboard = keyboard.is_some();
    let console = Console::on_stdio(options);
    let watched = watch(&run, args.from, console, keyboard, leave.asked()).await?;
    Ok(watched.exit_code(&run, |code| code))
}
