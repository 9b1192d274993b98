//! `WorkspaceKeeper`: saves the run's session and its cost in `.ralph/state/` for the driver. It works on another thread,
//! because the files have a lock that other processes may hold, and a disk can be slow.

use std::collections::BTreeMap;
use std::sync::mpsc;

use agent_api::MicroUsd;
use jiff::Timestamp;
use tokio::task::JoinHandle;

use crate::state::{StateError, WorkspaceFiles};

/// Saves one change at a time. Changes that come meanwhile are saved together after it.
#[derive(Debug)]
pub(super) struct WorkspaceKeeper {
    files: Option<WorkspaceFiles>,
    backend: String,
    /// The mode or the role that works.
    mode: Option<String>,
    /// The last session that the agent announced in it.
    session: Option<String>,
    /// What is not saved yet, by mode.
    unsaved_sessions: BTreeMap<Option<String>, SessionChange>,
    charge: Option<Charge>,
    saving: Option<JoinHandle<()>>,
    /// How much of the run's cost is in the account of its task.
    accounted: MicroUsd,
    charged: (mpsc::Sender<MicroUsd>, mpsc::Receiver<MicroUsd>),
}

#[derive(Debug, Default)]
struct SessionChange {
    /// A session that the agent does not have any more.
    lost: Option<String>,
    last: Option<String>,
}

/// What a run has cost so far, for the account of its task.
#[derive(Debug, Clone)]
pub(super) struct Charge {
    pub(super) run_id: String,
    pub(super) task: Option<String>,
    pub(super) cost: MicroUsd,
    pub(super) max_cost: Option<MicroUsd>,
    pub(super) iterations: u32,
    pub(super) max_iterations: Option<u32>,
}

impl WorkspaceKeeper {
    /// `backend` is the name in files.
    pub(super) fn new(files: Option<WorkspaceFiles>, backend: &str, mode: Option<String>) -> Self {
        Self {
            files,
            backend: backend.to_owned(),
            mode,
            session: None,
            unsaved_sessions: BTreeMap::new(),
            charge: None,
            saving: None,
            accounted: MicroUsd::ZERO,
            charged: mpsc::channel(),
        }
    }

    /// From now on another role works, with sessions of its own.
    pub(super) fn set_mode(&mut self, mode: &str) {
        if self.mode.as_deref() != Some(mode) {
            self.mode = Some(mode.to_owned());
            self.session = None;
        }
    }

    pub(super) fn set_session(&mut self, id: &str) {
        if self.session.as_deref() != Some(id) {
            self.session = Some(id.to_owned());
            self.unsaved().last = Some(id.to_owned());
        }
    }

    /// The agent does not have this session: the next run must not ask for it again.
    pub(super) fn forget_session(&mut self, id: &str) {
        self.session.take_if(|session| session == id);
        let unsaved = self.unsaved();
        unsaved.last.take_if(|session| session == id);
        unsaved.lost = Some(id.to_owned());
    }

    fn unsaved(&mut self) -> &mut SessionChange {
        self.unsaved_sessions.entry(self.mode.clone()).or_default()
    }

    pub(super) fn charge(&mut self, charge: Charge) {
        self.charge = Some(charge);
    }

    /// How much of the cost was added to the account since the last call.
    pub(super) fn take_accounted(&mut self) -> Option<MicroUsd> {
        self.accounted = self.charged.1.try_iter().last()?;
        Some(self.accounted)
    }

    /// Starts to save what is new, unless the last save is still running.
    pub(super) fn save_soon(&mut self) {
        if self.saving.as_ref().is_none_or(JoinHandle::is_finished) {
            self.saving = self.next_save().map(tokio::task::spawn_blocking);
        }
    }

    /// Saves everything. The task ends when that is done, or has failed.
    pub(super) fn save_all(&mut self) -> JoinHandle<()> {
        let earlier = self.saving.take();
        let save = self.next_save();
        tokio::spawn(async move {
            if let Some(saving) = earlier {
                // A save that panicked is over, too.
                let _ = saving.await;
            }
            if let Some(save) = save {
                let _ = tokio::task::spawn_blocking(save).await;
            }
        })
    }

