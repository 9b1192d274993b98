//! The terminal UI: all runs of a user at a glance (the home screen), and one run in full (the run screen).
//!
//! It is a view. It owns no process and is never in the way of a run: it reads journals and sends commands to control
//! sockets, so it can be closed, killed and opened again at any time, several times at once.
//!
//! [`App`] is pure: [`App::update`] takes an [`Input`] and gives [`Effect`]s, [`App::render`] draws the state. The
//! driver ([`run()`]) reads keys and journals, performs effects and writes to the terminal.

mod app;
mod bindings;
mod dialog;
mod driver;
mod effect;
mod home;
#[cfg(test)]
mod hostile_texts;
mod input;
mod notice;
mod pointer;
mod request;
mod run;
mod theme;
mod transcript;
mod widgets;

pub use app::{App, Now};
pub use bindings::{KeyChanges, Keymap};
pub use driver::{Actions, Exit, Start, TuiError, TuiOptions, edit_file, run};
pub use effect::{Destination, Effect, StartRequest};
pub use input::{Input, LoadedRun, MouseMode, Reply, RunSummary};
pub use theme::{ColorScheme, Palette, Theme};
pub use transcript::Transcript;
