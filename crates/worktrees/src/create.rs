//! `create` and `recreate`: cut a worktree and its branch from a commit, or check a lost one out again.

use std::fs;
use std::path::Path;

use jiff::Timestamp;

use crate::error::Error;
use crate::git::FETCH_TIMEOUT;
use crate::name::WorktreeName;
use crate::note::Note;
use crate::ports::choose_port_base;
use crate::record::{Worktree, short_ref};
use crate::repository::Repository;

/// What to create.
#[derive(Debug, Clone, Default)]
pub struct NewWorktree {
    /// A branch, remote branch or commit; by default what the main checkout has. A remote branch is fetched first.
    pub base: Option<String>,
    /// Patterns of ignored files to copy from the main checkout, as in `.gitignore`, besides those of
    /// `.worktreeinclude`.
    pub copy: Vec<String>,
}

/// A worktree, and what its user should know about it.
#[derive(Debug, Clone)]
pub struct Created {
    pub worktree: Worktree,
    pub notes: Vec<Note>,
}

/// A commit to start from.
struct Base {
    reference: Option<String>,
    commit: String,
}

impl Repository {
    /// Creates a worktree on its own branch `ralph/<name>`. If it fails, nothing of it is left.
    pub async fn create(&self, name: &WorktreeName, new: &NewWorktree) -> Result<Created, Error> {
        let mut notes = Vec::new();
        let base = self.resolve_base(new.base.as_deref(), &mut notes).await?;
        // Held to the end, which others who create worktrees do not have to wait for: copying may take minutes.
        let _name_lock = self.lock_name(name).await?;
        let lock = self.lock().await?;
        self.make_room(name).await?;
        let mut worktree = Worktree {
            name: name.clone(),
            path: self.worktree_path(name),
            base: base.reference,
            base_commit: base.commit,
            created_at: Timestamp::now(),
            port_base: choose_port_base(self.state(), self.id(), name),
            checkout: self.checkout().to_owned(),
            is_ready: false,
            is_set_up: false,
            merged: None,
        };
        if worktree.port_base.is_none() {
            notes.push(Note::NoPorts);
        }
        // Recorded first: what a crash leaves behind is then known to be ours and unused.
        worktree.save(&self.record_path(name))?;
        if let Err(error) = self.check_out_new(&worktree).await {
            self.undo_create(&worktree).await;
            return Err(error);
        }
        drop(lock);
        match self.furnish(&worktree, &new.copy).await {
            Ok(more) => notes.extend(more),
            Err(error) => {
                let _lock = self.lock().await?;
                self.undo_create(&worktree).await;
                return Err(error);
            }
        }
        worktree.is_ready = true;
        worktree.save(&self.record_path(name))?;
        Ok(Created { worktree, notes })
    }

    /// Checks a worktree whose folder is gone out again, from its branch.
    pub async fn recreate(&self, name: &WorktreeName, new: &NewWorktree) -> Result<Created, Error> {
        let _name_lock = self.lock_name(name).await?;
        let mut worktree = self.worktree(name)?;
        let lock = self.lock().await?;
        if fs::symlink_metadata(&worktree.path).is_ok() {
            return Err(Error::Exists(name.to_string()));
        }
        if self.commit_of(&name.branch_ref()).await?.is_none() {
            return Err(Error::BranchGone {
                name: name.to_string(),
                branch: name.branch(),
            });
        }
        let rescue = self.rescue_lost(&worktree).await?;
        self.forget_missing(&worktree.path).await?;
        let path = worktree.path.as_os_str().to_owned();
        let add = ["worktree".into(), "add".into(), path, name.branch().into()];
        self.git().online().run(&add).await?;
        drop(lock);
        let mut notes = vec![Note::Recreated];
        notes.extend(rescue.map(Note::Rescued));
        notes.extend(self.furnish(&worktree, &new.copy).await?);
        worktree.is_ready = true;
        worktree.is_set_up = false;
        worktree.save(&self.record_path(name))?;
        Ok(Created { worktree, notes })
    }