    fn next_save(&mut self) -> Option<impl FnOnce() + Send + 'static> {
        let sessions = std::mem::take(&mut self.unsaved_sessions);
        let charge = self.charge.take();
        let files = self.files.clone()?;
        if sessions.is_empty() && charge.is_none() {
            return None;
        }
        let backend = self.backend.clone();
        let (accounted, charged) = (self.accounted, self.charged.0.clone());
        Some(move || {
            if !sessions.is_empty() {
                let saved = files.update_session_state(&backend, Timestamp::now(), |state| {
                    for (mode, SessionChange { lost, last }) in &sessions {
                        if let Some(lost) = lost {
                            state.forget_session_id(mode.as_deref(), lost);
                        }
                        if let Some(last) = last {
                            state.set_session_id(mode.as_deref(), last);
                        }
                    }
                });
                if let Err(error) = saved {
                    tracing::warn!(%error, "the session could not be saved");
                }
            }
            if let Some(charge) = charge {
                match charge.save(&files, accounted) {
                    // A driver that is gone has nothing to save.
                    Ok(()) => drop(charged.send(charge.cost)),
                    Err(error) => tracing::warn!(%error, "the budget could not be saved"),
                }
            }
        })
    }
}

impl Charge {
    fn save(&self, files: &WorkspaceFiles, accounted: MicroUsd) -> Result<(), StateError> {
        files.update_budget(self.task.as_deref(), Timestamp::now(), |account| {
            account.max_cost = self.max_cost;
            account.iterations = self.iterations;
            account.max_iterations = self.max_iterations;
            account.charge(&self.run_id, self.cost, accounted);
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use agent_api::MicroUsd;
    use jiff::Timestamp;

    use super::{Charge, WorkspaceKeeper};
    use crate::home::Home;
    use crate::state::WorkspaceFiles;

    #[tokio::test]
    async fn a_session_that_the_agent_lost_is_not_offered_to_the_next_run() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path().join("home"), None);
        let files = WorkspaceFiles::prepare(&home, directory.path()).unwrap();
        let saved = || {
            let state = files.session_state("gemini", Timestamp::now()).unwrap();
            state.value.session_id(None).map(str::to_owned)
        };
        let mut keeper = WorkspaceKeeper::new(Some(files.clone()), "gemini", None);
        keeper.set_session("one");
        keeper.save_all().await.unwrap();
        assert_eq!(saved().as_deref(), Some("one"));
        let mut keeper = WorkspaceKeeper::new(Some(files.clone()), "gemini", None);
        keeper.forget_session("one");
        keeper.save_all().await.unwrap();
        assert_eq!(saved(), None);
        keeper.set_session("two");
        keeper.save_all().await.unwrap();
        assert_eq!(saved().as_deref(), Some("two"));
    }

    #[tokio::test]
    async fn a_cost_is_added_once_although_the_account_was_locked_for_a_while() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path().join("home"), None);
        let files = WorkspaceFiles::prepare(&home, directory.path()).unwrap();
        let charge = |cost| Charge {
            run_id: "r".to_owned(),
            task: Some("t".to_owned()),
            cost: MicroUsd::new(cost),
            max_cost: None,
            iterations: 1,
            max_iterations: None,
        };
        let mut keeper = WorkspaceKeeper::new(Some(files.clone()), "claude", None);
        let held = files.locked().unwrap();
        for cost in [10, 20, 30] {
            keeper.charge(charge(cost));
            keeper.save_soon();
        }
        assert_eq!(keeper.take_accounted(), None);
        drop(held);
        keeper.save_all().await.unwrap();
        assert_eq!(keeper.take_accounted(), Some(MicroUsd::new(30)));
        let account = files.budget(Some("t"), Timestamp::now()).unwrap().value;
        assert_eq!(account.total_cost, MicroUsd::new(30));
    }
}
