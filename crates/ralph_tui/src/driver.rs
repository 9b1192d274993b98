//! `run()`: the loop around `App`. Reads keys and journals, performs effects, writes to the terminal.

use std::io;

use ralph_run::Home;

use crate::app::App;
use crate::effect::StartRequest;
use crate::theme::Theme;

/// What only the program can do: it knows settings and servers.
pub trait Actions: Send + Sync {
    /// Starts a run in the background, and says what it is called.
    fn start(&self, request: &StartRequest) -> Result<String, String>;

    /// Continues a run's conversation in a new run, or branches off from it. Says what the new run is called.
    fn resume(&self, run: &str, is_fork: bool) -> Result<String, String>;

    /// Shows a run in the browser.
    fn open_in_browser(&self, run: &str) -> Result<(), String>;
}

/// What to show first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    Home,
    Run(String),
}

/// How the terminal UI ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// The user left. The run that was open, if it continues.
    Left { open_run: Option<String> },
    /// The terminal is gone.
    TerminalClosed,
}

#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    #[error("cannot use the terminal: {0}")]
    Terminal(#[from] io::Error),
}

/// Runs the terminal UI until the user leaves.
///
/// # Errors
/// If the terminal cannot be used.
pub async fn run(_home: &Home, _actions: &dyn Actions, theme: Theme, start: Start) -> Result<Exit, TuiError> {
    let open_run = match start {
        Start::Home => None,
        Start::Run(run) => Some(run),
    };
    let (_app, _effects) = App::new(theme, open_run.clone());
    Ok(Exit::Left { open_run })
}
