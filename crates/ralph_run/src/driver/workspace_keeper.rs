//! The conversation that the next run can go on with, on disk before anybody could miss it.

use jiff::Timestamp;
use tokio::task::JoinHandle;

use crate::state::WorkspaceFiles;

/// Saves the agent's conversation off the way of its events. One that is told again and again is saved once, and of
/// several that come at the same time only the last one counts.
#[derive(Debug)]
pub(super) struct SessionKeeper {
    files: Option<WorkspaceFiles>,
    backend: String,
    mode: Option<String>,
    /// The last one that was told.
    last: Option<String>,
    /// One that the agent does not have any more.
    gone: Option<String>,
    is_stale: bool,
    saving: Option<JoinHandle<()>>,
}

impl SessionKeeper {
    /// For a backend, by its name in files.
    pub(super) fn new(files: Option<WorkspaceFiles>, backend: &str, mode: Option<String>) -> Self {
        Self {
            files,
            backend: backend.to_owned(),
            mode,
            last: None,
            gone: None,
            is_stale: false,
            saving: None,
        }
    }

    /// The agent tells its conversation.
    pub(super) fn note(&mut self, id: &str) {
        if self.last.as_deref() != Some(id) {
            self.last = Some(id.to_owned());
            self.is_stale = true;
        }
    }

    /// The agent does not have this conversation: the next run must not ask for it again.
    pub(super) fn forget(&mut self, id: &str) {
        self.last.take_if(|last| last == id);
        self.gone = Some(id.to_owned());
        self.is_stale = true;
    }

    /// Begins to save what is new, unless that is still going on.
    pub(super) fn save_soon(&mut self) {
        let is_saving = self.saving.as_ref().is_some_and(|saving| !saving.is_finished());
        if !is_saving && let Some(save) = self.next_save() {
            self.saving = Some(tokio::task::spawn_blocking(save));
        }
    }

    /// Waits until all is saved.
    pub(super) async fn finish(&mut self) {
        if let Some(saving) = self.saving.take() {
            let _ = saving.await;
        }
        if let Some(save) = self.next_save() {
            save();
        }
    }

    fn next_save(&mut self) -> Option<impl FnOnce() + Send + 'static> {
        if !std::mem::take(&mut self.is_stale) {
            return None;
        }
        let (files, last, gone) = (self.files.clone()?, self.last.clone(), self.gone.take());
        let (backend, mode) = (self.backend.clone(), self.mode.clone());
        Some(move || {
            let saved = files.update_session_state(&backend, Timestamp::now(), |state| {
                if let Some(gone) = &gone {
                    state.forget_session_id(mode.as_deref(), gone);
                }
                if let Some(last) = &last {
                    state.set_session_id(mode.as_deref(), last);
                }
            });
            if let Err(error) = saved {
                tracing::warn!(%error, "the session could not be saved");
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::SessionKeeper;
    use crate::home::Home;
    use crate::state::WorkspaceFiles;

    #[tokio::test]
    async fn a_conversation_that_the_agent_lost_is_not_offered_to_the_next_run() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path().join("home"), None);
        let files = WorkspaceFiles::prepare(&home, directory.path()).unwrap();
        let kept = || {
            let state = files.session_state("gemini", Timestamp::now()).unwrap();
            state.value.session_id(None).map(str::to_owned)
        };
        let mut keeper = SessionKeeper::new(Some(files.clone()), "gemini", None);
        keeper.note("one");
        keeper.finish().await;
        assert_eq!(kept().as_deref(), Some("one"));
        let mut keeper = SessionKeeper::new(Some(files.clone()), "gemini", None);
        keeper.forget("one");
        keeper.finish().await;
        assert_eq!(kept(), None);
        keeper.note("two");
        keeper.finish().await;
        assert_eq!(kept().as_deref(), Some("two"));
    }
}
