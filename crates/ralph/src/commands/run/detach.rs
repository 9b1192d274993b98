//! A run in the background.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use ralph_run::{Home, Record, RunDirectory, Sink};

use super::launch::{self, Start, Started, start_detached};
use super::prepare::{self, Prepared};
use super::settling::Settling;
use super::signals;
use crate::console::{write_stderr, write_stdout};
use crate::failure::Failure;
use crate::settings::{Output, Settings, Verbosity, View};
use crate::versions::{VersionCheck, VersionFile};

/// Starts a runner of its own and says what it is called.
pub(super) async fn execute(
    home: &Home,
    settings: Settings,
    prompt: Option<String>,
    versions: Option<&VersionFile>,
) -> anyhow::Result<u8> {
    let start = Start {
        settings,
        prompt,
        resumed_from: None,
        run_id: None,
    };
    let started = start_detached(home, &start, versions).await;
    let Started { run_id, warnings } = started.map_err(|error| Failure {
        exit_code: error.exit_code(),
        message: error.to_string(),
    })?;
    let view = &start.settings.view;
    if view.verbosity != Verbosity::Quiet {
        for warning in &warnings {
            write_stderr(&format!("ralph: {warning}\n"));
        }
    }
    tell(view, &run_id);
    Ok(0)
}

fn tell(view: &View, id: &str) {
    match view.output {
        Output::Json => write_stdout(&format!("{}\n", serde_json::json!({"run_id": id}))),
        Output::Text if view.verbosity == Verbosity::Quiet => {}
        Output::Text => {
            write_stdout(&format!("{id}\n"));
            write_stderr(&format!(
                "ralph: `ralph attach {id}` shows it, `ralph stop {id}` ends it\n"
            ));
        }
    }
}

/// Nobody watches from here; the journal has everything.
struct Unwatched {
    settling: Settling,
    version_check: Option<VersionCheck>,
}

impl Sink for Unwatched {
    fn record(&mut self, record: &Record) {
        if let Some(check) = &self.version_check {
            check.record(record);
        }
    }

    fn tick(&mut self) {
        self.settling.tick();
    }

    /// Nothing is drawn: many such runs at once cost little only if each sleeps.
    fn tick_interval(&self) -> Duration {
        Duration::from_secs(1)
    }
}

/// `ralph __runner ID`: the process behind a run in the background.
///
/// # Errors
/// When the run could not begin.
pub async fn runner(home: &Home, versions: Option<VersionFile>, id: &Path) -> anyhow::Result<u8> {
    let directory = home.find(&id.to_string_lossy())?;
    let path = directory.path().to_owned();
    let begun = begin(home, &directory, versions).await;
    if let Err(error) = &begun {
        launch::tell_error(&directory, error);
    }
    let (prepared, mut unwatched) = begun?;
    let Prepared {
        mut spec,
        run_file,
        locks,
        warnings,
    } = prepared;
    // Whoever started it may be a server, and looks at the run later.
    spec.warnings = warnings;
    launch::forget_request(&path);
    let mut signals = signals::listen(signals::all(), |_| {})?;
    // As a task it is woken without a system call, unlike what the runtime itself waits for.
    let driving =
        tokio::spawn(async move { ralph_run::drive(spec, run_file, &mut unwatched, &mut signals).await });
    let ended = driving.await.context("the run has failed")??;
    drop(locks);
    Ok(ended.exit_code)
}

async fn begin(
    home: &Home,
    directory: &RunDirectory,
    versions: Option<VersionFile>,
) -> anyhow::Result<(Prepared, Unwatched)> {
    let (settings, beginning) = launch::take_request(directory)?;
    let chosen = prepare::choose(&settings, versions.as_ref()).await?;
    let unwatched = Unwatched {
        settling: Settling::default(),
        version_check: chosen.version_check(versions),
    };
    let prepared = prepare::prepare(home, directory.clone(), &settings, beginning, chosen)?;
    Ok((prepared, unwatched))
}
