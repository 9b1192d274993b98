//! `Workspace`: where the paths that an agent names are. A part of `Watchdog`, whose rules judge changed files by it.

use std::path::{Component, Path, PathBuf};

/// ralph's own folder: the agent writes notes there, which are no part of its work.
const OWN_FOLDER: &str = ".ralph";

#[derive(Debug, Default)]
pub(super) struct Workspace {
    /// The workspace, and the same place as the agent names it.
    roots: Vec<PathBuf>,
}

impl Workspace {
    pub(super) fn new(path: &str) -> Self {
        Self {
            roots: vec![normalized(Path::new(path))],
        }
    }

    /// Another name of the same place.
    pub(super) fn add_name(&mut self, path: &str) {
        let path = normalized(Path::new(path));
        if !self.roots.contains(&path) {
            self.roots.push(path);
        }
    }

    pub(super) fn is_known(&self) -> bool {
        !self.roots.is_empty()
    }

    pub(super) fn absolute(&self, path: &str) -> PathBuf {
        match self.roots.first() {
            Some(workspace) => normalized(&workspace.join(path)),
            None => normalized(Path::new(path)),
        }
    }

    /// An absolute path relative to the workspace, if it is there.
    pub(super) fn relative<'path>(&self, path: &'path Path) -> Option<&'path Path> {
        self.roots.iter().find_map(|root| path.strip_prefix(root).ok())
    }

    /// Whether a path, as the agent names it, is in ralph's own folder.
    pub(super) fn is_own(&self, path: &str) -> bool {
        let path = self.absolute(path);
        self.relative(&path).unwrap_or(&path).starts_with(OWN_FOLDER)
    }
}

/// Without `.` and `..`. Links are not followed: this is a fold, which reads no disk.
fn normalized(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}
