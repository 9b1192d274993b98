//! `Checkout`: whether the files of the repository stayed as they were while the planner read them.

use std::path::Path;

use ralph_run::git::{GitChanges, changes_since, start_commit};
use run_view::one_line;

/// Files that a warning names.
const MAX_NAMED: usize = 10;
const NAME_COLUMNS: usize = 80;

/// A checkout as it was at some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checkout {
    commit: String,
    changes: GitChanges,
}

impl Checkout {
    /// `None` without a commit, and if git cannot say.
    pub(super) async fn read(root: &Path) -> Option<Self> {
        let commit = start_commit(root).await?;
        let changes = changes_since(root, &commit, None).await?;
        Some(Self { commit, changes })
    }

    /// A warning if the checkout is another one now.
    pub(super) async fn warning(&self, root: &Path) -> Option<String> {
        let changes = changes_since(root, &self.commit, None).await?;
        let before = &self.changes.files;
        let added = changes.files.iter().filter(|file| !before.contains(file));
        let restored = before
            .iter()
            .filter(|file| !changes.files.iter().any(|other| other.path == file.path));
        let mut names: Vec<String> = added
            .chain(restored)
            .map(|file| format!("`{}`", one_line(&file.path, NAME_COLUMNS)))
            .collect();
        let what = match names.len() {
            0 if start_commit(root)
                .await
                .is_none_or(|commit| commit == self.commit) =>
            {
                return None;
            }
            0 => "another commit was checked out".to_owned(),
            count => {
                names.truncate(MAX_NAMED);
                let more = match count.saturating_sub(MAX_NAMED) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!("files changed: {}{more}", names.join(", "))
            }
        };
        Some(format!(
            "warning: while the planner worked, {what}. It was told to change nothing, so look at `git status` and \
             `git log` before you go on\n"
        ))
    }
}
