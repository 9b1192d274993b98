//! `Repository`: a git repository and the folder where its worktrees are kept.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::error::Error;
use crate::git::{Git, GitEnvironment, path_from_bytes, zero_separated};
use crate::lock::FileLock;
use crate::name::WorktreeName;
use crate::record::Worktree;

/// How long to wait for others who create or remove worktrees of the same repository.
const LOCK_TIMEOUT: Duration = Duration::from_secs(300);
const LOCK_FILE: &str = ".lock";
const ID_BYTES: usize = 8;

/// A git repository, the same one from each of its worktrees.
#[derive(Debug, Clone)]
pub struct Repository {
    id: String,
    /// Its common git directory.
    common: PathBuf,
    /// Its main checkout; for a bare repository the worktree from which it was found.
    checkout: PathBuf,
    /// Where worktrees of all repositories are kept.
    state: PathBuf,
    environment: GitEnvironment,
}

/// The id of the repository with this common git directory: all of its worktrees have the same one. `common` must be
/// canonical.
#[must_use]
pub fn repository_id(common: &Path) -> String {
    let digest = Sha256::digest(common.as_os_str().as_encoded_bytes());
    let bytes = digest.iter().take(ID_BYTES);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

impl Repository {
    /// Finds the repository around a folder. `state` is where worktrees of all repositories are kept; it is created if it
    /// is missing.
    ///
    /// # Errors
    /// If there is none, or if it is bare.
    pub async fn find(folder: &Path, state: &Path, environment: GitEnvironment) -> Result<Self, Error> {
        let git = || Git::new(folder, &environment);
        let found = git()
            .text(&["rev-parse", "--path-format=absolute", "--git-common-dir"])
            .await;
        let common = match found {
            Err(Error::Git { detail, .. }) if detail.contains("not a git repository") => {
                return Err(Error::NotARepository(folder.to_owned()));
            }
            found => PathBuf::from(found?),
        };
        let common = common.canonicalize().map_err(Error::io("open", &common))?;
        if git().text(&["rev-parse", "--is-bare-repository"]).await? == "true" {
            return Err(Error::Bare(folder.to_owned()));
        }
        let listed = list_checkouts(git()).await?;
        let checkout = match listed.into_iter().next() {
            // Of a submodule and of a separate git directory, git lists the git directory in place of the checkout.
            Some(main) if !main.is_bare && !main.path.join(".git").exists() => {
                find_separate_checkout(folder, &main.path, &common, &environment).await?
            }
            Some(main) if !main.is_bare => main.path,
            _ => PathBuf::from(git().text(&["rev-parse", "--show-toplevel"]).await?),
        };
        let id = repository_id(&common);
        make_private_folder(state).map_err(Error::io("create", state))?;
        // git names worktrees by their real path.
        let state = state.canonicalize().map_err(Error::io("open", state))?;
        Ok(Self {
            id,
            common,
            checkout,
            state,
            environment,
        })
    }

    /// A digest of the path of its common git directory.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its main checkout.
    pub fn checkout(&self) -> &Path {
        &self.checkout
    }

    /// Where its worktrees are kept.
    pub fn worktrees_folder(&self) -> PathBuf {
        self.state.join(&self.id)
    }

    /// The worktree with this name.
    ///
    /// # Errors
    /// If there is none, or its record is damaged.
    pub fn worktree(&self, name: &WorktreeName) -> Result<Worktree, Error> {
        self.load(name)?.ok_or_else(|| Error::Unknown(name.to_string()))
    }

    /// The worktree that a folder is in.
    pub fn worktree_around(&self, folder: &Path) -> Option<Worktree> {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let root = self.worktrees_folder();
        let root = root.canonicalize().unwrap_or(root);
        let first = folder.strip_prefix(&root).ok()?.components().next()?;
        let name = WorktreeName::parse(first.as_os_str().to_str()?).ok()?;
        self.load(&name).ok().flatten()
    }

    /// All worktrees, by name. A damaged record is an error in its place.
    pub fn worktrees(&self) -> Vec<Result<Worktree, Error>> {
        let entries = std::fs::read_dir(self.worktrees_folder());
        let mut paths: Vec<PathBuf> = entries
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| {
                let is_json = path.extension().is_some_and(|extension| extension == "json");
                is_json
                    && !path
                        .file_name()
                        .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
            })
            .collect();
        paths.sort();
        paths
            .iter()
            .filter_map(|path| Worktree::load(path).transpose())
            .map(|loaded| loaded.and_then(|worktree| self.checked(worktree)))
            .collect()
    }

    pub(crate) fn load(&self, name: &WorktreeName) -> Result<Option<Worktree>, Error> {
        let loaded = Worktree::load(&self.record_path(name))?;
        loaded.map(|worktree| self.checked(worktree)).transpose()
    }

    /// A record is a file that others could change: nothing outside of our folder is ever taken for a worktree.
    fn checked(&self, worktree: Worktree) -> Result<Worktree, Error> {
        if worktree.path == self.worktree_path(&worktree.name) {
            Ok(worktree)
        } else {
            Err(Error::OutsideOfState(worktree.path))
        }
    }

    pub(crate) fn state(&self) -> &Path {
        &self.state
    }

    pub(crate) fn common(&self) -> &Path {
        &self.common
    }

    pub(crate) fn worktree_path(&self, name: &WorktreeName) -> PathBuf {
        self.worktrees_folder().join(name.as_str())
    }

    pub(crate) fn record_path(&self, name: &WorktreeName) -> PathBuf {
        self.worktrees_folder().join(format!("{name}.json"))
    }

    /// git in the common directory: it works even if every checkout is gone.
    pub(crate) fn git(&self) -> Git {
        self.git_in(&self.common)
    }

    pub(crate) fn git_in(&self, folder: &Path) -> Git {
        Git::new(folder, &self.environment)
    }

    pub(crate) async fn lock(&self) -> Result<FileLock, Error> {
        let path = self.worktrees_folder().join(LOCK_FILE);
        FileLock::take(&path, "the worktrees of this repository", LOCK_TIMEOUT).await
    }

    /// Held while a worktree is created, removed or changed. Taken before [`Self::lock`].
    pub(crate) async fn lock_name(&self, name: &WorktreeName) -> Result<FileLock, Error> {
        let path = self.worktrees_folder().join(format!(".{name}.lock"));
        FileLock::take(&path, &format!("the worktree `{name}`"), LOCK_TIMEOUT).await
    }

    /// The commit that a ref or another expression names; `None` if there is none.
    pub(crate) async fn commit_of(&self, expression: &str) -> Result<Option<String>, Error> {
        let commit = format!("{expression}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        let found = self.git().answer(&arguments).await;
        match found {
            // What no ref can be called, such as `a..b`.
            Err(Error::Git { .. }) => Ok(None),
            found => Ok(found?.filter(|id| crate::git::is_commit_id(id))),
        }
    }

    pub(crate) async fn is_ancestor(&self, ancestor: &str, commit: &str) -> Result<bool, Error> {
        self.git()
            .succeeds(&["merge-base", "--is-ancestor", ancestor, commit])
            .await
    }

    /// All checkouts that git knows, the main one first.
    pub(crate) async fn checkouts(&self) -> Result<Vec<Checkout>, Error> {
        let mut checkouts = list_checkouts(self.git()).await?;
        if let Some(main) = checkouts.first_mut().filter(|main| !main.is_bare) {
            main.path.clone_from(&self.checkout);
        }
        Ok(checkouts)
    }
}

/// A checkout of the repository: the main one, or any worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkout {
    pub(crate) path: PathBuf,
    /// The full name of the branch that is checked out.
    pub(crate) branch: Option<String>,
    pub(crate) is_bare: bool,
}

