//! `start_detached`: starts a run in a new process, for `ralph run --detach` and for the server.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;
use ralph_run::{Home, LockError, LockInfo, RunDirectory, RunKind};
use serde::{Deserialize, Serialize};
use tokio::process::{Child, Command};

use super::hidden_env::server_variables;
use super::prepare::{self, FirstPrompt};
use crate::failure;
use crate::settings::Settings;

/// How long a live runner may take to start its run: it looks up the agent and takes locks. Generous for a loaded
/// machine; a runner that fails is noticed at once.
const START_TIMEOUT: Duration = Duration::from_secs(180);
const START_INTERVAL: Duration = Duration::from_millis(10);
const REQUEST_FILE: &str = "request.json";
const ERROR_FILE: &str = "start-error.json";
const LOG_FILE: &str = "runner.log";

/// A run to be started. It is passed in a private file, because every user can read a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    pub settings: Settings,
    /// A conversation may start without one.
    pub prompt: Option<String>,
    /// The run whose session it continues.
    pub resumed_from: Option<String>,
    /// Who starts it through a server.
    pub by: Option<String>,
    /// The run's id, if the caller has chosen it: then it is started once, however often it is requested.
    #[serde(skip)]
    pub run_id: Option<String>,
}

/// A run that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    pub run_id: String,
    pub warnings: Vec<String>,
}

/// Why a run did not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[error("{message}")]
pub enum StartError {
    /// Invalid settings, or settings that this agent does not support.
    Invalid {
        message: String,
        exit_code: u8,
        /// The flag of `ralph run` that is wrong, if it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flag: Option<String>,
    },
    /// Another run has the workspace or the session.
    Busy {
        message: String,
        holder: Option<LockInfo>,
    },
    /// The agent is not installed or not logged in.
    BackendUnavailable {
        message: String,
    },
    Other {
        message: String,
    },
}

impl StartError {
    pub fn of(error: &anyhow::Error) -> Self {
        let message = format!("{error:#}");
        if let Some(LockError::Held(held)) = error.downcast_ref::<LockError>() {
            let holder = held.holder.clone();
            return Self::Busy { message, holder };
        }
        match failure::exit_code(error) {
            exit_code @ (64 | 78) => Self::Invalid {
                message,
                exit_code,
                flag: error
                    .downcast_ref::<failure::Failure>()
                    .and_then(|failure| failure.flag.clone()),
            },
            69 => Self::BackendUnavailable { message },
            _ => Self::Other { message },
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Invalid { exit_code, .. } => *exit_code,
            Self::BackendUnavailable { .. } => 69,
            Self::Busy { .. } | Self::Other { .. } => 1,
        }
    }
}

impl From<anyhow::Error> for StartError {
    fn from(error: anyhow::Error) -> Self {
        Self::of(&error)
    }
}

/// Starts a runner process and waits until its run has begun. The runner inherits neither our sockets nor a server's
/// secrets, and continues when this process ends.
///
/// # Errors
/// When the run did not begin; its directory is removed then.
pub async fn start_detached(home: &Home, start: &Start) -> Result<Started, StartError> {
    let has_prompt = start
        .prompt
        .as_ref()
        .is_some_and(|prompt| !prompt.trim().is_empty());
    if !has_prompt && (start.settings.kind == RunKind::Loop || start.prompt.is_some()) {
        return Err(StartError::Invalid {
            message: "the prompt is empty".to_owned(),
            exit_code: 64,
            flag: None,
        });
    }
    if let Some(earlier) = start.run_id.as_deref().and_then(|id| home.run(id))
        && adopt(&earlier, START_TIMEOUT).await?
    {
        return Ok(Started {
            run_id: earlier.id().to_owned(),
            warnings: Vec::new(),
        });
    }
    // Errors that the user must fix are reported before anything is written.
    let chosen = prepare::choose(&start.settings, Some(home)).await?;
    let directory = match &start.run_id {
        Some(id) => home
            .create_run_as(id)
            .context("cannot create the run directory")?,
        None => prepare::new_directory(home)?,
    };
    let mut runner = match spawn_runner(&directory, start) {
        Ok(runner) => runner,
        Err(error) => {
            let _ = std::fs::remove_dir_all(directory.path());
            return Err(error.into());
        }
    };
    wait_until_begun(&directory, &mut runner, START_TIMEOUT).await?;
    // Reaps it.
    tokio::spawn(async move { runner.wait().await });
    Ok(Started {
        run_id: directory.id().to_owned(),
        warnings: chosen.warnings,
    })
}

