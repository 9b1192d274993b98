//! From arguments to a command, or to a text for the user.

use std::ffi::OsString;

use clap::{CommandFactory, Parser};

use super::command::Cli;

/// What a command line that makes no sense exits with (`EX_USAGE`).
pub const USAGE_EXIT_CODE: u8 = 64;

/// Why there is nothing to do but to print something and leave: help, version, or a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// What to print, with its line end.
    pub text: String,
    /// What to exit with.
    pub exit_code: u8,
    /// Whether it is a mistake, and so belongs on stderr.
    pub is_error: bool,
}

/// Reads a command line; its first word is the program's name.
///
/// # Errors
/// A text to print and the code to exit with.
pub fn parse<I, T>(args: I) -> Result<Cli, Stop>
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    Cli::try_parse_from(args).map_err(|error| {
        let is_error = error.use_stderr();
        Stop {
            text: error.render().to_string(),
            exit_code: if is_error { USAGE_EXIT_CODE } else { 0 },
            is_error,
        }
    })
}

/// The whole command line as data, for help pages and completions.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}
