//! `ralph run --detach`, and `ralph __runner`, the process behind such a run.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use ralph_run::{Home, RunDirectory, Views, short_run_id};

use super::launch::{self, Start, Started, start_detached};
use super::prepare::{self, Prepared};
use super::signals;
use super::worktree;
use crate::console::{write_stderr, write_stdout};
use crate::failure::Failure;
use crate::settings::{Output, Settings, Verbosity, View};
use ralph_run::git::start_commit;

/// Carry out a run without a terminal
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct RunnerArgs {
    /// The run's id
    pub directory: PathBuf,
}

/// Starts the run in a new process and prints its id.
pub(super) async fn execute(
    home: &Home,
    settings: Settings,
    prompt: Option<String>,
    resumed_from: Option<String>,
) -> anyhow::Result<u8> {
    let view = settings.view;
    let run_id = start(home, settings, prompt, resumed_from).await?;
    print_id(&view, &run_id);
    Ok(0)
}

/// Starts the run in a new process. Gives its id.
pub(super) async fn start(
    home: &Home,
    settings: Settings,
    prompt: Option<String>,
    resumed_from: Option<String>,
) -> anyhow::Result<String> {
    let start = Start {
        settings,
        prompt,
        resumed_from,
        by: None,
        run_id: None,
    };
    let started = start_detached(home, &start).await;
    let Started { run_id, warnings } = started.map_err(|error| Failure {
        exit_code: error.exit_code(),
        message: error.to_string(),
        flag: None,
    })?;
    let view = &start.settings.view;
    if view.verbosity != Verbosity::Quiet {
        for warning in &warnings {
            write_stderr(&format!("warning: {warning}\n"));
        }
    }
    Ok(run_id)
}

fn print_id(view: &View, id: &str) {
    match view.output {
        Output::Json => write_stdout(&format!("{}\n", serde_json::json!({"run_id": id}))),
        Output::Text if view.verbosity == Verbosity::Quiet => {}
        Output::Text => {
            write_stdout(&format!("{id}\n"));
            let short = short_run_id(id);
            write_stderr(&format!(
                "ralph: watch it with `ralph attach {short}`, stop it with `ralph stop {short}`\n"
            ));
        }
    }
}

/// `ralph __runner ID`: the process behind a run in the background.
pub async fn runner(home: &Home, id: &Path) -> anyhow::Result<u8> {
    let directory = home.find(&id.to_string_lossy())?;
    let path = directory.path().to_owned();
    let begun = begin(home, &directory).await;
    if let Err(error) = &begun {
        launch::report_error(&directory, error);
    }
    let Prepared {
        mut spec,
        run_file,
        locks,
        warnings,
        notify,
    } = begun?;
    // Recorded, because the process that started it may be a server.
    spec.warnings = warnings;
    launch::forget_request(&path);
    let mut signals = signals::listen(signals::ending())?;
    let mut views = Views::default();
    let notifier = prepare::start_notifier(&notify, &spec, &mut views)?;
    // As a task it is woken without a system call, unlike what the runtime itself waits for.
    let driving = tokio::spawn(async move {
        let ended = ralph_run::drive(spec, run_file, views, &mut signals).await;
        (ended, signals)
    });
    let (ended, mut signals) = driving.await.context("the run has failed")?;
    drop(locks);
    if let Some(notifier) = notifier {
        notifier.finish(&mut signals, || {}).await;
    }
    match ended {
        Ok(ended) => Ok(ended.exit_code),
        Err(error) => {
            let error = error.into();
            launch::report_error(&directory, &error);
            Err(error)
        }
    }
}

async fn begin(home: &Home, directory: &RunDirectory) -> anyhow::Result<Prepared> {
    let (settings, first_prompt) = launch::take_request(directory)?;
    let selected = prepare::choose(&settings, Some(home)).await?;
    let mut prepared = prepare::prepare(home, directory.clone(), &settings, first_prompt, selected)?;
    prepared.spec.started.start_commit = start_commit(&settings.workspace).await;
    prepared.spec.closer = worktree::closer(home, &settings, directory.short_id()).await;
    Ok(prepared)
}
