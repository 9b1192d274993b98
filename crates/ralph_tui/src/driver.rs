//! `run()`: the loop around `App`. Reads keys and journals, performs effects, writes to the terminal.

mod clipboard;
mod commands;
mod editor;
mod effects;
mod event_loop;
mod files;
mod loader;
mod panic_hook;
mod run_scanner;
mod screen;
mod signals;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use ralph_run::Home;
use terminal_input::{MouseReports, ScreenOptions, TerminalInput};

pub use self::editor::edit_file;
use self::event_loop::EventLoop;
use self::panic_hook::PanicHook;
use crate::bindings::Keymap;
use crate::effect::StartRequest;
use crate::input::MouseMode;
use crate::theme::{ColorScheme, Palette, Theme};

/// What only the program can do: it knows settings and servers. Called on threads that may wait.
pub trait Actions: fmt::Debug + Send + Sync {
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
    /// The id of a run, in full.
    Run(String),
}

#[derive(Debug, Clone)]
pub struct TuiOptions {
    pub home: Home,
    pub actions: Arc<dyn Actions>,
    pub start: Start,
    /// Where the user is: the workspace of new runs.
    pub workspace: PathBuf,
    /// The colors to use. Without any, the terminal is asked for its background.
    pub scheme: Option<ColorScheme>,
    pub mouse: MouseMode,
    /// What selects text while the mouse is ours, such as `shift`.
    pub selection_modifier: &'static str,
    pub keymap: Keymap,
    /// Whether the terminal has colors beside the sixteen that users choose.
    pub has_fixed_colors: bool,
}

/// What the terminal is asked to report.
fn mouse_reports(mode: MouseMode) -> MouseReports {
    match mode {
        MouseMode::Off => MouseReports::None,
        MouseMode::Wheel => MouseReports::WheelAsArrows,
        MouseMode::Full => MouseReports::All,
    }
}

/// How the terminal UI ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// The user left.
    Left {
        /// The run that was open, if it continues.
        open_run: Option<String>,
        /// What became of commands that were just sent, if they were not carried out.
        problems: Vec<String>,
    },
    /// The terminal is gone.
    TerminalClosed,
    /// A signal asked for the end: its number.
    Signalled(i32),
}

#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    #[error("cannot use the terminal: {0}")]
    Terminal(#[from] io::Error),
}

/// Runs the terminal UI until the user leaves. Stdin and stdout must be a terminal.
///
/// # Errors
/// If the terminal cannot be used.
pub async fn run(options: TuiOptions) -> Result<Exit, TuiError> {
    // First: a signal must not end this process in the middle of the next step.
    let signals = signals::listen()?;
    let screen = TerminalInput::open_screen(ScreenOptions {
        mouse: mouse_reports(options.mouse),
        reports_focus: true,
        reports_background: options.scheme.is_none(),
    })?;
    let terminal = screen.input.control();
    let _hook = PanicHook::install({
        let terminal = terminal.clone();
        move || terminal.close()
    });
    let palette = match options.has_fixed_colors {
        true => Palette::Fixed,
        false => Palette::Sixteen,
    };
    let theme = Theme::new(options.scheme.unwrap_or_default()).with_palette(palette);
    let theme = match (options.scheme, screen.background) {
        (None, Some(background)) => theme.on(background),
        _ => theme,
    };
    let event_loop = EventLoop::new(&options, theme, terminal)?;
    let exit = event_loop.run(screen.keys, signals).await;
    // Restores the terminal, on this way and on every other.
    drop(screen.input);
    Ok(exit)
}
