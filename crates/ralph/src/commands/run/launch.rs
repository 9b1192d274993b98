//! Starting a run in a process of its own, which outlives whoever started it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;
use ralph_run::control::ControlClient;
use ralph_run::{Home, LockError, LockInfo, RunDirectory, RunKind};
use serde::{Deserialize, Serialize};
use tokio::process::{Child, Command};

use super::prepare::{self, Beginning};
use super::withheld::withheld;
use crate::failure;
use crate::settings::Settings;
use crate::versions::VersionFile;

/// How long a runner may take to be there.
const START_LIMIT: Duration = Duration::from_secs(20);
const LOOK_AGAIN: Duration = Duration::from_millis(10);
const REQUEST_FILE: &str = "request.json";
const ERROR_FILE: &str = "start-error.json";
const LOG_FILE: &str = "runner.log";

/// A run to be started. In a private file on its way: a command line can be read by everybody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// How, and of which kind.
    pub settings: Settings,
    /// What the agent is told; a conversation may begin without.
    pub prompt: Option<String>,
    /// The run whose conversation it goes on with.
    pub resumed_from: Option<String>,
    /// What the run is called, if that is settled: then it is started once, however often it is asked for.
    #[serde(skip)]
    pub run_id: Option<String>,
}

/// A run that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// Names it.
    pub run_id: String,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// Why a run did not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[error("{message}")]
pub enum StartError {
    /// The settings make no sense, or not with this agent.
    Invalid {
        /// What is wrong.
        message: String,
        /// What a command exits with.
        exit_code: u8,
    },
    /// Another run has the workspace or the conversation.
    Busy {
        /// Who, and what to do.
        message: String,
        /// Who, where it says.
        holder: Option<LockInfo>,
    },
    /// The agent is not there, or not logged in.
    BackendUnavailable {
        /// What to do.
        message: String,
    },
    /// Something else.
    Other {
        /// What.
        message: String,
    },
}

impl StartError {
    /// What an error means to somebody who wanted to start a run.
    #[must_use]
    pub fn of(error: &anyhow::Error) -> Self {
        let message = format!("{error:#}");
        if let Some(LockError::Held(held)) = error.downcast_ref::<LockError>() {
            let holder = held.holder.clone();
            return Self::Busy { message, holder };
        }
        match failure::exit_code(error) {
            exit_code @ (64 | 78) => Self::Invalid { message, exit_code },
            69 => Self::BackendUnavailable { message },
            _ => Self::Other { message },
        }
    }

