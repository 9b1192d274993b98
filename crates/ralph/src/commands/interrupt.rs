//! `ralph interrupt`: interrupts the agent's turn.

use std::io::Write;

use clap::Args;
use ralph_run::Home;
use ralph_run::control::ControlCommand;

use super::run_client;
use crate::console::write_text;
use run_view::one_line;

/// Interrupt the agent's turn; a loop ends with it
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph interrupt latest")]
pub struct InterruptArgs {
    /// Run id or a unique beginning of it, or `latest`
    pub run: String,
}

/// Interrupts a run.
pub async fn execute(args: &InterruptArgs, home: &Home, out: &mut dyn Write) -> anyhow::Result<u8> {
    let run = run_client::find_to_control(home, &args.run)?;
    let receipt = run_client::ask(&run, ControlCommand::Interrupt).await?;
    let id = run.id();
    write_text(
        out,
        &if let Some(note) = receipt.note {
            format!("run {id}: {}\n", one_line(&note, 200))
        } else if receipt.is_already_done {
            format!("run {id} is being interrupted already\n")
        } else {
            format!("interrupted run {id}\n")
        },
    );
    Ok(0)
}