/// Waits for a run with this id that an earlier request started. False if no runner is starting it any more; its
/// directory is removed then.
async fn adopt(directory: &RunDirectory, limit: Duration) -> Result<bool, StartError> {
    let deadline = tokio::time::Instant::now() + limit;
    loop {
        if has_begun(directory) {
            return Ok(true);
        }
        if !is_being_started(directory)? {
            return match remove_unless_begun(directory) {
                Removal::Removed => Ok(false),
                Removal::HasBegun => Ok(true),
            };
        }
        if tokio::time::Instant::now() >= deadline {
            let message = "the run is still starting; try again later".to_owned();
            return Err(StartError::Busy {
                message,
                holder: None,
            });
        }
        tokio::time::sleep(START_INTERVAL).await;
    }
}

/// Whether a runner is starting the run: it holds the lock of its log as long as it lives.
///
/// # Errors
/// When that is unknown; then there may be one.
fn is_being_started(directory: &RunDirectory) -> anyhow::Result<bool> {
    let path = directory.path().join(LOG_FILE);
    let log = match File::open(&path) {
        // No runner was spawned.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        opened => opened.with_context(|| format!("cannot open `{}`", path.display()))?,
    };
    Ok(!is_lock_free(log.try_lock(), &path)?)
}

/// Whether a runner is starting this run, which has no file yet. What a dead runner left of a start is removed.
pub(in crate::commands) fn is_starting(directory: &RunDirectory) -> bool {
    match is_being_started(directory) {
        Ok(false) => {
            // Begun but without a file: reconciliation ends it.
            remove_unless_begun(directory);
            false
        }
        Ok(true) | Err(_) => true,
    }
}

/// Whether the lock was free. An error does not mean that it is taken.
fn is_lock_free(tried: Result<(), TryLockError>, path: &Path) -> anyhow::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock `{}`", path.display()))
        }
    }
}

fn spawn_runner(directory: &RunDirectory, start: &Start) -> anyhow::Result<Child> {
    let path = directory.path().join(LOG_FILE);
    let log = private(&path)?;
    anyhow::ensure!(
        is_lock_free(log.try_lock(), &path)?,
        "another process is already starting this run"
    );
    let file = private(&directory.path().join(REQUEST_FILE))?;
    serde_json::to_writer(&file, start)?;
    let mut program = std::env::current_exe().context("cannot find this program")?;
    if cfg!(target_os = "linux") && !program.exists() {
        // An update has replaced it. This process still has the old one.
        program = "/proc/self/exe".into();
    }
    let mut command = Command::new(program);
    command
        .arg("__runner")
        .arg(directory.id())
        .current_dir(&start.settings.workspace)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    for name in server_variables() {
        command.env_remove(name);
    }
    command.spawn().context("cannot start the runner")
}

/// Whether the run has a journal or a run file. Then it belongs to its runner and to reconciliation, whatever becomes of
/// the process. The control socket is bound before either is written.
fn has_begun(directory: &RunDirectory) -> bool {
    directory.run_file().exists()
        || std::fs::metadata(directory.journal()).is_ok_and(|journal| journal.len() > 0)
}

