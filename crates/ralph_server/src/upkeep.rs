//! `Upkeep`: what the machine that has the runs does for them: records the end of lost runs, fills the index, removes old
//! runs. Started by the server.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ralph_run::{Home, reconcile};
use ralph_store::{RetentionRules, Store, catch_up_runs};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::live::{Hub, restarted};
use crate::retention::retire;

/// How often the runs on disk are compared with the index.
const CATCH_UP_INTERVAL: Duration = Duration::from_secs(60);
/// How soon run directories that were moved into place are noticed.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// How soon it is tried again after a failure.
const RETRY_DELAY: Duration = Duration::from_secs(2);
/// How often old runs are removed, and how soon after the start.
const RETENTION_INTERVAL: Duration = Duration::from_secs(3600);
const FIRST_RETENTION_DELAY: Duration = Duration::from_secs(10);
/// How often runs whose runner died are looked for.
const RECONCILE_INTERVAL: Duration = Duration::from_secs(2);
/// How often the usage of old runs is compacted, and how long after its end a run is old.
const COMPACTION_INTERVAL: Duration = Duration::from_secs(3600);
const OLD_RUN_AGE: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug, Default)]
struct RunList {
    names: HashSet<String>,
    changed_at: Option<SystemTime>,
}

fn modified(home: &Home) -> Option<SystemTime> {
    std::fs::metadata(home.runs_directory()).ok()?.modified().ok()
}

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
        let upkeep = self.clone();
        tasks.spawn(restarted("compacting usage", move || {
            upkeep.clone().compact_usage()
        }));
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
        let mut known = RunList::default();
        loop {
            if let Some(now) = self.list_runs().await {
                self.tell_of_removed(&known, &now).await;
                known = now;
            }
            // The records of runs that are followed reach the index by themselves.
            let live = self.live.clone();
            let is_wanted = move |run: &str| !live.is_followed(run);
            match catch_up_runs(self.store.as_ref(), &runs, is_wanted, |_| {}).await {
                Ok(caught_up) => {
                    if caught_up.records > 0 {
                        self.live.compare_texts();
                    }
                    self.live.set_caught_up();
                    let _ = timeout(CATCH_UP_INTERVAL, self.runs_moved(&mut known)).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "the index cannot be brought up to date; it is tried again");
                    tokio::time::sleep(RETRY_DELAY).await;
                }
            }
        }
    }

    /// The directories of runs, and when that list last changed; none if nobody can tell, so that a disk that is away
    /// does not look like one whose runs were deleted.
    async fn list_runs(&self) -> Option<RunList> {
        let home = self.home.clone();
        let listed = tokio::task::spawn_blocking(move || {
            let changed_at = Some(modified(&home)?);
            let runs = home.list().ok()?;
            let names = runs.iter().map(|run| run.id().to_owned()).collect();
            Some(RunList { names, changed_at })
        });
        listed.await.ok().flatten()
    }

    /// Tells those who watch that runs were deleted, whoever did it. Says whether the index still has one of them.
    async fn tell_of_removed(&self, before: &RunList, now: &RunList) -> bool {
        let mut is_indexed = false;
        for run in before.names.difference(&now.names) {
            let workspace = match self.live.workspace_of(run).await {
                // The server itself deleted it, and has told so.
                Ok(None) => continue,
                Ok(workspace) => workspace,
                Err(_) => None,
            };
            is_indexed |= workspace.is_some();
            self.live.remove(run, workspace.as_deref());
            self.live.board().labels().forget(run);
        }
        is_indexed
    }

    /// Waits until the index lacks run directories that no runner has just made, because somebody moved them here or
    /// restored them, or has runs that were deleted.
    async fn runs_moved(&self, known: &mut RunList) {
        loop {
            tokio::time::sleep(LOOK_INTERVAL).await;
            let home = self.home.clone();
            let changed_at = tokio::task::spawn_blocking(move || modified(&home)).await;
            if changed_at.is_ok_and(|changed_at| changed_at == known.changed_at) {
                continue;
            }
            let Some(now) = self.list_runs().await else {
                continue;
            };
            let is_indexed = self.tell_of_removed(known, &now).await;
            let before = std::mem::replace(known, now);
            if is_indexed {
                return;
            }
            for run in known.names.difference(&before.names) {
                let presence = self.live.journals().presence(run).await;
                if !self.live.is_followed(run) && presence.is_some_and(|presence| !presence.is_active) {
                    return;
                }
            }
        }
    }

    /// Replaces the usage of each message by daily sums in runs that ended long ago, for ever: adding up costs stays fast.
    async fn compact_usage(self) {
        while !self.live.has_caught_up() {
            tokio::time::sleep(RETRY_DELAY).await;
        }
        loop {
            let compacted = match jiff::Timestamp::now().checked_sub(OLD_RUN_AGE) {
                Ok(ended_before) => self.store.compact_usage(ended_before).await,
                Err(_) => Ok(0),
            };
            match compacted {
                Ok(0) => {}
                Ok(count) => tracing::info!(count, "the usage of old runs was compacted"),
                Err(error) => tracing::warn!(%error, "the usage of old runs cannot be compacted"),
            }
            tokio::time::sleep(COMPACTION_INTERVAL).await;
        }
    }

    /// Removes old runs, for ever.
    async fn remove_old_runs(self) {
        tokio::time::sleep(FIRST_RETENTION_DELAY).await;
        loop {
            // What is not in the index yet is looked at the next time.
            match retire(&self.home, &self.store, &self.live, self.retention).await {
                Ok(0) => {}
                Ok(count) => tracing::info!(count, "old runs were removed"),
                Err(error) => tracing::warn!(%error, "old runs cannot be removed"),
            }
            tokio::time::sleep(RETENTION_INTERVAL).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use ralph_run::ports::LocalJournals;
    use ralph_run::{Home, RunDirectory};
    use ralph_store::{RetentionRules, SqliteOptions, SqliteStore, Store};

    use super::{CATCH_UP_INTERVAL, Upkeep};
    use crate::live::{Hub, Next, RunsForm};

    struct Stage {
        directory: tempfile::TempDir,
        home: Home,
        store: Arc<dyn Store>,
        live: Arc<Hub>,
    }

    impl Stage {
        async fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let home = Home::new(directory.path().join("state"), None);
            home.prepare().unwrap();
            let options = SqliteOptions {
                data_directory: directory.path().join("data"),
                runs_directory: home.runs_directory(),
                home: None,
            };
            let store: Arc<dyn Store> = Arc::new(SqliteStore::open(options).await.unwrap().store);
            let live = Hub::new(Arc::new(LocalJournals::new(home.clone())), store.clone());
            Self {
                directory,
                home,
                store,
                live,
            }
        }

        /// Fills the index until what is waited for has happened.
        async fn fill_until(&self, waited_for: impl Future<Output = ()>) {
            let upkeep = Upkeep {
                home: self.home.clone(),
                store: self.store.clone(),
                live: self.live.clone(),
                retention: RetentionRules::default(),
            };
            let filling = tokio::spawn(upkeep.fill_index());
            tokio::time::timeout(CATCH_UP_INTERVAL / 2, waited_for)
                .await
                .unwrap();
            filling.abort();
        }
    }

    /// A run that has ended, with a journal of one record.
    fn make_run(home: &Home) -> RunDirectory {
        let run = home.create_run(jiff::Timestamp::now()).unwrap();
        let line = format!(
            r#"{{"seq":1,"at":"2026-01-01T00:00:00Z","iteration":0,"attempt":0,"event":{{"type":"run_started","data":{{"format_version":1,"run_id":"{}","ralph_version":"0.1.0","workspace":"/w","backend":"demo","display_name":"Demo","max_iterations":1}}}}}}"#,
            run.id()
        );
        std::fs::write(run.journal(), line + "\n").unwrap();
        run
    }

    async fn until(is_so: impl AsyncFn() -> bool) {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test]
    async fn run_directories_that_are_moved_into_place_are_noticed() {
        let stage = Stage::new().await;
        let elsewhere = Home::new(stage.directory.path().join("elsewhere"), None);
        let run = make_run(&elsewhere);
        let is_indexed = async {
            until(async || stage.live.has_caught_up()).await;
            std::fs::rename(run.path(), stage.home.runs_directory().join(run.id())).unwrap();
            until(async || stage.store.run(run.id()).await.unwrap().is_some()).await;
        };
        stage.fill_until(is_indexed).await;
    }

    #[tokio::test]
    async fn a_run_that_somebody_else_deletes_is_told_to_those_who_watch_and_forgotten() {
        let stage = Stage::new().await;
        let run = make_run(&stage.home);
        // There is no runner.
        std::fs::remove_file(stage.home.state_directory().join("active").join(run.id())).unwrap();
        let is_forgotten = async {
            until(async || stage.live.has_caught_up()).await;
            let feed = stage.live.feed(run.id()).await.unwrap();
            let (epoch, head) = feed.head();
            assert!(matches!(feed.after(&epoch, head, 0), Next::Nothing));
            stage.live.board().tick();
            let (_, version) = stage.live.board().since(None, RunsForm::Patches);
            std::fs::remove_dir_all(run.path()).unwrap();
            until(async || stage.store.run(run.id()).await.unwrap().is_none()).await;
            assert!(matches!(feed.after(&epoch, head, 0), Next::Removed));
            assert!(stage.live.feed(run.id()).await.is_err());
            stage.live.board().tick();
            let (told, _) = stage.live.board().since(Some(version), RunsForm::Patches);
            let removed = format!(r#""removed":["{}"]"#, run.id());
            assert!(told.len() == 1 && told[0].contains(&removed), "{told:?}");
        };
        stage.fill_until(is_forgotten).await;
    }
}
