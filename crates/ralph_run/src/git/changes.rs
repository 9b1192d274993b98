//! `changes_since`: which files of a workspace differ from a commit, including those that git does not track yet.

use std::path::Path;
use std::time::Duration;

use agent_api::ChangeKind;
use tokio::time::{Instant, timeout_at};

use super::command::{GitCommand, GitOutput, is_commit_id};
use super::diff_output::{parse_file_list, parse_patch};
use super::private_repository::{PrivateRepository, is_plain_name};

/// A repository on a slow disk does not keep anybody waiting for longer.
const MAX_DURATION: Duration = Duration::from_secs(10);
const MAX_FILES: usize = 1_000;
const MAX_LIST_BYTES: usize = 1 << 20;
/// The names in an index, which are only looked through.
const MAX_INDEX_NAME_BYTES: usize = 64 << 20;
/// Files with more changed lines than this have no diff in a list of all files.
const MAX_LISTED_LINES: u32 = 20_000;
const MAX_PATCH_BYTES: usize = 4 << 20;
/// All names in one command line.
const MAX_ARGUMENT_BYTES: usize = 64 << 10;

const DIFF: [&str; 7] = [
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    // Git would run itself in each submodule, with the settings there.
    "--ignore-submodules=all",
    "--no-renames",
    "--relative",
];

/// How the files of a workspace differ from a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitChanges {
    /// The files, by name.
    pub files: Vec<ChangedFile>,
    /// Whether these are all of them; at most 1,000 are listed.
    pub is_complete: bool,
}

/// A file that is not as it is in the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path, relative to the workspace.
    pub path: String,
    /// What happened to it. A file that was moved is deleted in one place and added in the other.
    pub kind: ChangeKind,
    /// Lines added and removed; none for a binary file or one of more than a megabyte.
    pub lines: Option<(u32, u32)>,
    /// The hunks of a unified diff; none if there are no lines, or too many.
    pub diff: Option<String>,
    /// How many parts of a patch are about it: a file that became a link has two.
    pub(super) sections: usize,
}

/// Compares the files beneath `workspace` with the commit `start`; only one of them if `path` names it, which then has its
/// diff even if it is long. `None` if there is no repository, or git cannot say in time.
///
/// No setting of the repository is in force, so no filter, hook or other program of it runs, and nothing is written to it.
/// Files that a filter changes when they are committed (such as Git LFS) therefore differ if they were touched.
pub async fn changes_since(workspace: &Path, start: &str, path: Option<&str>) -> Option<GitChanges> {
    if !is_commit_id(start) || path.is_some_and(|path| !is_plain_name(path.as_bytes())) {
        return None;
    }
    let deadline = Instant::now() + MAX_DURATION;
    let (folder, commit) = (workspace.to_owned(), start.to_owned());
    let borrowed = tokio::task::spawn_blocking(move || PrivateRepository::borrow(&folder, &commit));
    let repository = timeout_at(deadline, borrowed).await.ok()?.ok()?.ok()?;
    let mut comparison = Comparison {
        workspace,
        repository,
        start,
        deadline,
    };
    comparison.prepare_index().await?;
    let is_complete = comparison.add_untracked(path).await?;
    comparison.files(path, is_complete).await
}

struct Comparison<'a> {
    workspace: &'a Path,
    repository: PrivateRepository,
    start: &'a str,
    deadline: Instant,
}