    /// What a command exits with.
    #[must_use]
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

/// Starts a runner of its own and waits until it is there. It gets neither our sockets nor a server's secrets, and
/// goes on when we end.
///
/// # Errors
/// When the run could not begin; nothing is left of it then.
pub async fn start_detached(
    home: &Home,
    start: &Start,
    versions: Option<&VersionFile>,
) -> Result<Started, StartError> {
    let has_prompt = start
        .prompt
        .as_ref()
        .is_some_and(|prompt| !prompt.trim().is_empty());
    if !has_prompt && (start.settings.kind == RunKind::Loop || start.prompt.is_some()) {
        return Err(StartError::Invalid {
            message: "the prompt is empty: say what to do".to_owned(),
            exit_code: 64,
        });
    }
    if let Some(earlier) = start.run_id.as_deref().and_then(|id| home.run(id))
        && adopt(&earlier, START_LIMIT).await?
    {
        return Ok(Started {
            run_id: earlier.id().to_owned(),
            warnings: Vec::new(),
        });
    }
    // What a person must fix is told before anything is kept.
    let chosen = prepare::choose(&start.settings, versions).await?;
    let directory = match &start.run_id {
        Some(id) => home.create_run_as(id).context("cannot keep the run")?,
        None => prepare::new_directory(home)?,
    };
    let mut runner = match spawn_runner(&directory, start) {
        Ok(runner) => runner,
        Err(error) => {
            let _ = std::fs::remove_dir_all(directory.path());
            return Err(error.into());
        }
    };
    if let Err(error) = wait_until_there(&directory, &mut runner, START_LIMIT).await {
        undo(&directory, &mut runner).await;
        return Err(error);
    }
    // Nobody waits for it, but somebody has to take note of its end.
    tokio::spawn(async move { runner.wait().await });
    Ok(Started {
        run_id: directory.id().to_owned(),
        warnings: chosen.warnings,
    })
}

/// Waits for a run that was begun under this name by somebody who did not live to see it start. False if nobody starts
/// it any more; nothing is left of it then.
async fn adopt(directory: &RunDirectory, limit: Duration) -> Result<bool, StartError> {
    let deadline = tokio::time::Instant::now() + limit;
    loop {
        let has_begun = directory.run_file().exists()
            || std::fs::metadata(directory.journal()).is_ok_and(|journal| journal.len() > 0);
        if has_begun || ControlClient::connect(directory.socket()).await.is_ok() {
            return Ok(true);
        }
        if !is_being_started(directory)? {
            let _killed = agent_process::sweep(directory.id());
            std::fs::remove_dir_all(directory.path()).context("cannot remove what is left of a run")?;
            return Ok(false);
        }
        if tokio::time::Instant::now() >= deadline {
            let message = "the run is being started and has not begun; ask again later".to_owned();
            return Err(StartError::Busy {
                message,
                holder: None,
            });
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Whether there is a runner: it has the log that it was given for as long as it lives, and so has its lock.
///
/// # Errors
/// When nobody can tell: then there may be one.
fn is_being_started(directory: &RunDirectory) -> anyhow::Result<bool> {
    let path = directory.path().join(LOG_FILE);
    let log = match File::open(&path) {
        // Nobody got as far as that.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        opened => opened.with_context(|| format!("cannot open `{}`", path.display()))?,
    };
    Ok(!is_lock_free(log.try_lock(), &path)?)
}

/// Whether a lock was to be had. Only one that is taken says that somebody has it.
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
        "somebody else starts this run"
    );
    let file = private(&directory.path().join(REQUEST_FILE))?;
    serde_json::to_writer(&file, start)?;
    let program = std::env::current_exe().context("cannot find this program")?;
    let mut command = Command::new(program);
    command
        .arg("__runner")
        .arg(directory.id())
        .current_dir(&start.settings.workspace)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    for name in withheld() {
        command.env_remove(name);
    }
    command.spawn().context("cannot start the runner")
}

/// Waits until the runner answers, or has been there.
async fn wait_until_there(
    directory: &RunDirectory,
    runner: &mut Child,
    limit: Duration,
) -> Result<(), StartError> {
    let deadline = tokio::time::Instant::now() + limit;
    loop {
        if ControlClient::connect(directory.socket()).await.is_ok() {
            return Ok(());
        }
        let ended = runner.try_wait().context("cannot watch the runner")?;
        if ended.is_some() {
            if directory.run_file().exists() {
                return Ok(());
            }
            return Err(told_error(directory));
        }
        if tokio::time::Instant::now() >= deadline {
            let said = said(directory);
            let mut message = format!("the runner did not answer within {} s", limit.as_secs());
            if !said.is_empty() {
                message = format!("{message}; it said: {said}");
            }
            return Err(StartError::Other { message });
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Whoever is told that a run did not start may start it again: nothing of this one goes on, and nothing is left.
async fn undo(directory: &RunDirectory, runner: &mut Child) {
    // One that has ended cannot be killed, and need not be.
    let _ = runner.kill().await;
    let _killed = agent_process::sweep(directory.id());
    let _ = std::fs::remove_file(directory.socket());
    let _ = std::fs::remove_dir_all(directory.path());
}

/// Why the runner has ended: in its own words, else by what it wrote.
fn told_error(directory: &RunDirectory) -> StartError {
    let told = std::fs::read(directory.path().join(ERROR_FILE))
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok());
    told.unwrap_or_else(|| {
        let message = said(directory);
        StartError::Other { message }
    })
}

/// What the runner wrote to its log.
fn said(directory: &RunDirectory) -> String {
    let said = std::fs::read_to_string(directory.path().join(LOG_FILE)).unwrap_or_default();
    said.trim().trim_start_matches("ralph: ").to_owned()
}

/// The runner's side: what it was given.
pub(super) fn take_request(directory: &RunDirectory) -> anyhow::Result<(Settings, Beginning)> {
    let path = directory.path().join(REQUEST_FILE);
    let text = std::fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let Start {
        settings,
        prompt,
        resumed_from,
        run_id: _,
    } = serde_json::from_slice(&text)?;
    let beginning = Beginning { prompt, resumed_from };
    Ok((settings, beginning))
}

/// The runner's side: the journal has what it was given, redacted.
pub(super) fn forget_request(directory: &Path) {
    let _ = std::fs::remove_file(directory.join(REQUEST_FILE));
}

/// The runner's side: whoever started it is told why it ends.
pub(super) fn tell_error(directory: &RunDirectory, error: &anyhow::Error) {
    let file = private(&directory.path().join(ERROR_FILE));
    // If that cannot be written, there is still what stands in its log.
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

    use super::{LOG_FILE, StartError, adopt, is_lock_free, undo, wait_until_there};

    #[tokio::test]
    async fn of_a_runner_that_never_answers_nothing_is_left() {
        let place = tempfile::tempdir().unwrap();
        let home = Home::new(place.path().join("state"), None);
        let directory = home.create_run(jiff::Timestamp::now()).unwrap();
        std::fs::write(directory.path().join(LOG_FILE), "ralph: waiting\n").unwrap();
        let mut runner = tokio::process::Command::new("/bin/sleep")
            .arg("600")
            .env_clear()
            .spawn()
            .unwrap();
        let waited = wait_until_there(&directory, &mut runner, Duration::ZERO).await;
        let Err(StartError::Other { message }) = waited else {
            unreachable!("{waited:?}")
        };
        assert_eq!(message, "the runner did not answer within 0 s; it said: waiting");
        undo(&directory, &mut runner).await;
        assert!(!directory.path().exists());
        // It has been waited for: a process that is gone has no number.
        assert_eq!(runner.id(), None);
    }

    #[tokio::test]
    async fn a_run_of_which_nobody_can_tell_whether_it_is_being_started_is_left_alone() {
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
    fn only_a_lock_that_is_taken_says_that_somebody_has_it() {
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
    async fn a_run_that_was_begun_by_somebody_else_is_waited_for_and_removed_if_nobody_starts_it() {
        let place = tempfile::tempdir().unwrap();
        let home = Home::new(place.path().join("state"), None);
        let id = home.new_run_id(jiff::Timestamp::now());
        let directory = home.create_run_as(&id).unwrap();
        // Nobody got as far as starting a runner.
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