async fn list_checkouts(git: Git) -> Result<Vec<Checkout>, Error> {
    let output = git.bytes(&["worktree", "list", "--porcelain", "-z"]).await?;
    let mut checkouts: Vec<Checkout> = Vec::new();
    for line in zero_separated(&output) {
        if let Some(path) = line.strip_prefix(b"worktree ") {
            checkouts.push(Checkout {
                path: path_from_bytes(path),
                branch: None,
                is_bare: false,
            });
        } else if let Some(checkout) = checkouts.last_mut() {
            if let Some(branch) = line.strip_prefix(b"branch ") {
                checkout.branch = Some(String::from_utf8_lossy(branch).into_owned());
            }
            checkout.is_bare |= line == b"bare";
        }
    }
    Ok(checkouts)
}

/// The main checkout of a repository whose git directory is elsewhere.
async fn find_separate_checkout(
    folder: &Path,
    directory: &Path,
    common: &Path,
    environment: &GitEnvironment,
) -> Result<PathBuf, Error> {
    let top = ["rev-parse", "--show-toplevel"];
    // A submodule's git directory names its checkout.
    let named = ["config", "--get", "core.worktree"];
    let git = Git::new(directory, environment);
    if let Some(named) = git.answer(&named).await? {
        let checkout = directory.join(named);
        return checkout.canonicalize().map_err(Error::io("open", &checkout));
    }
    let own = ["rev-parse", "--absolute-git-dir"];
    let own = PathBuf::from(Git::new(folder, environment).text(&own).await?);
    if own.canonicalize().ok().as_deref() != Some(common) {
        return Err(Error::SeparateGitDirectory(common.to_owned()));
    }
    Ok(PathBuf::from(Git::new(folder, environment).text(&top).await?))
}

/// Makes a folder that other users cannot read, unless it is there already.
fn make_private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)
}