/// Waits until the run has begun. If it does not, the runner is ended and what it left is removed, so that the run can be
/// started again.
async fn wait_until_begun(
    directory: &RunDirectory,
    runner: &mut Child,
    limit: Duration,
) -> Result<(), StartError> {
    let deadline = tokio::time::Instant::now() + limit;
    loop {
        // The journal comes a moment earlier, but the next command of a script reads the run file.
        if directory.run_file().exists() {
            return Ok(());
        }
        let ended = runner.try_wait().context("cannot watch the runner")?;
        let error = match ended {
            Some(status) => runner_error(directory, status),
            None if tokio::time::Instant::now() < deadline => {
                tokio::time::sleep(START_INTERVAL).await;
                continue;
            }
            None if has_begun(directory) => return Ok(()),
            None => {
                // Fails only if it has ended meanwhile.
                let _ = runner.kill().await;
                let message = format!(
                    "the run did not begin within {} s{}",
                    limit.as_secs(),
                    with_log(directory)
                );
                StartError::Other { message }
            }
        };
        return match remove_unless_begun(directory) {
            Removal::Removed => Err(error),
            // It began between the last check and the end of the runner.
            Removal::HasBegun => Ok(()),
        };
    }
}

enum Removal {
    Removed,
    HasBegun,
}

/// Removes what a dead runner left of a run that has not begun.
fn remove_unless_begun(directory: &RunDirectory) -> Removal {
    if has_begun(directory) {
        return Removal::HasBegun;
    }
    let _killed = agent_process::sweep(&directory.marker());
    let _ = std::fs::remove_file(directory.socket());
    if let Err(error) = std::fs::remove_dir_all(directory.path()) {
        tracing::warn!(%error, "cannot remove the directory of a run that did not start");
    }
    Removal::Removed
}

/// Why a runner ended before its run began: its own error, or else its exit status and log.
fn runner_error(directory: &RunDirectory, status: std::process::ExitStatus) -> StartError {
    let reported = std::fs::read(directory.path().join(ERROR_FILE))
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok());
    reported.unwrap_or_else(|| {
        let message = format!(
            "the runner ended before the run began ({status}){}",
            with_log(directory)
        );
        StartError::Other { message }
    })
}

/// The runner's log, as the end of an error message.
fn with_log(directory: &RunDirectory) -> String {
    let log = std::fs::read_to_string(directory.path().join(LOG_FILE)).unwrap_or_default();
    match log.trim().trim_start_matches("ralph: ") {
        "" => String::new(),
        log => format!(": {log}"),
    }
}

/// For the runner: reads the request.
pub(super) fn take_request(directory: &RunDirectory) -> anyhow::Result<(Settings, FirstPrompt)> {
    let path = directory.path().join(REQUEST_FILE);
    let text = std::fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let Start {
        settings,
        prompt,
        resumed_from,
        by,
        run_id: _,
    } = serde_json::from_slice(&text)?;
    let first_prompt = FirstPrompt {
        prompt,
        resumed_from,
        by,
    };
    Ok((settings, first_prompt))
}

/// For the runner: removes the request, which is in the journal, redacted.
pub(super) fn forget_request(directory: &Path) {
    let _ = std::fs::remove_file(directory.join(REQUEST_FILE));
}

/// For the runner: reports why it ends to the process that started it.
pub(super) fn report_error(directory: &RunDirectory, error: &anyhow::Error) {
    let file = private(&directory.path().join(ERROR_FILE));
    // If it cannot be written, the log still has it.
    let _ = file.map(|file| serde_json::to_writer(file, &StartError::of(error)));
}

