//! A run in this terminal.

use std::io::IsTerminal as _;

use ralph_run::{Home, RunEnded};

use super::prepare::{self, Prepared};
use super::signals;
use crate::console::{
    ColourChoice, Console, Mode, Options, Stdout, is_stderr_shared, terminal_width, write_stderr,
};
use crate::settings::{ColorChoice, Output, Settings, Verbosity, View};

/// Runs it to its end.
pub(super) async fn run(home: &Home, settings: &Settings, prompt: String) -> anyhow::Result<RunEnded> {
    let chosen = prepare::choose(settings).await?;
    let directory = prepare::new_directory(home)?;
    let place = directory.path().display().to_string();
    let created = directory.path().to_owned();
    let prepared = match prepare::prepare(home, directory, settings, prompt, chosen) {
        Ok(prepared) => prepared,
        Err(error) => {
            // Nothing has happened in it.
            let _ = std::fs::remove_dir_all(created);
            return Err(error);
        }
    };
    let Prepared {
        spec,
        run_file,
        locks,
        warnings,
    } = prepared;
    if settings.view.verbosity != Verbosity::Quiet {
        for warning in &warnings {
            write_stderr(&format!("ralph: {warning}\n"));
        }
    }
    let mut signals = signals::listen()?;
    let mut options = console_options(&settings.view);
    options.files = Some(place);
    let mut console = Console::on_stdio(options);
    let ended = ralph_run::drive(spec, run_file, &mut console, &mut signals).await;
    console.finish();
    drop(locks);
    Ok(ended?)
}

/// How the console looks in this terminal.
pub(super) fn console_options(view: &View) -> Options {
    let mode = match (view.output, view.verbosity) {
        (Output::Json, _) => Mode::Json,
        (Output::Text, Verbosity::Quiet) => Mode::Quiet,
        (Output::Text, Verbosity::Normal) => Mode::Default,
        (Output::Text, Verbosity::Verbose) => Mode::Verbose,
    };
    let colours = match view.color {
        ColorChoice::Auto => ColourChoice::Auto,
        ColorChoice::Always => ColourChoice::Always,
        ColorChoice::Never => ColourChoice::Never,
    };
    let stdout = if std::io::stdout().is_terminal() {
        Stdout::Terminal {
            width: terminal_width(),
        }
    } else {
        Stdout::Other
    };
    let variable = |name: &str| std::env::var(name).ok();
    let mut options = Options::resolve(
        mode,
        colours,
        stdout,
        variable("TERM").as_deref(),
        variable("NO_COLOR").as_deref(),
    );
    options.is_stderr_shared = is_stderr_shared();
    options
}
