//! A run in the background.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use ralph_run::control::ControlClient;
use ralph_run::{Home, Record, RunDirectory, Sink};
use serde::{Deserialize, Serialize};

use super::prepare::{self, Prepared};
use super::signals;
use crate::console::{write_stderr, write_stdout};
use crate::failure::Failure;
use crate::settings::{Output, Settings, Verbosity};

/// How long a runner may take to be there.
const START_LIMIT: Duration = Duration::from_secs(20);
const LOOK_AGAIN: Duration = Duration::from_millis(10);
const REQUEST_FILE: &str = "request.json";
const LOG_FILE: &str = "runner.log";

/// What a runner is given. In a private file: a command line can be read by everybody.
#[derive(Serialize, Deserialize)]
struct Request {
    settings: Settings,
    prompt: String,
}

/// Starts a runner of its own and waits until it is there.
pub(super) async fn execute(home: &Home, settings: &Settings, prompt: &str) -> anyhow::Result<u8> {
    // What a person must fix is told here, not in a log.
    let chosen = prepare::choose(settings).await?;
    if settings.view.verbosity != Verbosity::Quiet {
        for warning in &chosen.warnings {
            write_stderr(&format!("ralph: {warning}\n"));
        }
    }
    let directory = prepare::new_directory(home)?;
    let request = Request {
        settings: settings.clone(),
        prompt: prompt.to_owned(),
    };
    let file = private(&directory.path().join(REQUEST_FILE))?;
    serde_json::to_writer(&file, &request)?;
    let log = private(&directory.path().join(LOG_FILE))?;
    let program = std::env::current_exe().context("cannot find this program")?;
    let mut runner = Command::new(program)
        .arg("__runner")
        .arg(directory.id())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .context("cannot start the runner")?;
    let deadline = tokio::time::Instant::now() + START_LIMIT;
    loop {
        if ControlClient::connect(directory.socket()).await.is_ok() {
            break;
        }
        if let Some(status) = runner.try_wait()? {
            let has_run = directory.run_file().exists();
            if has_run {
                break;
            }
            let said = std::fs::read_to_string(directory.path().join(LOG_FILE)).unwrap_or_default();
            let _ = std::fs::remove_dir_all(directory.path());
            let exit_code = status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(1);
            let message = said.trim().trim_start_matches("ralph: ").to_owned();
            return Err(Failure { message, exit_code }.into());
        }
        if tokio::time::Instant::now() >= deadline {
            bail!(
                "the runner does not answer; its log is `{}`",
                directory.path().join(LOG_FILE).display()
            );
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    tell(settings, &directory);
    Ok(0)
}

fn tell(settings: &Settings, directory: &RunDirectory) {
    let id = directory.id();
    match settings.view.output {
        Output::Json => write_stdout(&format!("{}\n", serde_json::json!({"run_id": id}))),
        Output::Text if settings.view.verbosity == Verbosity::Quiet => {}
        Output::Text => {
            write_stdout(&format!("{id}\n"));
            write_stderr(&format!(
                "ralph: `ralph attach {id}` shows it, `ralph stop {id}` ends it\n"
            ));
        }
    }
}

fn private(path: &Path) -> anyhow::Result<std::fs::File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// Nobody watches from here; the journal has everything.
struct Unwatched;

impl Sink for Unwatched {
    fn record(&mut self, _record: &Record) {}
}

/// `ralph __runner ID`: the process behind a run in the background.
///
/// # Errors
/// When the run could not begin.
pub async fn runner(home: &Home, id: &Path) -> anyhow::Result<u8> {
    let directory = home.find(&id.to_string_lossy())?;
    let path = directory.path().join(REQUEST_FILE);
    let text = std::fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let Request { settings, prompt } = serde_json::from_slice(&text)?;
    let chosen = prepare::choose(&settings).await?;
    let Prepared {
        spec,
        run_file,
        locks,
        ..
    } = prepare::prepare(home, directory, &settings, prompt, chosen)?;
    // The journal has it, redacted.
    let _ = std::fs::remove_file(path);
    let mut signals = signals::listen(signals::all(), |_| {})?;
    let ended = ralph_run::drive(spec, run_file, &mut Unwatched, &mut signals).await?;
    drop(locks);
    Ok(ended.exit_code)
}
