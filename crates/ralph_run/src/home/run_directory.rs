//! The directory of one run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::private::make_directory_all;

/// What a socket's path may have at most. The system's own limit is a little higher; it counts bytes.
const MAX_SOCKET_PATH_BYTES: usize = 100;

/// One run as a directory: what is where. Makes and reads nothing by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirectory {
    id: String,
    path: PathBuf,
    socket: PathBuf,
}

impl RunDirectory {
    pub(super) fn new(runs: &Path, runtime: Option<&Path>, id: String) -> Self {
        let path = runs.join(&id);
        let mut socket = path.join("control.sock");
        if let Some(runtime) = runtime
            && socket.as_os_str().len() > MAX_SOCKET_PATH_BYTES
        {
            socket = runtime.join("ralph").join(format!("{id}.sock"));
        }
        Self { id, path, socket }
    }

    /// The run's name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The records.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.path.join("journal.ndjson")
    }

    /// Request and status.
    #[must_use]
    pub fn run_file(&self) -> PathBuf {
        self.path.join("run.json")
    }

    /// What the `number`-th process of the run wrote, byte for byte.
    #[must_use]
    pub fn raw_log(&self, number: u32) -> PathBuf {
        self.path.join("raw").join(format!("{number}.ndjson"))
    }

    /// What it wrote to stderr.
    #[must_use]
    pub fn stderr_log(&self, number: u32) -> PathBuf {
        self.path.join("raw").join(format!("{number}.stderr"))
    }

    /// What the `number`-th verify command of the run wrote.
    #[must_use]
    pub fn verify_log(&self, number: u32) -> PathBuf {
        self.path.join("raw").join(format!("verify-{number}.log"))
    }

    /// Where the runner takes commands: in the directory, or with the user's other sockets if that path is too long.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Makes the directory for the socket, and says where the socket goes.
    ///
    /// # Errors
    /// When it cannot be made, or the path is too long for a socket.
    pub fn prepare_socket(&self) -> io::Result<&Path> {
        if self.socket.as_os_str().len() > MAX_SOCKET_PATH_BYTES {
            let message = format!(
                "too long a path for a socket (more than {MAX_SOCKET_PATH_BYTES} bytes); set XDG_RUNTIME_DIR: `{}`",
                self.socket.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidFilename, message));
        }
        if let Some(parent) = self.socket.parent() {
            make_directory_all(parent)?;
        }
        Ok(&self.socket)
    }

    /// What it takes on the disk, as far as nobody else keeps it.
    #[must_use]
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
    fn a_socket_whose_path_is_too_long_goes_to_the_runtime_directory() {
        let short = RunDirectory::new(Path::new("/s/runs"), Some(Path::new("/run/user/1")), "a".into());
        assert_eq!(short.socket(), Path::new("/s/runs/a/control.sock"));
        let deep = "/x".repeat(60);
        let long = RunDirectory::new(Path::new(&deep), Some(Path::new("/run/user/1")), "a".into());
        assert_eq!(long.socket(), Path::new("/run/user/1/ralph/a.sock"));
        let nowhere = RunDirectory::new(Path::new(&deep), None, "a".into());
        assert!(nowhere.prepare_socket().is_err());
    }
}
