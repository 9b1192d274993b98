//! Rescue refs: everything that a worktree has, as one commit under `refs/ralph/rescue/`.

use std::fs::{self, File, FileTimes};
use std::io;
use std::path::{Path, PathBuf};

use crate::changes::Changes;
use crate::error::Error;
use crate::git::{Git, is_commit_id, path_from_bytes, zero_separated};
use crate::identity::as_ralph;
use crate::name::WorktreeName;
use crate::record::Worktree;
use crate::repository::Repository;

const RESCUE_REFS: &str = "refs/ralph/rescue/";
/// How many abandoned commits of the reflog are kept.
const MAX_REFLOG: &str = "--max-count=200";
const SHORT_ID: usize = 12;

/// All that a worktree has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// A commit with the files, whose parents are what was checked out and everything else that was committed.
    pub(crate) commit: String,
    /// The files.
    pub(crate) tree: String,
    pub(crate) changes: Changes,
    /// Whether the files are other than in the commit that is checked out, also where git was told to overlook that.
    pub(crate) is_dirty: bool,
}

impl Repository {
    /// Takes a snapshot of a worktree, with uncommitted and untracked files as they are on the disk. Changes nothing in
    /// it.
    pub(crate) async fn snapshot(&self, worktree: &Worktree) -> Result<Snapshot, Error> {
        self.refuse_foreign(&worktree.path)?;
        let changes = self.changes(&worktree.path).await?;
        if let Some(inner) = self.nested_repository(&worktree.path, &changes).await? {
            return Err(Error::NestedRepository {
                path: worktree.path.clone(),
                inner,
            });
        }
        self.refuse_submodules(&worktree.path)?;
        let index = PrivateIndex::copy(self, &worktree.path).await?;
        let head = ["rev-parse", "--verify", "HEAD^{commit}"];
        let head = self.git_in(&worktree.path).text(&head).await?;
        let staged = index.staged_tree().await;
        let tree = index.all_files_tree().await?;
        let head_tree = self.tree_of(&head).await?;
        let mut parents = vec![head.clone()];
        if let Some(staged) = staged.filter(|staged| *staged != tree && *staged != head_tree) {
            parents.push(self.keep_tree(&staged, &[&head], "staged").await?);
        }
        parents.extend(self.abandoned(&worktree.path, worktree, &head).await?);
        let is_head_enough = tree == head_tree && parents.len() == 1;
        let commit = if is_head_enough {
            head
        } else {
            let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
            let message = format!("Everything in the worktree {}", worktree.name);
            self.keep_tree(&tree, &parents, &message).await?
        };
        Ok(Snapshot {
            commit,
            is_dirty: tree != head_tree || !changes.is_empty(),
            tree,
            changes,
        })
    }

    /// The files of a checkout that are not ignored, as they are on the disk.
    pub(crate) async fn files_tree(&self, folder: &Path) -> Result<String, Error> {
        PrivateIndex::copy(self, folder).await?.all_files_tree().await
    }

    /// Puts a commit under a ref of its own, so that git keeps it. Gives the ref.
    pub(crate) async fn keep(&self, name: &WorktreeName, commit: &str) -> Result<String, Error> {
        let short: String = commit.chars().take(SHORT_ID).collect();
        let reference = format!("{RESCUE_REFS}{name}-{short}");
        let update = ["update-ref", "-m", "ralph: rescue", &reference, commit];
        self.git().run(&update).await?;
        match self.commit_of(&reference).await? {
            Some(kept) if kept == commit => Ok(reference),
            _ => Err(Error::Git {
                command: "update-ref".to_owned(),
                folder: self.common().to_owned(),
                detail: format!("`{reference}` is not what was written"),
            }),
        }
    }

    /// Commits that were made in the worktree and that neither `head` nor another one contains: those of a branch that
    /// was reset or amended. `folder` is the worktree, or where git keeps its `HEAD`.
    async fn abandoned(&self, folder: &Path, worktree: &Worktree, head: &str) -> Result<Vec<String>, Error> {
        let mut known = vec![head.to_owned()];
        let branch = worktree.name.branch_ref();
        known.extend(self.commit_of(&branch).await?);
        let log = ["log", "--walk-reflogs", "--format=%H", MAX_REFLOG];
        let of = |name| [&log[..], &[name, "--"]].concat();
        let at_head = self.git_in(folder).text(&of("HEAD")).await;
        let at_branch = self.git().text(&of(&branch)).await;
        // A reflog may be off, or have entries that git has forgotten.
        for listed in [at_head, at_branch].into_iter().flatten() {
            known.extend(
                listed
                    .lines()
                    .filter(|line| is_commit_id(line))
                    .map(str::to_owned),
            );
        }
        known.sort();
        known.dedup();
        let find = ["merge-base", "--independent"].map(str::to_owned);
        let arguments: Vec<String> = find.into_iter().chain(known).collect();
        let independent = self.git().text(&arguments).await?;
        let mut tips = Vec::new();
        for tip in independent.lines().filter(|tip| *tip != head) {
            if !self.is_ancestor(tip, head).await? && !self.is_ancestor(tip, &worktree.base_commit).await? {
                tips.push(tip.to_owned());
            }
        }
        Ok(tips)
    }

