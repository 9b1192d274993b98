//! `ralph interrupt`: end the agent's turn.

use clap::Args;
use ralph_run::Home;
use ralph_run::control::ControlCommand;

use super::run_client;
use crate::console::{Port, one_line};

/// End the agent's turn; a loop ends with it
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph interrupt latest")]
pub struct InterruptArgs {
    /// The run: its id, the first characters of its short part, or `latest`
    pub run: String,
}

/// Interrupts a run.
///
/// # Errors
/// When there is no such run, or it has ended.
pub async fn execute(args: &InterruptArgs, home: &Home, out: &mut dyn Port) -> anyhow::Result<u8> {
    let run = run_client::find_to_control(home, &args.run)?;
    let receipt = run_client::ask(&run, ControlCommand::Interrupt).await?;
    let id = run.id();
    out.send(&if let Some(note) = receipt.note {
        format!("run {id}: {}\n", one_line(&note, 200))
    } else if receipt.is_already_done {
        format!("run {id} is being interrupted already\n")
    } else {
        format!("interrupted run {id}\n")
    });
    Ok(0)
}
