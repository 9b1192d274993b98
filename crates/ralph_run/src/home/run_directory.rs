//! `RunDirectory`: the files of one run, and where its control socket is. Runners and clients use it.

use std::fs;
use std::path::{Path, PathBuf};

use agent_process::Marker;

/// Carries the run's id in the environment of its processes. Must not change: a later version sweeps what an earlier
/// one left running.
pub const RUN_ID_VARIABLE: &str = "RALPH_RUN_ID";

/// Longest path of a control socket. The system's limit is 108 bytes on Linux and 104 on macOS, including the final NUL.
pub(crate) const MAX_SOCKET_PATH_BYTES: usize = 100;

/// Short enough for a socket on every system. Holds the sockets of runs whose own directory cannot.
const FALLBACK_FOLDER: &str = "/tmp";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirectory {
    id: String,
    path: PathBuf,
    /// The user's directory for sockets, if there is one.
    runtime: Option<PathBuf>,
}

impl RunDirectory {
    pub(super) fn new(runs: &Path, runtime: Option<&Path>, id: String) -> Self {
        Self {
            path: runs.join(&id),
            runtime: runtime.map(Path::to_owned),
            id,
        }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// The part of the id that people type.
    pub fn short_id(&self) -> &str {
        super::run_id::short_run_id(&self.id)
    }

    /// Marks the processes of this run, so that [`sweep`](agent_process::sweep) finds them after a crash.
    pub fn marker(&self) -> Marker {
        Marker::new(RUN_ID_VARIABLE, &self.id)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn journal(&self) -> PathBuf {
        self.path.join("journal.ndjson")
    }

    pub fn run_file(&self) -> PathBuf {
        self.path.join("run.json")
    }

    /// An empty file: the run has ended because its files cannot be written. It needs no room for content.
    pub(crate) fn storage_failure(&self) -> PathBuf {
        self.path.join("storage-failed")
    }

    /// What the `number`-th process of the run wrote, byte for byte.
    pub fn raw_log(&self, number: u32) -> PathBuf {
        self.path.join("raw").join(format!("{number}.ndjson"))
    }

    pub fn stderr_log(&self, number: u32) -> PathBuf {
        self.path.join("raw").join(format!("{number}.stderr"))
    }

    /// What the `number`-th verify command of the run wrote.
    pub fn verify_log(&self, number: u32) -> PathBuf {
        self.path.join("raw").join(format!("verify-{number}.log"))
    }

    /// Where the runner takes commands. If the run directory cannot hold a socket, it holds a link to where it is.
    pub fn socket(&self) -> PathBuf {
        let own = self.own_socket();
        match fs::read_link(&own) {
            Ok(target) => target,
            // Earlier versions left no link to a socket in the runtime directory.
            Err(_) => self.socket_candidates().into_iter().next().unwrap_or(own),
        }
    }

    /// The socket's place in the run directory, or the link to it.
    pub(crate) fn own_socket(&self) -> PathBuf {
        self.path.join("control.sock")
    }

    /// Where the socket can be, best first; paths that are too long for a socket are left out. The folder in `/tmp` is
    /// private and never too long, so there is always one.
    pub(crate) fn socket_candidates(&self) -> Vec<PathBuf> {
        let name = format!("{}.sock", self.id);
        let user = rustix::process::geteuid().as_raw();
        let runtime = self.runtime.as_ref().map(|runtime| runtime.join("ralph"));
        let fallback = Path::new(FALLBACK_FOLDER).join(format!("ralph-{user}"));
        std::iter::once(self.own_socket())
            .chain(runtime.map(|folder| folder.join(&name)))
            .chain([fallback.join(&name)])
            .filter(|path| path.as_os_str().len() <= MAX_SOCKET_PATH_BYTES)
            .collect()
    }

    /// Disk space that removing it frees: files with other hard links do not count.
    pub fn size_bytes(&self) -> u64 {
        size_of(self.path())
    }
}

fn size_of(path: &Path) -> u64 {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return 0;
    };
    if metadata.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        return entries.map(|entry| size_of(&entry.path())).sum();
    }
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(&metadata) > 1 {
        // Linked from the workspace: it stays.
        return 0;
    }
    metadata.len()
}

#[cfg(test)]
mod tests {
    use super::RunDirectory;
    use std::path::Path;

    #[test]
    fn a_socket_whose_path_is_too_long_goes_to_a_short_private_folder() {
        let runtime = Path::new("/run/user/1");
        let short = RunDirectory::new(Path::new("/s/runs"), Some(runtime), "a".into());
        assert_eq!(short.socket(), Path::new("/s/runs/a/control.sock"));
        let deep = "/x".repeat(60);
        let long = RunDirectory::new(Path::new(&deep), Some(runtime), "a".into());
        assert_eq!(long.socket(), Path::new("/run/user/1/ralph/a.sock"));
        let user = rustix::process::geteuid().as_raw();
        for runtime in [None, Some(Path::new(&deep))] {
            let nowhere_else = RunDirectory::new(Path::new(&deep), runtime, "a".into());
            assert_eq!(
                nowhere_else.socket(),
                Path::new(&format!("/tmp/ralph-{user}/a.sock"))
            );
        }
    }
}
