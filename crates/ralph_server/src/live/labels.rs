//! `Labels`: the titles and tags that people gave to runs. Each is a small file in its run's directory, so that it
//! survives a rebuilt index and goes with the run.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use ralph_run::{Durability, Home, write_atomic};
use ralph_store::RunSummary;
use serde::{Deserialize, Serialize};

const FILE: &str = "labels.json";

/// What people said about a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunLabels {
    /// The title, instead of the start of the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Tags, in the order in which they were given.
    pub tags: Vec<String>,
}

/// The labels of all runs that have some.
#[derive(Debug, Default)]
pub struct Labels {
    home: OnceLock<Home>,
    runs: RwLock<HashMap<String, RunLabels>>,
}

impl Labels {
    /// Reads the labels of all runs of this home, once. A file that cannot be read is left out, and the log says so.
    pub fn open(&self, home: Home) {
        let runs = home.list().unwrap_or_default().into_iter();
        let labels = runs.filter_map(|run| Some((run.id().to_owned(), read(run.path())?)));
        let mut known = self.runs.write().unwrap_or_else(PoisonError::into_inner);
        known.extend(labels);
        drop(known);
        self.home.get_or_init(|| home);
    }

    /// The labels of a run; empty if it has none.
    #[must_use]
    pub fn get(&self, run: &str) -> RunLabels {
        let runs = self.runs.read().unwrap_or_else(PoisonError::into_inner);
        runs.get(run).cloned().unwrap_or_default()
    }

    /// The runs with this tag.
    #[must_use]
    pub fn tagged(&self, tag: &str) -> Vec<String> {
        let runs = self.runs.read().unwrap_or_else(PoisonError::into_inner);
        let has_tag = |labels: &RunLabels| labels.tags.iter().any(|known| known == tag);
        let tagged = runs.iter().filter(|(_, labels)| has_tag(labels));
        tagged.map(|(run, _)| run.clone()).collect()
    }

    /// Shows the labels of a run in its summary.
    pub fn apply(&self, summary: &mut RunSummary) {
        let runs = self.runs.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(labels) = runs.get(&summary.id) {
            if let Some(title) = &labels.title {
                summary.title.clone_from(title);
            }
            summary.tags.clone_from(&labels.tags);
        }
    }

    /// Writes the labels of a run, then shows them.
    ///
    /// # Errors
    /// When the file cannot be written; a missing run is [`io::ErrorKind::NotFound`].
    pub async fn set(self: Arc<Self>, run: &str, labels: RunLabels) -> io::Result<()> {
        let run = run.to_owned();
        let write = move || {
            let directory = self.home.get().and_then(|home| home.run(&run));
            let directory = directory.ok_or(io::ErrorKind::NotFound)?;
            let content = serde_json::to_vec(&labels)?;
            write_atomic(&directory.path().join(FILE), &content, Durability::Synced)?;
            let mut runs = self.runs.write().unwrap_or_else(PoisonError::into_inner);
            runs.insert(run, labels);
            Ok(())
        };
        tokio::task::spawn_blocking(write)
            .await
            .map_err(io::Error::other)?
    }

    /// A run was deleted.
    pub fn forget(&self, run: &str) {
        let mut runs = self.runs.write().unwrap_or_else(PoisonError::into_inner);
        runs.remove(run);
    }
}

fn read(run: &Path) -> Option<RunLabels> {
    let path = run.join(FILE);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            tracing::warn!(%error, path = %path.display(), "cannot read the labels of a run");
            return None;
        }
    };
    let labels = serde_json::from_slice(&bytes);
    labels
        .inspect_err(
            |error| tracing::warn!(%error, path = %path.display(), "cannot read the labels of a run"),
        )
        .ok()
}