    /// Notes that the caller's setup has succeeded in a worktree.
    pub fn note_set_up(&self, name: &WorktreeName) -> Result<(), Error> {
        let mut worktree = self.worktree(name)?;
        worktree.is_set_up = true;
        worktree.save(&self.record_path(name))
    }

    async fn resolve_base(&self, asked: Option<&str>, notes: &mut Vec<Note>) -> Result<Base, Error> {
        let Some(asked) = asked else {
            let head = self
                .git_in(self.checkout())
                .answer(&["symbolic-ref", "--quiet", "HEAD"])
                .await?;
            let commit = self
                .git_in(self.checkout())
                .answer(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
                .await?;
            let commit = commit.ok_or_else(|| Error::NoCommits(self.checkout().to_owned()))?;
            self.note_about_base(head.as_deref(), notes).await?;
            return Ok(Base {
                reference: head,
                commit,
            });
        };
        let unknown = || Error::UnknownBase(asked.to_owned());
        if asked.starts_with('-') {
            return Err(unknown());
        }
        let name = ["rev-parse", "--symbolic-full-name", asked];
        let named = self.git_in(self.checkout()).text(&name).await.unwrap_or_default();
        let is_branch = named.starts_with("refs/heads/") || named.starts_with("refs/remotes/");
        // A range names two.
        let reference = (is_branch && named.lines().count() == 1).then_some(named);
        if let Some(remote) = reference
            .as_deref()
            .and_then(|name| name.strip_prefix("refs/remotes/"))
        {
            self.fetch(remote, notes).await?;
        }
        let commit = self.commit_of(reference.as_deref().unwrap_or(asked)).await?;
        let commit = commit.ok_or_else(unknown)?;
        self.note_about_base(reference.as_deref(), notes).await?;
        Ok(Base { reference, commit })
    }

    /// Fetches `<remote>/<branch>`. If that fails, what is known of it is used.
    async fn fetch(&self, branch: &str, notes: &mut Vec<Note>) -> Result<(), Error> {
        let remotes = self.git().text(&["remote"]).await?;
        let found = remotes.lines().find_map(|remote| {
            let rest = branch.strip_prefix(remote)?.strip_prefix('/')?;
            Some((remote, rest))
        });
        let Some((remote, name)) = found else {
            return Ok(());
        };
        let git = self.git().online().timeout(FETCH_TIMEOUT);
        let arguments = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--no-write-fetch-head",
            "--",
            remote,
            name,
        ];
        if let Err(error) = git.run(&arguments).await {
            notes.push(Note::FetchFailed {
                base: branch.to_owned(),
                why: error.to_string(),
            });
        }
        Ok(())
    }

    async fn note_about_base(&self, reference: Option<&str>, notes: &mut Vec<Note>) -> Result<(), Error> {
        let Some(reference) = reference else {
            notes.push(Note::NoBaseBranch);
            return Ok(());
        };
        let format = ["for-each-ref", "--format=%(upstream)", reference];
        let upstream = self.git().text(&format).await?;
        if upstream.is_empty() || self.commit_of(&upstream).await?.is_none() {
            return Ok(());
        }
        let range = format!("{reference}..{upstream}");
        let behind = self.git().text(&["rev-list", "--count", &range, "--"]).await?;
        let commits = behind.parse().unwrap_or(0);
        if commits > 0 {
            notes.push(Note::Behind {
                base: short_ref(reference).to_owned(),
                upstream: short_ref(&upstream).to_owned(),
                commits,
            });
        }
        Ok(())
    }

