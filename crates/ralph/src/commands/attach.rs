//! `ralph attach`: watch a run from another terminal.

use clap::Args;
use ralph_run::{EndReason, Home};

use super::run_client;
use super::watch::{self, Leave, Watch, watch};
use crate::console::Console;
use crate::settings::{View, ViewArgs};

/// Watch a run, from its beginning
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph attach
  ralph attach g4k7m2 -v

Ctrl-C leaves; the run goes on. The exit code is the run's.")]
pub struct AttachArgs {
    /// The run: its id, the first characters of its short part, or `latest`
    #[arg(default_value = "latest")]
    pub run: String,

    /// Begin with this record
    #[arg(long, value_name = "SEQ", default_value_t = 1)]
    pub from: u64,

    /// How it is shown.
    #[command(flatten)]
    pub view: ViewArgs,
}

/// Watches a run in this terminal until it is over or Ctrl-C is pressed.
///
/// # Errors
/// When there is no such run, or its runner died.
pub async fn execute(args: &AttachArgs, home: &Home, view: &View) -> anyhow::Result<u8> {
    let run = run_client::find_live(home, &args.run)?;
    let mut leave = Leave::listen()?;
    let console = Console::on_stdio(watch::options(view, Some(&run)));
    Ok(match watch(&run, args.from, console, leave.asked()).await? {
        Watch::Ended(code) => code,
        Watch::Left(code) => {
            watch::note_left(&run);
            // Ctrl-C is how one leaves: nothing has failed.
            if code == EndReason::Interrupted.exit_code() {
                0
            } else {
                code
            }
        }
        Watch::Closed => EndReason::OutputClosed.exit_code(),
    })
}
