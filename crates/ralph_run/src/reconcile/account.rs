//! `settle`: adds what a run has cost to the account of its task, if its runner could not. Used by `reconcile`.

use std::path::Path;

use agent_api::MicroUsd;
use jiff::Timestamp;

use crate::home::Home;
use crate::state::{RunFile, StateError, WorkspaceFiles};

/// Adds what the run has cost and the account of its task does not have yet. The comparison and the change are one step
/// under the account's lock, so the cost is added once, however many processes reconcile and wherever one was killed.
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
    let charged = WorkspaceFiles::prepare(home, Path::new(&file.workspace))
        .map_err(StateError::from)
        .and_then(|files| files.charge(&task, at, &file.run_id, cost, accounted));
    match charged {
        Ok(()) => file.status.accounted_cost = Some(cost),
        Err(error) => {
            tracing::warn!(%error, run = file.run_id, "the cost of a run could not be added to its task");
        }
    }
}
