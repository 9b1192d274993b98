//! `ChangedFiles`: the files that a run's tool calls changed. A part of `RunModel`.

use agent_api::{ChangeKind, FileChange};
use serde::{Deserialize, Serialize};

/// The list is cut here; further files are only counted.
pub(super) const MAX_FILES: usize = 1_000;

/// Changed files in the order of their first change, at most 1,000.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangedFiles {
    files: Vec<ChangedFile>,
    omitted: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    pub path: String,
    /// What happened to the file over all its changes: one that was added and then modified is `added`.
    pub kind: ChangeKind,
    /// Lines that the calls added, where the agent reports them. Lines that were added and removed again count in both.
    pub added: u32,
    pub removed: u32,
}

impl ChangedFiles {
    pub(super) fn apply(&mut self, change: &FileChange) {
        let (added, removed) = change
            .lines
            .or_else(|| change.diff.as_deref().map(count_lines))
            .unwrap_or_default();
        if let Some(file) = self.files.iter_mut().find(|file| file.path == change.path) {
            file.added = file.added.saturating_add(added);
            file.removed = file.removed.saturating_add(removed);
            if !(file.kind == ChangeKind::Added && change.kind == ChangeKind::Modified) {
                file.kind = change.kind;
            }
        } else if self.files.len() < MAX_FILES {
            self.files.push(ChangedFile {
                path: change.path.clone(),
                kind: change.kind,
                added,
                removed,
            });
        } else {
            self.omitted = self.omitted.saturating_add(1);
        }
    }

    pub fn iter(&self) -> std::slice::Iter<'_, ChangedFile> {
        self.files.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Changes of files beyond the first 1,000.
    pub fn omitted(&self) -> u32 {
        self.omitted
    }

    /// Lines added and removed in all listed files.
    pub fn lines(&self) -> (u64, u64) {
        let sum = |lines: fn(&ChangedFile) -> u32| self.files.iter().map(|file| u64::from(lines(file))).sum();
        (sum(|file| file.added), sum(|file| file.removed))
    }
}

/// Added and removed lines of a diff without counts, as older journals have it.
fn count_lines(diff: &str) -> (u32, u32) {
    let hunks = diff.lines().skip_while(|line| !line.starts_with("@@"));
    hunks.fold((0, 0), |(added, removed), line| match line.as_bytes().first() {
        Some(b'+') => (added + 1, removed),
        Some(b'-') => (added, removed + 1),
        _ => (added, removed),
    })
}

#[cfg(test)]
mod tests {
    use agent_api::{ChangeKind, FileChange};

    use super::{ChangedFiles, MAX_FILES};

    fn change(path: &str, kind: ChangeKind, lines: Option<(u32, u32)>, diff: Option<&str>) -> FileChange {
        let mut change = FileChange::new(path, kind, diff.map(str::to_owned));
        change.lines = lines;
        change
    }

    #[test]
    fn changes_of_one_file_are_added_up() {
        let mut files = ChangedFiles::default();
        files.apply(&change("a", ChangeKind::Added, Some((3, 0)), None));
        files.apply(&change(
            "b",
            ChangeKind::Modified,
            None,
            Some("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z"),
        ));
        files.apply(&change("a", ChangeKind::Modified, Some((1, 2)), None));
        files.apply(&change("c", ChangeKind::Modified, None, None));
        files.apply(&change("b", ChangeKind::Deleted, Some((0, 1)), None));
        let seen: Vec<_> = files
            .iter()
            .map(|file| (file.path.as_str(), file.kind, file.added, file.removed))
            .collect();
        assert_eq!(
            seen,
            [
                ("a", ChangeKind::Added, 4, 2),
                ("b", ChangeKind::Deleted, 1, 2),
                ("c", ChangeKind::Modified, 0, 0)
            ]
        );
        assert_eq!(files.lines(), (5, 4));
    }

    #[test]
    fn the_list_is_bounded_and_says_so() {
        let mut files = ChangedFiles::default();
        for number in 0..MAX_FILES + 5 {
            files.apply(&change(&number.to_string(), ChangeKind::Added, None, None));
        }
        assert_eq!((files.iter().len(), files.omitted()), (MAX_FILES, 5));
    }
}
