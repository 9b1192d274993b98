//! `retire`: removes runs that the retention rules do not keep.

use std::sync::Arc;

use jiff::Timestamp;
use ralph_run::{Home, remove_ended};
use ralph_store::{RetentionCandidate, RetentionRules, Store, StoreError, expired_runs};

use crate::live::Hub;

/// Removes runs that the rules do not keep: from the disk, then from the index. Tells those who watch them. Gives how
/// many.
pub(crate) async fn retire(
    home: &Home,
    store: &Arc<dyn Store>,
    live: &Hub,
    rules: RetentionRules,
) -> Result<usize, StoreError> {
    let indexed = store.indexed_runs().await?;
    let candidates = indexed.into_iter().map(|run| RetentionCandidate {
        run: run.run,
        ended_at: run.ended_at,
        bytes: 0,
    });
    let mut candidates: Vec<_> = candidates.collect();
    let home = home.clone();
    let removing = tokio::task::spawn_blocking(move || {
        if rules.max_bytes.is_some() {
            for candidate in &mut candidates {
                candidate.bytes = home.run(&candidate.run).map_or(0, |run| run.size_bytes());
            }
        }
        let expired = expired_runs(&rules, &candidates, Timestamp::now());
        remove_ended(&home, &expired)
    });
    let cleaned = match removing.await {
        Ok(cleaned) => cleaned,
        Err(error) => {
            tracing::error!(%error, "removing old runs has failed");
            return Ok(0);
        }
    };
    for (run, error) in &cleaned.failed {
        tracing::warn!(%error, run, "an old run cannot be removed");
    }
    for run in &cleaned.removed {
        let workspace = live.workspace_of(run).await.ok().flatten();
        live.remove(run, workspace.as_deref());
        live.board().labels().forget(run);
    }
    if !cleaned.removed.is_empty() {
        store.remove(&cleaned.removed).await?;
    }
    Ok(cleaned.removed.len())
}