    /// Refuses a name that is in use; removes what a crashed creation left.
    async fn make_room(&self, name: &WorktreeName) -> Result<(), Error> {
        match self.load(name)? {
            Some(worktree) if worktree.is_ready => return Err(Error::Exists(name.to_string())),
            Some(worktree) => self.undo_create(&worktree).await,
            None => {}
        }
        if fs::symlink_metadata(self.worktree_path(name)).is_ok() {
            return Err(Error::Exists(name.to_string()));
        }
        if self.commit_of(&name.branch_ref()).await?.is_some() {
            return Err(Error::BranchExists {
                branch: name.branch(),
            });
        }
        Ok(())
    }

    async fn check_out_new(&self, worktree: &Worktree) -> Result<(), Error> {
        let path = worktree.path.as_os_str();
        let branch = worktree.branch();
        let add = ["worktree", "add", "--quiet", "--no-track", "-b", &branch, "--"].map(Into::into);
        let arguments: Vec<&std::ffi::OsStr> = add
            .iter()
            .map(std::ffi::OsString::as_os_str)
            .chain([path, worktree.base_commit.as_ref()])
            .collect();
        self.git().online().run(&arguments).await
    }

    /// What is copied into a worktree, and what is noteworthy about it.
    async fn furnish(&self, worktree: &Worktree, copy: &[String]) -> Result<Vec<Note>, Error> {
        let mut notes = Vec::new();
        let said = self
            .git_in(&worktree.path)
            .text(&["rev-parse", "--is-shallow-repository"])
            .await?;
        if said == "true" {
            notes.push(Note::Shallow);
        }
        let sparse = ["config", "--type=bool", "--get", "core.sparseCheckout"];
        if self.git_in(&worktree.path).answer(&sparse).await?.as_deref() == Some("true") {
            notes.push(Note::Sparse);
        }
        let submodules = self.submodules(&worktree.path).await?;
        if !submodules.is_empty() {
            notes.push(Note::Submodules(submodules));
        }
        if uses_large_files(&worktree.path) {
            notes.push(Note::LargeFilesSkipped);
        }
        let changes = self.changes(self.checkout()).await?;
        if !changes.is_empty() {
            notes.push(Note::CheckoutDirty(changes.all().len()));
        }
        notes.extend(self.copy_ignored(&worktree.path, copy).await?);
        Ok(notes)
    }

    /// Removes a worktree that nobody has used yet. Its files are only what git and we have put there.
    async fn undo_create(&self, worktree: &Worktree) {
        // Twice, because git locks a worktree while it is being added.
        let remove = ["worktree", "remove", "--force", "--force", "--"].map(Into::into);
        let mut arguments: Vec<std::ffi::OsString> = remove.into();
        arguments.push(worktree.path.as_os_str().to_owned());
        let removed = self.git().run(&arguments).await;
        if removed.is_err() && fs::symlink_metadata(&worktree.path).is_ok() {
            // git does not know it: it is moved away, not deleted.
            let _ = self.move_to_quarantine(worktree, None);
        }
        let branch = worktree.name.branch_ref();
        // Only while it is where we put it.
        let delete = ["update-ref", "-d", &branch, &worktree.base_commit];
        let _ = self.git().run(&delete).await;
        let _ = fs::remove_file(self.record_path(&worktree.name));
    }

    /// Makes git forget a checkout whose folder is gone. Others that are missing, such as on a disk that is not mounted,
    /// are left alone.
    pub(crate) async fn forget_missing(&self, path: &Path) -> Result<(), Error> {
        let is_known = self
            .checkouts()
            .await?
            .iter()
            .any(|checkout| checkout.path == path);
        if !is_known || fs::symlink_metadata(path).is_ok() {
            return Ok(());
        }
        let arguments = ["worktree", "remove", "--force", "--force", "--"].map(Into::into);
        let mut arguments: Vec<std::ffi::OsString> = arguments.into();
        arguments.push(path.as_os_str().to_owned());
        self.git().run(&arguments).await
    }
}

fn uses_large_files(folder: &Path) -> bool {
    let attributes = fs::read_to_string(folder.join(".gitattributes"));
    attributes.is_ok_and(|text| text.contains("filter=lfs"))
}
