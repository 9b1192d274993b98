//! A shell command that reports its start and then waits until the test lets it go on.

use rustix::fs::{CWD, Mode, mkfifoat};
use std::io;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};

/// Two named pipes in the agent's working directory: one for the command's start, one to release it.
#[derive(Debug)]
pub struct ShellGate {
    directory: PathBuf,
    started: Receiver,
    release: Sender,
}

impl ShellGate {
    /// Makes the pipes. Call it in a tokio runtime.
    pub fn create(directory: &Path) -> io::Result<Self> {
        let make = |name: &str| -> io::Result<PathBuf> {
            let path = directory.join(name);
            mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR)?;
            Ok(path)
        };
        // Open for both directions, so that neither side has to wait for the other.
        let mut both = OpenOptions::new();
        both.read_write(true);
        Ok(Self {
            started: both.open_receiver(make("started")?)?,
            release: both.open_sender(make("release")?)?,
            directory: directory.to_owned(),
        })
    }

    /// The command. It prints `released` at its end.
    #[must_use]
    pub fn command(&self) -> String {
        let directory = self.directory.display();
        format!("echo started > '{directory}/started'; read line < '{directory}/release'; echo released")
    }

    /// Waits until the command runs.
    pub async fn started(&mut self) -> io::Result<()> {
        self.started
            .read_exact(&mut [0; "started\n".len()])
            .await
            .map(drop)
    }

    /// Lets the command go on.
    pub async fn release(&mut self) -> io::Result<()> {
        self.release.write_all(b"go\n").await
    }
}
