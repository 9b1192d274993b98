//! `Repository`: where the tasks are kept that a directory belongs to. Worktrees share those of the main checkout.

use std::fs;
use std::path::{Path, PathBuf};

use worktrees::repository_id;

use crate::settings::{SettingsError, find_workspace};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) struct Repository {
    /// The top of the main checkout; without a repository the directory itself.
    pub(in crate::commands) root: PathBuf,
    /// A digest of the path of the common git directory.
    pub(in crate::commands) id: String,
}

impl Repository {
    pub(in crate::commands) fn find(directory: Option<&Path>, cwd: &Path) -> Result<Self, SettingsError> {
        let start = match directory {
            Some(_) => find_workspace(directory, cwd)?,
            None => cwd.to_owned(),
        };
        let top = find_workspace(None, &start)?;
        let top = top.canonicalize().unwrap_or(top);
        let common = common_directory(&top);
        let root = match &common {
            Some(common) if common.file_name().is_some_and(|name| name == ".git") && !is_bare(common) => {
                common.parent().unwrap_or(&top).to_owned()
            }
            // A submodule, or a worktree of a repository that has no checkout of its own.
            Some(_) | None => top.clone(),
        };
        let id = repository_id(&common.unwrap_or(top));
        Ok(Self { root, id })
    }
}

/// A bare repository has no checkout beside it, whatever its name is.
fn is_bare(common: &Path) -> bool {
    let config = fs::read_to_string(common.join("config")).unwrap_or_default();
    config
        .lines()
        .any(|line| line.replace([' ', '\t'], "").eq_ignore_ascii_case("bare=true"))
}

/// The git directory that all worktrees share.
fn common_directory(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    if dot_git.is_dir() {
        return dot_git.canonicalize().ok();
    }
    let text = fs::read_to_string(&dot_git).ok()?;
    let own = top
        .join(text.strip_prefix("gitdir:")?.trim())
        .canonicalize()
        .ok()?;
    let Ok(common) = fs::read_to_string(own.join("commondir")) else {
        return Some(own);
    };
    // Both name each other, or the file could send us to any repository.
    let back = fs::read_to_string(own.join("gitdir")).ok()?;
    let is_mutual = own.join(back.trim()).canonicalize().ok() == dot_git.canonicalize().ok();
    let common = own.join(common.trim()).canonicalize().ok()?;
    Some(if is_mutual { common } else { own })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use super::Repository;

    fn git(folder: &Path, arguments: &[&str]) {
        let status = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
            .args(arguments)
            .current_dir(folder)
            .env("HOME", folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .status();
        assert!(status.unwrap().success(), "{arguments:?}");
    }

    #[test]
    fn worktrees_and_folders_share_the_tasks_of_the_main_checkout() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let main = place.join("main");
        fs::create_dir_all(main.join("a/b")).unwrap();
        git(&main, &["init", "--quiet"]);
        git(&main, &["commit", "--quiet", "--allow-empty", "--message", "x"]);
        git(&main, &["worktree", "add", "--quiet", "../other"]);
        let found = Repository::find(None, &main).unwrap();
        assert_eq!(found.root, main);
        assert_eq!(found.id.len(), 16);
        assert_eq!(Repository::find(None, &main.join("a/b")).unwrap(), found);
        assert_eq!(Repository::find(None, &place.join("other")).unwrap(), found);
        assert_eq!(Repository::find(Some("other".as_ref()), &place).unwrap(), found);
        // A file that only claims to be a worktree.
        fs::create_dir(place.join("forged")).unwrap();
        fs::copy(place.join("other/.git"), place.join("forged/.git")).unwrap();
        let forged = Repository::find(None, &place.join("forged")).unwrap();
        assert_eq!(forged.root, place.join("forged"));
        assert_ne!(forged.id, found.id);
    }

    #[test]
    fn a_worktree_of_a_bare_repository_has_its_own_files_and_shared_claims() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let (first, second) = (place.join("main"), place.join("other"));
        git(&place, &["init", "--quiet", "--bare", ".git"]);
        git(&place, &["worktree", "add", "--quiet", "--orphan", "main"]);
        git(&first, &["commit", "--quiet", "--allow-empty", "--message", "x"]);
        git(
            &place,
            &["worktree", "add", "--quiet", "-b", "other", "other", "main"],
        );
        let [first_found, second_found] =
            [&first, &second].map(|checkout| Repository::find(None, checkout).unwrap());
        assert_eq!((&first_found.root, &second_found.root), (&first, &second));
        assert_eq!(first_found.id, second_found.id);
    }

    #[test]
    fn a_directory_without_a_repository_has_tasks_of_its_own() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        assert_eq!(Repository::find(None, &place).unwrap().root, place);
    }
}