impl Comparison<'_> {
    fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// A copied index saves git from reading every file. One with names that lead elsewhere is not used.
    async fn prepare_index(&mut self) -> Option<()> {
        if self.repository.has_copied_index {
            let names = self.repository.command(&["ls-files", "-z", "--cached"]);
            let names = names
                .max_bytes(MAX_INDEX_NAME_BYTES)
                .output(self.time_left())
                .await;
            let is_good = names.is_some_and(|names| {
                let mut each = names.bytes.split_inclusive(|byte| *byte == 0);
                !names.is_truncated && each.all(|name| name.strip_suffix(b"\0").is_some_and(is_plain_name))
            });
            if is_good {
                return Some(());
            }
            self.repository.forget_index().ok()?;
        }
        let read = self.repository.command(&["read-tree", self.start]);
        read.output(self.time_left()).await.map(drop)
    }

    /// Tells git of files that it does not track, so that they are compared. Says whether these are all.
    async fn add_untracked(&self, path: Option<&str>) -> Option<bool> {
        let list = [
            "ls-files",
            "-z",
            "--others",
            "--exclude-standard",
            "--",
            path.unwrap_or("."),
        ];
        let list = self.repository.command(&list).max_bytes(MAX_LIST_BYTES);
        let output = list.output(self.time_left()).await?;
        // A folder is a repository of its own.
        let is_file = |name: &&[u8]| name.ends_with(b"\0") && !name.ends_with(b"/\0");
        let names: Vec<&[u8]> = output
            .bytes
            .split_inclusive(|byte| *byte == 0)
            .filter(is_file)
            .collect();
        if names.is_empty() {
            return Some(!output.is_truncated);
        }
        let is_complete = !output.is_truncated && names.len() <= MAX_FILES;
        let named = names.get(..MAX_FILES).unwrap_or(&names).concat();
        let add = [
            "add",
            "--intent-to-add",
            "--ignore-errors",
            "--pathspec-from-file=-",
            "--pathspec-file-nul",
        ];
        // It fails if one of them is gone by now.
        let _ = self
            .repository
            .command(&add)
            .input(named)
            .output(self.time_left())
            .await;
        Some(is_complete)
    }

    async fn files(&self, path: Option<&str>, is_complete: bool) -> Option<GitChanges> {
        let output = match self.list(&["--raw", "--numstat"], path).await {
            Some(output) => output,
            None => {
                self.remove_odd_files(path).await?;
                self.list(&["--raw", "--numstat"], path).await?
            }
        };
        let mut files = parse_file_list(&output.bytes);
        let is_complete = is_complete && !output.is_truncated && files.len() <= MAX_FILES;
        files.truncate(MAX_FILES);
        self.add_diffs(&mut files, path.is_some()).await;
        Some(GitChanges { files, is_complete })
    }

    async fn list(&self, formats: &[&str], path: Option<&str>) -> Option<GitOutput> {
        let arguments = [formats, &["-z", self.start, "--", path.unwrap_or(".")]].concat();
        let list = self.diff(&arguments).max_bytes(MAX_LIST_BYTES);
        list.output(self.time_left()).await
    }

    /// Git gives up where a file that it tracks is a named pipe or a device by now. It is told that they were deleted.
    async fn remove_odd_files(&self, path: Option<&str>) -> Option<()> {
        let output = self.list(&["--raw"], path).await?;
        let folder = self.workspace.to_owned();
        let find = move || {
            let files = parse_file_list(&output.bytes).into_iter();
            let odd = files.filter(|file| {
                let found = std::fs::symlink_metadata(folder.join(&file.path)).map(|found| found.file_type());
                found.is_ok_and(|found| !found.is_file() && !found.is_symlink() && !found.is_dir())
            });
            odd.map(|file| file.path + "\0").collect::<String>()
        };
        let names = tokio::task::spawn_blocking(find).await.ok();
        let names = names.filter(|names| !names.is_empty())?;
        let remove = self
            .repository
            .command(&["update-index", "--force-remove", "-z", "--stdin"]);
        remove.input(names).output(self.time_left()).await.map(drop)
    }

    fn diff(&self, arguments: &[&str]) -> GitCommand {
        self.repository.command(&[&DIFF, arguments].concat())
    }

    /// Adds the diffs, as far as there is room for them.
    async fn add_diffs(&self, files: &mut [ChangedFile], is_only_one: bool) {
        let (mut lines, mut bytes) = (0_u32, 0);
        let mut wanted: Vec<&mut ChangedFile> = files
            .iter_mut()
            .filter(|file| {
                let own = file
                    .lines
                    .map_or(0, |(added, removed)| added.saturating_add(removed));
                // A name that is not UTF-8 cannot be asked for.
                if own == 0 || file.path.contains(char::REPLACEMENT_CHARACTER) {
                    return false;
                }
                let is_short = lines.saturating_add(own) <= MAX_LISTED_LINES
                    && bytes + file.path.len() < MAX_ARGUMENT_BYTES;
                if is_short {
                    lines += own;
                    bytes += file.path.len() + 1;
                }
                is_short || is_only_one
            })
            .collect();
        if wanted.is_empty() {
            return;
        }
        let names = wanted.iter().map(|file| file.path.as_str());
        let arguments: Vec<&str> = ["--patch", "--unified=3", self.start, "--"]
            .into_iter()
            .chain(names)
            .collect();
        let patch = self.diff(&arguments).max_bytes(MAX_PATCH_BYTES);
        if let Some(output) = patch.output(self.time_left()).await {
            parse_patch(&output.bytes, output.is_truncated, &mut wanted);
        }
    }
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
