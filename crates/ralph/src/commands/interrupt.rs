//! `ralph interrupt`: end the agent's turn.

use ralph_run::Home;
use ralph_run::control::ControlCommand;

use super::reach;
use crate::console::{Port, one_line};

/// Interrupts the run that is named by its id, the start of it, or `latest`.
///
/// # Errors
/// When there is no such run, or it has ended.
pub async fn execute(run: &str, home: &Home, out: &mut dyn Port) -> anyhow::Result<u8> {
    let run = reach::find(home, run)?;
    let receipt = reach::ask(&run, ControlCommand::Interrupt).await?;
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
