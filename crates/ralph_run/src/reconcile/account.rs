//! What a lost run spent goes to its task's account.

use std::path::Path;

use agent_api::MicroUsd;
use jiff::Timestamp;

use crate::home::Home;
use crate::state::{Booked, RunFile, StateError, WorkspaceFiles};

/// Adds what the run has cost and the account of its task does not have yet. However often it is tried, and wherever
/// the runner or we ourselves were killed, it is added once. A workspace that is gone has no account, and does not keep
/// a run from ending.
pub(super) fn settle(home: &Home, file: &mut RunFile, cost: Option<MicroUsd>, at: Timestamp) {
    // Runs without a task are not added up.
    let (Some(task), Some(cost)) = (file.task.clone(), cost) else {
        return;
    };
    if cost <= file.status.accounted_cost.unwrap_or_default() {
        return;
    }
    match add(home, file, &task, cost, at) {
        Ok(()) => file.status.accounted_cost = Some(cost),
        Err(error) => {
            tracing::warn!(%error, run = file.run_id, "what a lost run spent could not be added to its task's account");
        }
    }
}

fn add(home: &Home, file: &RunFile, task: &str, cost: MicroUsd, at: Timestamp) -> Result<(), StateError> {
    let files = WorkspaceFiles::prepare(home, Path::new(&file.workspace))?;
    let account = files.budget(Some(task), at)?.value;
    // The account was written before the run's file was.
    let booked = account.booked.filter(|booked| booked.run_id == file.run_id);
    let accounted = booked
        .map(|booked| booked.cost)
        .max(file.status.accounted_cost)
        .unwrap_or_default();
    // An account without what this run put there is a newer one: somebody began anew, or with another task.
    if cost <= accounted || account.total_cost < accounted {
        return Ok(());
    }
    let owed = MicroUsd::new(cost.as_micro_usd() - accounted.as_micro_usd());
    files.update_budget(Some(task), at, |state| {
        state.total_cost += owed;
        state.booked = Some(Booked {
            run_id: file.run_id.clone(),
            cost,
        });
    })?;
    Ok(())
}
