//! `Upkeep`: what the machine that has the runs does for them: records the end of lost runs, fills the index, removes old
//! runs. Started by the server.

use std::sync::Arc;
use std::time::Duration;

use ralph_run::{Home, reconcile};
use ralph_store::{RetentionRules, Store, catch_up_runs};
use tokio::task::JoinSet;

use crate::live::{Hub, restarted};
use crate::retention::retire;

/// How often the runs on disk are compared with the index.
const CATCH_UP_INTERVAL: Duration = Duration::from_secs(60);
/// How soon it is tried again after a failure.
const RETRY_DELAY: Duration = Duration::from_secs(2);
/// How often old runs are removed, and how soon after the start.
const RETENTION_INTERVAL: Duration = Duration::from_secs(3600);
const FIRST_RETENTION_DELAY: Duration = Duration::from_secs(10);
/// How often runs whose runner died are looked for.
const RECONCILE_INTERVAL: Duration = Duration::from_secs(2);

/// The upkeep of the runs in a [`Home`].
#[derive(Clone)]
pub(crate) struct Upkeep {
    pub(crate) home: Home,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) live: Arc<Hub>,
    pub(crate) retention: RetentionRules,
}

impl Upkeep {
    /// Starts everything.
    pub(crate) fn spawn(self, tasks: &mut JoinSet<()>) {
        let upkeep = self.clone();
        tasks.spawn(restarted("looking for lost runs", move || {
            upkeep.clone().end_lost_runs()
        }));
        let upkeep = self.clone();
        tasks.spawn(restarted("catching up", move || upkeep.clone().fill_index()));
        if self.retention != RetentionRules::default() {
            tasks.spawn(restarted("removing old runs", move || {
                self.clone().remove_old_runs()
            }));
        }
    }

    /// Ends runs whose runner died, for ever.
    async fn end_lost_runs(self) {
        loop {
            let home = self.home.clone();
            let reconciled =
                tokio::task::spawn_blocking(move || reconcile(&home, jiff::Timestamp::now())).await;
            match reconciled {
                Ok(Ok(found)) => {
                    for lost in &found.lost {
                        tracing::warn!(run = lost.id, evidence = lost.evidence, "a run was lost");
                    }
                }
                Ok(Err(error)) => tracing::warn!(%error, "runs whose runner died cannot be looked for"),
                Err(error) => tracing::error!(%error, "looking for lost runs has failed"),
            }
            tokio::time::sleep(RECONCILE_INTERVAL).await;
        }
    }

    /// Takes in what happened while no server was there, and what nobody followed, for ever.
    async fn fill_index(self) {
        let runs = self.home.runs_directory();
        loop {
            // The records of runs that are followed reach the index by themselves.
            let live = self.live.clone();
            let is_wanted = move |run: &str| !live.is_followed(run);
            match catch_up_runs(self.store.as_ref(), &runs, is_wanted, |_| {}).await {
                Ok(caught_up) => {
                    if caught_up.records > 0 {
                        self.live.compare_texts();
                    }
                    self.live.set_caught_up();
                    tokio::time::sleep(CATCH_UP_INTERVAL).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "the index cannot be brought up to date; it is tried again");
                    tokio::time::sleep(RETRY_DELAY).await;
                }
            }
        }
    }

    /// Removes old runs, for ever.
    async fn remove_old_runs(self) {
        tokio::time::sleep(FIRST_RETENTION_DELAY).await;
        loop {
            // What is not in the index yet is looked at the next time.
            match retire(&self.home, &self.store, self.retention).await {
                Ok(0) => {}
                Ok(count) => tracing::info!(count, "old runs were removed"),
                Err(error) => tracing::warn!(%error, "old runs cannot be removed"),
            }
            tokio::time::sleep(RETENTION_INTERVAL).await;
        }
    }
}
