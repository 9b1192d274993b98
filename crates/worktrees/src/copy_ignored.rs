//! Copies ignored files, such as `.env` and `node_modules`, from the main checkout into a new worktree.
//!
//! Copies are clones where the file system can make them, and never links: what an agent changes in its worktree must
//! not change for others.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::git::{path_from_bytes, zero_separated};
use crate::note::Note;
use crate::repository::Repository;

/// Patterns of ignored files to copy, in the form of `.gitignore`.
const INCLUDE_FILE: &str = ".worktreeinclude";
const COPY_TIMEOUT: Duration = Duration::from_secs(600);
const MAX_NOTES: usize = 20;

impl Repository {
    /// Copies files that are ignored and match `.worktreeinclude` or one of the patterns. What is there is kept.
    pub(crate) async fn copy_ignored(&self, to: &Path, patterns: &[String]) -> Result<Vec<Note>, Error> {
        let from = self.checkout();
        let mut arguments: Vec<String> = ["ls-files", "-z", "--others", "--ignored"]
            .map(str::to_owned)
            .into();
        let mut has_patterns = !patterns.is_empty();
        if fs::symlink_metadata(from.join(INCLUDE_FILE)).is_ok_and(|metadata| metadata.is_file()) {
            arguments.push(format!("--exclude-from={INCLUDE_FILE}"));
            has_patterns = true;
        }
        arguments.extend(patterns.iter().map(|pattern| format!("--exclude={pattern}")));
        if !has_patterns {
            return Ok(Vec::new());
        }
        let listed = self.git_in(from).bytes(&arguments).await?;
        if listed.is_empty() {
            return Ok(Vec::new());
        }
        // What is not ignored is work in the user's checkout, and not meant for agents.
        let ignored = self
            .git_in(from)
            .input(listed)
            .without_pathspecs()
            .answer_bytes(&["check-ignore", "-z", "--stdin"])
            .await?;
        let paths: BTreeSet<PathBuf> = zero_separated(&ignored)
            .into_iter()
            .map(path_from_bytes)
            .collect();
        let mut copy = Copy {
            from: from.to_owned(),
            to: to.to_owned(),
            deadline: Instant::now() + COPY_TIMEOUT,
            notes: Vec::new(),
        };
        let copying = tokio::task::spawn_blocking(move || {
            for path in &paths {
                copy.copy(path)?;
            }
            Ok(copy.notes)
        });
        let failed = |source| Error::Io {
            action: "copy ignored files to",
            path: to.to_owned(),
            source,
        };
        match copying.await {
            Ok(copied) => copied.map_err(failed),
            Err(lost) => Err(failed(io::Error::other(lost))),
        }
    }
}

struct Copy {
    from: PathBuf,
    to: PathBuf,
    deadline: Instant,
    notes: Vec<Note>,
}

impl Copy {
    /// Copies what is at `path`, relative to both folders.
    fn copy(&mut self, path: &Path) -> io::Result<()> {
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(name) if name != ".git");
        if !path.components().all(is_plain) {
            return Ok(());
        }
        if Instant::now() >= self.deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let metadata = match fs::symlink_metadata(self.from.join(path)) {
            Ok(metadata) => metadata,
            Err(error) => {
                self.skip(path, error.to_string());
                return Ok(());
            }
        };
        let kind = metadata.file_type();
        if kind.is_dir() {
            return self.copy_folder(path);
        }
        if let Err(why) = self.make_parents(path) {
            self.skip(path, why);
            return Ok(());
        }
        let (source, target) = (self.from.join(path), self.to.join(path));
        if fs::symlink_metadata(&target).is_ok() {
            return Ok(());
        }
        if kind.is_file() {
            // The standard library clones where the file system can.
            return match fs::copy(&source, &target) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    self.skip(path, error.to_string());
                    Ok(())
                }
                copied => copied.map(drop),
            };
        }
        if kind.is_symlink() {
            return self.copy_link(path, &source, &target);
        }
        Ok(())
    }

    fn copy_folder(&mut self, path: &Path) -> io::Result<()> {
        if let Err(why) = self.make_parents(&path.join("x")) {
            self.skip(path, why);
            return Ok(());
        }
        let entries = match fs::read_dir(self.from.join(path)) {
            Ok(entries) => entries,
            Err(error) => {
                self.skip(path, error.to_string());
                return Ok(());
            }
        };
        for entry in entries {
            self.copy(&path.join(entry?.file_name()))?;
        }
        Ok(())
    }

    /// Copies a link that stays within the worktree. Any other one would let two worktrees share files.
    fn copy_link(&mut self, path: &Path, source: &Path, target: &Path) -> io::Result<()> {
        let to = fs::read_link(source)?;
        if !stays_within(path, &to) {
            self.skip(path, "it is a link out of the checkout".to_owned());
            return Ok(());
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(to, target)?;
        #[cfg(not(unix))]
        self.skip(
            path,
            format!("links are not copied on this system ({})", target.display()),
        );
        Ok(())
    }

    /// Makes the folders above a path. None of them may be a link, which could lead out of the worktree.
    fn make_parents(&self, path: &Path) -> Result<(), String> {
        let mut folder = self.to.clone();
        for part in path.parent().into_iter().flat_map(Path::components) {
            folder.push(part);
            match fs::symlink_metadata(&folder) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return Err("a file or link of the worktree is in its way".to_owned()),
                Err(_) => fs::create_dir(&folder).map_err(|error| error.to_string())?,
            }
        }
        Ok(())
    }

    fn skip(&mut self, path: &Path, why: String) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(Note::NotCopied {
                path: path.to_owned(),
                why,
            });
        }
    }
}

/// Whether a link at `path` with this content leads to something below the folder that `path` is relative to.
fn stays_within(path: &Path, content: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    for part in content.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::stays_within;

    #[test]
    fn a_link_is_copied_only_if_it_stays_within_the_worktree() {
        let stays = |path: &str, content: &str| stays_within(Path::new(path), Path::new(content));
        assert!(stays("node_modules/.bin/tsc", "../typescript/bin/tsc"));
        assert!(stays("a", "b/../c"));
        assert!(!stays("a", "../b"));
        assert!(!stays("a/b", "../../c"));
        assert!(!stays("a", "/etc/passwd"));
    }
}
