//! `Runners`: commands to the runner of a run, and reading its files, wherever it is. `SocketRunners` is for this machine.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use ralph_run::control::{ControlClient, ControlError, ControlRequest, Receipt, Refusal};
use ralph_run::git::{GitChanges, changes_since};
use ralph_run::{Home, Liveness, RunDirectory, RunFile, open_regular_file, remove_ended};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::sandboxed_open::open_in_workspace;

/// How many workspaces are compared with their commits at once: each comparison may read every file.
const MAX_COMPARISONS: usize = 2;
const MAX_COMPARISON_WAIT: Duration = Duration::from_secs(10);
/// A workspace can be on a disk that does not answer. Reads of it then keep no more threads than this, of those that the
/// whole server shares.
const MAX_WORKSPACE_READS: usize = 16;
const WORKSPACE_READ_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a runner may take to write its file, and how often it is looked for.
const RUN_FILE_TIMEOUT: Duration = Duration::from_secs(1);
const RUN_FILE_INTERVAL: Duration = Duration::from_millis(20);

/// What a runner can be asked for. A missing run or file is [`io::ErrorKind::NotFound`].
#[async_trait]
pub trait Runners: fmt::Debug + Send + Sync + 'static {
    /// Sends a command. The client's id makes it safe to repeat: the same id is done once.
    async fn command(&self, run: &str, request: ControlRequest) -> Result<Receipt, CommandError>;

    /// Opens what a process of the run wrote, byte for byte.
    async fn raw(&self, run: &str, log: RawLogName) -> io::Result<Box<dyn RawLog>>;

    /// Reads the start of a file beneath a workspace, and nothing outside of it.
    async fn file(&self, workspace: &Path, path: &Path, max_bytes: u64) -> io::Result<FileStart>;

    /// Compares the files of a workspace with a commit, or only one of them. None if git cannot say.
    async fn changes(&self, workspace: &Path, start_commit: &str, path: Option<&str>) -> Option<GitChanges>;

    /// Deletes a run that has ended, with everything that was kept of it.
    async fn remove(&self, run: &str) -> io::Result<Removal>;

    /// The process ids of the runners that are on this machine: every local agent is below one of them. It fails if one
    /// may be missing.
    async fn local_processes(&self) -> io::Result<Vec<u32>>;
}

/// What became of a run that was to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// It is deleted.
    Removed,
    /// It has not ended, and is as it was.
    NotEnded,
}

/// Which output of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawLogName {
    /// What the process of this number wrote to stdout.
    Output(u32),
    /// What it wrote to stderr.
    Errors(u32),
}

/// Raw output, which may still grow.
#[async_trait]
pub trait RawLog: Send + Sync {
    /// How long it was when it was opened.
    fn length_bytes(&self) -> u64;

    /// Reads at most `max_bytes` from `offset` on; nothing at the end.
    async fn read_at(&self, offset: u64, max_bytes: usize) -> io::Result<Bytes>;
}

/// The start of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStart {
    /// How large the file is.
    pub size_bytes: u64,
    /// Its first bytes.
    pub bytes: Vec<u8>,
}

/// Why a command was not carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// There is no such run.
    #[error("no run `{0}`")]
    NoSuchRun(String),
    /// The run has ended.
    #[error("the run is over")]
    NotRunning,
    /// The runner refused it.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// The runner does not answer.
    #[error(transparent)]
    Unreachable(ControlError),
}

impl From<ControlError> for CommandError {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::NotRunning { .. } | ControlError::Closed => Self::NotRunning,
            ControlError::Refused(refusal) => Self::Refused(refusal),
            other => Self::Unreachable(other),
        }
    }
}

/// The runners of a [`Home`], by their control sockets and files.
#[derive(Debug, Clone)]
pub struct SocketRunners {
    home: Home,
    comparisons: Arc<Semaphore>,
    workspace_reads: Arc<Semaphore>,
}

impl SocketRunners {
    /// The runners of this home.
    #[must_use]
    pub fn new(home: Home) -> Self {
        Self {
            home,
            comparisons: Arc::new(Semaphore::new(MAX_COMPARISONS)),
            workspace_reads: Arc::new(Semaphore::new(MAX_WORKSPACE_READS)),
        }
    }

    async fn find<T: Send + 'static>(
        &self,
        run: &str,
        work: impl FnOnce(RunDirectory) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let (home, run) = (self.home.clone(), run.to_owned());
        blocking(move || work(home.run(&run).ok_or(io::ErrorKind::NotFound)?)).await
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(io::Error::other)?
}

#[async_trait]
impl Runners for SocketRunners {
    async fn command(&self, run: &str, request: ControlRequest) -> Result<Receipt, CommandError> {
        let socket = self.find(run, |directory| Ok(directory.socket())).await;
        let socket = socket.map_err(|_| CommandError::NoSuchRun(run.to_owned()))?;
        let client = ControlClient::connect(socket).await?;
        let mut client = match request.by {
            Some(by) => client.named(by),
            None => client,
        };
        Ok(client.request_as(request.id, request.command).await?)
    }