    /// Keeps the commits of a worktree whose folder is gone that only its `HEAD` and reflog name. Gives the ref.
    pub(crate) async fn rescue_lost(&self, worktree: &Worktree) -> Result<Option<String>, Error> {
        self.refuse_submodules(&worktree.path)?;
        let Some(notes) = self.notes_of_git(&worktree.path) else {
            return Ok(None);
        };
        let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        // Without its branch, `HEAD` names nothing.
        let Some(head) = self.git_in(&notes).answer(&head).await? else {
            return Ok(None);
        };
        let mut parents = vec![head.clone()];
        parents.extend(self.abandoned(&notes, worktree, &head).await?);
        if parents.len() == 1 {
            let branch_tip = self.commit_of(&worktree.name.branch_ref()).await?;
            if branch_tip.as_ref() == Some(&head) {
                return Ok(None);
            }
            return self.rescue_unless_contained(worktree, &head).await;
        }
        let tree = self.tree_of(&head).await?;
        let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
        let message = format!("Commits of the lost worktree {}", worktree.name);
        let commit = self.keep_tree(&tree, &parents, &message).await?;
        self.keep(&worktree.name, &commit).await.map(Some)
    }

    async fn tree_of(&self, commit: &str) -> Result<String, Error> {
        let tree = format!("{commit}^{{tree}}");
        self.git().text(&["rev-parse", "--verify", &tree]).await
    }

    async fn keep_tree(&self, tree: &str, parents: &[&str], message: &str) -> Result<String, Error> {
        let parents = parents.iter().flat_map(|parent| ["-p", parent]);
        let arguments: Vec<&str> = ["commit-tree", "-m", message]
            .into_iter()
            .chain(parents)
            .chain([tree])
            .collect();
        as_ralph(self.git()).text(&arguments).await
    }
}

/// A copy of a worktree's index, so that files can be added without changing what is staged.
struct PrivateIndex<'a> {
    repository: &'a Repository,
    folder: &'a Path,
    file: PathBuf,
    _directory: tempfile::TempDir,
    empty_tree: String,
}

impl<'a> PrivateIndex<'a> {
    async fn copy(repository: &'a Repository, folder: &'a Path) -> Result<Self, Error> {
        let root = repository.worktrees_folder();
        let directory = tempfile::Builder::new().prefix(".index-").tempdir_in(&root);
        let directory = directory.map_err(Error::io("write to", &root))?;
        let file = directory.path().join("index");
        let source = repository.git_directory(folder).await?.join("index");
        match copy_with_time(&source, &file) {
            // A worktree without files has none.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            copied => copied.map_err(Error::io("copy", &source))?,
        }
        let empty = ["hash-object", "-t", "tree", "-w", "--stdin"];
        let empty_tree = repository.git().input(Vec::new()).text(&empty).await?;
        let index = Self {
            repository,
            folder,
            file,
            _directory: directory,
            empty_tree,
        };
        index.see_everything().await?;
        Ok(index)
    }

    /// git with this index. Files are taken as they are: no attribute of the repository runs a filter over them.
    fn git(&self) -> Git {
        self.repository
            .git_in(self.folder)
            .variable("GIT_INDEX_FILE", &self.file)
            .variable("GIT_ATTR_SOURCE", &self.empty_tree)
            .setting("core.autocrlf=false")
            .setting("core.untrackedCache=false")
    }

    /// Removes the flags by which git overlooks changes of a file.
    async fn see_everything(&self) -> Result<(), Error> {
        let listed = self.git().bytes(&["ls-files", "-v", "-z"]).await?;
        let (mut assumed, mut skipped) = (Vec::new(), Vec::new());
        for line in zero_separated(&listed) {
            let (Some(tag), Some(path)) = (line.first(), line.get(2..)) else {
                continue;
            };
            if tag.is_ascii_lowercase() {
                assumed.extend_from_slice(path);
                assumed.push(0);
            }
            let is_there = || {
                let path = path_from_bytes(path);
                fs::symlink_metadata(self.folder.join(path)).is_ok()
            };
            if tag.eq_ignore_ascii_case(&b'S') && is_there() {
                skipped.extend_from_slice(path);
                skipped.push(0);
            }
        }
        for (flag, paths) in [
            ("--no-assume-unchanged", assumed),
            ("--no-skip-worktree", skipped),
        ] {
            if !paths.is_empty() {
                self.git()
                    .input(paths)
                    .run(&["update-index", flag, "-z", "--stdin"])
                    .await?;
            }
        }
        Ok(())
    }

    /// What is staged; none while there are conflicts.
    async fn staged_tree(&self) -> Option<String> {
        self.git().text(&["write-tree"]).await.ok()
    }

    /// All files that are not ignored.
    async fn all_files_tree(&self) -> Result<String, Error> {
        self.git().run(&["add", "--all", "--sparse", "--", "."]).await?;
        let tree = self.git().text(&["write-tree"]).await?;
        let others = ["ls-files", "-z", "--others", "--exclude-standard"];
        let mut missed = self.git().bytes(&others).await?;
        missed.extend(self.git().bytes(&["diff-files", "--name-only", "-z"]).await?);
        if missed.is_empty() {
            return Ok(tree);
        }
        Err(Error::ChangedMeanwhile {
            path: self.folder.to_owned(),
            files: zero_separated(&missed).into_iter().map(path_from_bytes).collect(),
        })
    }
}

/// With its time: git trusts an entry that is older than the index.
fn copy_with_time(from: &Path, to: &Path) -> io::Result<()> {
    let modified = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    File::options()
        .write(true)
        .open(to)?
        .set_times(FileTimes::new().set_modified(modified))
}
