//! `CheckoutSnapshot`: the main checkout before and after a run, to notice an agent that wrote there.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::{Error, list};
use crate::repository::Repository;

/// What was checked out and which files differed from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutSnapshot {
    checkout: PathBuf,
    head: String,
    /// Files that are not as in their commit, and the settings and hooks of the repository, with what shows that they changed again.
    changed: BTreeMap<PathBuf, Option<(u64, SystemTime)>>,
}

/// How a checkout differs from an earlier snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutChanges {
    pub checkout: PathBuf,
    pub files: Vec<PathBuf>,
    /// Whether another commit or branch is checked out.
    pub is_moved: bool,
}

impl Repository {
    /// Notes how the main checkout is.
    pub async fn snapshot_checkout(&self) -> Result<CheckoutSnapshot, Error> {
        let checkout = self.checkout().to_owned();
        let branch = ["rev-parse", "--symbolic-full-name", "HEAD"];
        let mut head = self.git_in(&checkout).text(&branch).await?;
        head.push(' ');
        head.push_str(&self.git_in(&checkout).text(&["rev-parse", "HEAD"]).await?);
        let changes = self.changes(&checkout).await?;
        // These run programs in the user's name the next time that git is used.
        let hooks = fs::read_dir(self.common().join("hooks"));
        let hooks = hooks.into_iter().flatten().flatten().map(|entry| entry.path());
        let settings = ["config", "info/attributes"].map(|name| self.common().join(name));
        let watched = hooks.chain(settings);
        let changed = changes.all().into_iter().chain(watched).map(|path| {
            let mark = mark(&checkout.join(&path));
            (path, mark)
        });
        Ok(CheckoutSnapshot {
            changed: changed.collect(),
            checkout,
            head,
        })
    }
}

fn mark(path: &Path) -> Option<(u64, SystemTime)> {
    let metadata = fs::symlink_metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

impl CheckoutSnapshot {
    /// What changed from this snapshot to a later one; `None` if nothing did.
    pub fn changes_to(&self, later: &Self) -> Option<CheckoutChanges> {
        let names = self.changed.keys().chain(later.changed.keys());
        let mut files: Vec<PathBuf> = names
            .filter(|path| self.changed.get(*path) != later.changed.get(*path))
            .cloned()
            .collect();
        files.sort();
        files.dedup();
        let is_moved = self.head != later.head;
        (is_moved || !files.is_empty()).then(|| CheckoutChanges {
            checkout: self.checkout.clone(),
            files,
            is_moved,
        })
    }
}

impl fmt::Display for CheckoutChanges {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let checkout = self.checkout.display();
        write!(
            formatter,
            "the checkout `{checkout}` changed while the agent worked in its worktree: "
        )?;
        if self.is_moved {
            formatter.write_str("another commit is checked out")?;
        }
        if self.is_moved && !self.files.is_empty() {
            formatter.write_str(", and ")?;
        }
        formatter.write_str(&list(&self.files))?;
        formatter.write_str(". If that was not you, the agent wrote outside of its worktree")
    }
}
