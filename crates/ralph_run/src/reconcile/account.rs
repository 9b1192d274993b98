//! What a lost run spent goes to its task's account.

use std::path::Path;

use agent_api::MicroUsd;
use jiff::Timestamp;

use crate::home::Home;
use crate::state::{RunFile, StateError, WorkspaceFiles};

/// Adds what the run has cost and the account of its task does not have yet. The caller saves the run's file next, so
/// that it is added once. A workspace that is gone has no account, and does not keep a run from ending.
pub(super) fn settle(home: &Home, file: &mut RunFile, cost: Option<MicroUsd>, at: Timestamp) {
    // Runs without a task are not added up.
    let Some(task) = file.task.clone() else { return };
    let accounted = file.status.accounted_cost.unwrap_or_default();
    let Some(cost) = cost.filter(|cost| *cost > accounted) else {
        return;
    };
    let owed = MicroUsd::new(cost.as_micro_usd() - accounted.as_micro_usd());
    match add(home, Path::new(&file.workspace), &task, (accounted, owed), at) {
        Ok(()) => file.status.accounted_cost = Some(cost),
        Err(error) => {
            tracing::warn!(%error, run = file.run_id, "what a lost run spent could not be added to its task's account");
        }
    }
}

fn add(
    home: &Home,
    workspace: &Path,
    task: &str,
    (accounted, owed): (MicroUsd, MicroUsd),
    at: Timestamp,
) -> Result<(), StateError> {
    let files = WorkspaceFiles::prepare(home, workspace)?;
    // An account without what this run put there is a newer one: somebody began anew, or with another task.
    if files.budget(Some(task), at)?.value.total_cost < accounted {
        return Ok(());
    }
    files.update_budget(Some(task), at, |state| state.total_cost += owed)?;
    Ok(())
}
