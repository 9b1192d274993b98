//! `settle`: adds what a run spent to the account of its task, if its runner died before it could.

use std::path::Path;

use agent_api::MicroUsd;
use jiff::Timestamp;

use crate::home::Home;
use crate::state::{RunFile, StateError, WorkspaceFiles};

/// Adds what the run has cost and the account of its task does not have yet. The comparison and the change are one step
/// under the account's lock, so it is added once, however many look and wherever the runner or one of them was killed.
/// A workspace that is gone has no account, and does not keep a run from ending.
pub(super) fn settle(home: &Home, file: &mut RunFile, cost: Option<MicroUsd>, at: Timestamp) {
    // Runs without a task are not added up.
    let (Some(task), Some(cost)) = (file.task.clone(), cost) else {
        return;
    };
    let accounted = file.status.accounted_cost.unwrap_or_default();
    if cost <= accounted {
        return;
    }
    match book(home, file, &task, cost, at) {
        Ok(()) => file.status.accounted_cost = Some(cost),
        Err(error) => {
            tracing::warn!(%error, run = file.run_id, "the cost of a lost run could not be added to its task");
        }
    }
}

fn book(home: &Home, file: &RunFile, task: &str, cost: MicroUsd, at: Timestamp) -> Result<(), StateError> {
    let files = WorkspaceFiles::prepare(home, Path::new(&file.workspace))?;
    let accounted = file.status.accounted_cost.unwrap_or_default();
    files.update_budget_if(
        task,
        at,
        |account| {
            // Somebody has started an account for another task since.
            let is_later =
                accounted > MicroUsd::ZERO || account.booked.iter().any(|booked| booked.run_id > file.run_id);
            account.task.as_deref() == Some(task) || !is_later
        },
        |account| account.book(&file.run_id, cost, accounted),
    )
}
