//! Which processes work in a folder, so that nothing is removed under them.

use std::fmt;
use std::path::Path;

/// A process whose working directory is in a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupant {
    pub pid: u32,
    /// The name of its program, as far as it is known.
    pub program: String,
}

impl fmt::Display for Occupant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "process {} (`{}`)", self.pid, self.program)
    }
}

/// The first process with its working directory at or below `folder`. Only Linux says; elsewhere there is none.
pub(crate) fn find_occupant(folder: &Path) -> Option<Occupant> {
    let folder = folder.canonicalize().ok()?;
    let processes = std::fs::read_dir("/proc").ok()?;
    processes.flatten().find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        // Processes of other users cannot be read.
        let cwd = std::fs::read_link(entry.path().join("cwd")).ok()?;
        if !cwd.starts_with(&folder) {
            return None;
        }
        let program = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        Some(Occupant {
            pid,
            program: program.trim().to_owned(),
        })
    })
}
