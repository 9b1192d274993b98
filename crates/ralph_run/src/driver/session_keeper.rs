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
        let (files, id) = (self.files.clone()?, self.last.clone()?);
        let (backend, mode) = (self.backend.clone(), self.mode.clone());
        Some(move || {
            let saved = files.update_session_state(&backend, Timestamp::now(), |state| {
                state.set_session_id(mode.as_deref(), &id);
            });
            if let Err(error) = saved {
                tracing::warn!(%error, "the session could not be saved");
            }
        })
    }
}