fn private(path: &Path) -> anyhow::Result<std::fs::File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("cannot write `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs::TryLockError;
    use std::io::ErrorKind;
    use std::path::Path;
    use std::time::Duration;

    use ralph_run::Home;

    use super::{LOG_FILE, StartError, adopt, is_lock_free, wait_until_begun};

    fn sleeper() -> tokio::process::Child {
        tokio::process::Command::new("/bin/sleep")
            .arg("600")
            .env_clear()
            .spawn()
            .unwrap()
    }

    #[tokio::test]
    async fn a_runner_that_never_begins_is_ended_and_its_directory_removed() {
        let place = tempfile::tempdir().unwrap();
        let home = Home::new(place.path().join("state"), None);
        let directory = home.create_run(jiff::Timestamp::now()).unwrap();
        std::fs::write(directory.path().join(LOG_FILE), "ralph: waiting\n").unwrap();
        let mut runner = sleeper();
        let waited = wait_until_begun(&directory, &mut runner, Duration::ZERO).await;
        let Err(StartError::Other { message }) = waited else {
            unreachable!("{waited:?}")
        };
        assert_eq!(message, "the run did not begin within 0 s: waiting");
        assert!(!directory.path().exists());
        // It has been waited for: a process that is gone has no number.
        assert_eq!(runner.id(), None);
    }

    #[tokio::test]
    async fn a_run_that_has_a_journal_is_never_removed() {
        let place = tempfile::tempdir().unwrap();
        let home = Home::new(place.path().join("state"), None);
        for is_killed in [true, false] {
            let directory = home.create_run(jiff::Timestamp::now()).unwrap();
            std::fs::write(directory.journal(), "{}\n").unwrap();
            let mut runner = sleeper();
            if is_killed {
                runner.kill().await.unwrap();
            }
            assert_eq!(
                wait_until_begun(&directory, &mut runner, Duration::ZERO).await,
                Ok(())
            );
            assert!(directory.journal().exists());
            assert_eq!(adopt(&directory, Duration::ZERO).await, Ok(true));
            assert!(directory.journal().exists());
            assert_eq!(runner.id().is_none(), is_killed, "a live one continues");
            let _ = runner.kill().await;
        }
    }

    #[tokio::test]
    async fn a_runner_that_was_killed_is_reported_with_its_status() {
        let place = tempfile::tempdir().unwrap();
        let home = Home::new(place.path().join("state"), None);
        let directory = home.create_run(jiff::Timestamp::now()).unwrap();
        let mut runner = sleeper();
        runner.start_kill().unwrap();
        let waited = wait_until_begun(&directory, &mut runner, Duration::from_secs(60)).await;
        let Err(StartError::Other { message }) = waited else {
            unreachable!("{waited:?}")
        };
        assert_eq!(
            message,
            "the runner ended before the run began (signal: 9 (SIGKILL))"
        );
        assert!(!directory.path().exists());
    }

    #[tokio::test]
    async fn a_run_that_may_still_be_starting_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let home = Home::new(place.path().join("state"), None);
        let directory = home.create_run(jiff::Timestamp::now()).unwrap();
        let log = directory.path().join(LOG_FILE);
        std::os::unix::fs::symlink(&log, &log).unwrap();
        let waited = adopt(&directory, Duration::ZERO).await;
        assert!(matches!(waited, Err(StartError::Other { .. })), "{waited:?}");
        assert!(directory.path().exists());
    }

    #[test]
    fn only_a_lock_that_is_taken_means_that_a_runner_has_it() {
        let path = Path::new("/runs/a/runner.log");
        let tried = |tried| is_lock_free(tried, path);
        assert!(tried(Ok(())).unwrap());
        assert!(!tried(Err(TryLockError::WouldBlock)).unwrap());
        let error = tried(Err(TryLockError::Error(ErrorKind::Unsupported.into()))).unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "cannot lock `/runs/a/runner.log`: unsupported"
        );
    }

    #[tokio::test]
    async fn a_run_that_another_process_starts_is_waited_for_and_removed_if_it_dies() {
        let place = tempfile::tempdir().unwrap();
        let home = Home::new(place.path().join("state"), None);
        let id = home.new_run_id(jiff::Timestamp::now());
        let directory = home.create_run_as(&id).unwrap();
        // No runner was started.
        assert_eq!(adopt(&directory, Duration::ZERO).await, Ok(false));
        assert!(!directory.path().exists());
        let directory = home.create_run_as(&id).unwrap();
        let log = std::fs::File::create(directory.path().join(LOG_FILE)).unwrap();
        log.lock().unwrap();
        // A runner is on its way.
        let waited = adopt(&directory, Duration::ZERO).await;
        assert!(matches!(waited, Err(StartError::Busy { .. })), "{waited:?}");
        std::fs::write(directory.run_file(), "{}").unwrap();
        assert_eq!(adopt(&directory, Duration::ZERO).await, Ok(true));
        std::fs::remove_file(directory.run_file()).unwrap();
        // It died before it had begun.
        drop(log);
        assert_eq!(adopt(&directory, Duration::ZERO).await, Ok(false));
        assert!(!directory.path().exists());
    }
}
