//! A run in this terminal.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent_api::Event;
use ralph_run::machine::Signal;
use ralph_run::{Home, Record, RunEnded, Sink};

use super::prepare::{self, Beginning, Prepared};
use super::settling::Settling;
use super::signals;
use crate::console::{
    ColourChoice, Console, Hurry, Mode, Options, Stdout, is_stderr_shared, terminal_width, write_stderr,
};
use crate::settings::{ColorChoice, Output, Settings, Verbosity, View};
use crate::versions::{VersionCheck, VersionFile};

/// Runs it to its end.
pub(super) async fn run(
    home: &Home,
    settings: &Settings,
    prompt: Option<String>,
    versions: Option<VersionFile>,
) -> anyhow::Result<RunEnded> {
    let chosen = prepare::choose(settings, versions.as_ref()).await?;
    let version_check = chosen.version_check(versions);
    let directory = prepare::new_directory(home)?;
    let place = directory.path().display().to_string();
    let created = directory.path().to_owned();
    let prepared = match prepare::prepare(home, directory, settings, Beginning::of(prompt), chosen) {
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
    let hurry = Hurry::default();
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let mut signals = signals::listen(signals::all(), {
        let (hurry, is_interrupted) = (hurry.clone(), Arc::clone(&is_interrupted));
        move |signal| {
            hurry.set();
            is_interrupted.fetch_or(signal == Signal::Interrupt, Ordering::Relaxed);
        }
    })?;
    let mut options = console_options(&settings.view);
    options.files = Some(place);
    let is_watched = options.mode != Mode::Quiet;
    let mut terminal = Terminal {
        console: Console::on_stdio(options, hurry),
        is_watched,
        is_interrupted,
        has_confirmed: false,
        settling: Settling::default(),
        version_check,
    };
    let ended = ralph_run::drive(spec, run_file, &mut terminal, &mut signals).await;
    terminal.console.finish();
    drop(locks);
    Ok(ended?)
}

/// The console, and whether anybody looks at it: `ralph run | head` must not wait for the agent's next word.
struct Terminal {
    console: Console,
    is_watched: bool,
    /// Ctrl-C was pressed, and nobody has said so yet.
    is_interrupted: Arc<AtomicBool>,
    has_confirmed: bool,
    settling: Settling,
    version_check: Option<VersionCheck>,
}

impl Terminal {
    /// An agent may take seconds to end its turn: whoever pressed Ctrl-C must see that it was noticed.
    fn confirm_interrupt(&mut self) {
        if self.is_interrupted.swap(false, Ordering::Relaxed) && !self.has_confirmed {
            self.has_confirmed = true;
            self.console.notice("interrupting; Ctrl-C again ends it at once");
        }
    }
}

impl Sink for Terminal {
    fn live(&mut self, event: &Event) {
        self.console.live(event);
    }

    fn record(&mut self, record: &Record) {
        self.confirm_interrupt();
        if let Some(check) = &self.version_check {
            check.record(record);
        }
        self.console.record(record);
    }

    fn tick(&mut self) {
        self.confirm_interrupt();
        self.console.tick();
        self.settling.tick();
    }

    fn is_closed(&self) -> bool {
        self.is_watched && (self.console.is_closed() || agent_process::is_stdout_deserted())
    }
}

/// How the console looks in this terminal.
pub(in crate::commands) fn console_options(view: &View) -> Options {
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