    async fn raw(&self, run: &str, log: RawLogName) -> io::Result<Box<dyn RawLog>> {
        let opened = self.find(run, move |directory| {
            let path = match log {
                RawLogName::Output(process) => directory.raw_log(process),
                RawLogName::Errors(process) => directory.stderr_log(process),
            };
            let file = open_regular_file(&path)?;
            let length_bytes = file.metadata()?.len();
            Ok(LocalRawLog {
                file: file.into(),
                length_bytes,
            })
        });
        Ok(Box::new(opened.await?))
    }

    async fn file(&self, workspace: &Path, path: &Path, max_bytes: u64) -> io::Result<FileStart> {
        let (workspace, path): (PathBuf, PathBuf) = (workspace.to_owned(), path.to_owned());
        let permits = Arc::clone(&self.workspace_reads);
        let read = async move {
            let permit = permits.acquire_owned().await.map_err(io::Error::other)?;
            blocking(move || {
                let _permit = permit;
                let file = open_in_workspace(&workspace, &path)?;
                let size_bytes = file.metadata()?.len();
                let mut bytes = Vec::new();
                file.take(max_bytes).read_to_end(&mut bytes)?;
                Ok(FileStart { size_bytes, bytes })
            })
            .await
        };
        timeout(WORKSPACE_READ_TIMEOUT, read)
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    async fn changes(&self, workspace: &Path, start_commit: &str, path: Option<&str>) -> Option<GitChanges> {
        let permit = timeout(MAX_COMPARISON_WAIT, self.comparisons.acquire()).await;
        let _permit = permit.ok()?.ok()?;
        changes_since(workspace, start_commit, path).await
    }

    async fn remove(&self, run: &str) -> io::Result<Removal> {
        let (home, run) = (self.home.clone(), run.to_owned());
        blocking(move || {
            if home.run(&run).is_none() {
                return Err(io::ErrorKind::NotFound.into());
            }
            let mut cleaned = remove_ended(&home, std::slice::from_ref(&run));
            if let Some((_, error)) = cleaned.failed.pop() {
                return Err(error);
            }
            let is_removed = !cleaned.removed.is_empty() || home.run(&run).is_none();
            Ok(if is_removed {
                Removal::Removed
            } else {
                Removal::NotEnded
            })
        })
        .await
    }

    async fn local_processes(&self) -> io::Result<Vec<u32>> {
        let home = self.home.clone();
        blocking(move || {
            let mut processes = Vec::new();
            for run in home.list_active().map_err(io::Error::other)? {
                let Some(file) = file_of_runner(&run)? else {
                    continue;
                };
                match file.runner.liveness() {
                    Liveness::Alive | Liveness::Unknown => processes.push(file.runner.pid),
                    Liveness::Gone | Liveness::Replaced | Liveness::OtherBoot => {}
                }
            }
            Ok(processes)
        })
        .await
    }
}

/// The file in which a runner says who it is; none if the run has not begun, or its runner was killed before it wrote it.
fn file_of_runner(run: &RunDirectory) -> io::Result<Option<RunFile>> {
    let deadline = Instant::now() + RUN_FILE_TIMEOUT;
    loop {
        match RunFile::load(&run.run_file()) {
            Ok(file) => return Ok(Some(file)),
            Err(_) if !is_held(&run.journal())? => return Ok(None),
            Err(error) if Instant::now() >= deadline => return Err(io::Error::other(error)),
            // A runner opens its journal a moment before it writes the file.
            Err(_) => std::thread::sleep(RUN_FILE_INTERVAL),
        }
    }
}

/// Whether a runner has this journal open: it locks it for as long as it lives.
fn is_held(journal: &Path) -> io::Result<bool> {
    match File::open(journal) {
        Ok(file) => Ok(matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

struct LocalRawLog {
    file: Arc<File>,
    length_bytes: u64,
}

#[async_trait]
impl RawLog for LocalRawLog {
    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    async fn read_at(&self, offset: u64, max_bytes: usize) -> io::Result<Bytes> {
        use std::os::unix::fs::FileExt as _;
        let file = Arc::clone(&self.file);
        blocking(move || {
            let mut bytes = vec![0; max_bytes];
            let read = file.read_at(&mut bytes, offset)?;
            bytes.truncate(read);
            Ok(bytes.into())
        })
        .await
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::{Runners as _, SocketRunners};
    use ralph_run::Home;
    use std::fs::File;

    #[tokio::test]
    async fn a_run_whose_runner_cannot_be_told_makes_the_list_of_runners_fail() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path().to_owned(), None);
        home.prepare().unwrap();
        let run = home.create_run(jiff::Timestamp::now()).unwrap();
        let runners = SocketRunners::new(home);
        assert!(runners.local_processes().await.unwrap().is_empty(), "not begun");
        std::fs::write(run.run_file(), "{}").unwrap();
        let journal = File::create(run.journal()).unwrap();
        assert!(runners.local_processes().await.unwrap().is_empty(), "killed");
        journal.try_lock().unwrap();
        assert!(runners.local_processes().await.is_err());
        std::fs::remove_file(run.run_file()).unwrap();
        assert!(runners.local_processes().await.is_err());
    }
}
