//! Requests that no process is started for.

use std::path::PathBuf;

use crate::capabilities::Feature;
use crate::version::Version;

/// Why a request was refused before anything was started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The CLI would exit with an error.
    #[error("the prompt is empty: say what to do")]
    EmptyPrompt,
    /// The CLI takes no more by stdin.
    #[error(
        "the prompt is too long: put its bulk into a file and name the file in the prompt: {bytes} of {limit} bytes"
    )]
    PromptTooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// No program can be given a NUL byte.
    #[error("a NUL byte in {what}: remove it")]
    NulByte {
        /// Which part of the request.
        what: &'static str,
    },
    /// A value without content.
    #[error("a blank value: leave the option out instead: `{option}`")]
    BlankValue {
        /// For which option.
        option: &'static str,
    },
    /// One argument cannot be so long, and this version of the CLI cannot read it from a file.
    #[error(
        "a value is too long for the command line: shorten it or update Claude Code (`claude update`): `{option}`, {bytes} of {limit} bytes"
    )]
    ArgumentTooLong {
        /// For which option.
        option: &'static str,
        /// How long option and value are.
        bytes: usize,
        /// How long they may be.
        limit: usize,
    },
    /// The installed CLI is too old.
    #[error("{feature} needs Claude Code {since} or newer: run `claude update`; installed is {}", version_or_unknown(*.version), since = .feature.since())]
    Unsupported {
        /// What it cannot do.
        feature: Feature,
        /// The installed version.
        version: Option<Version>,
    },
    /// An extra argument that would change how this library talks to the CLI.
    #[error(
        "an extra argument that this library sets itself: leave it out, or set it in the options: `{argument}`"
    )]
    ReservedArgument {
        /// The option's name.
        argument: &'static str,
    },
    /// An extra argument that is no option. The CLI could take it for part of the prompt.
    #[error(
        "an extra argument that is no option: write `--option=value` as one argument: argument {position}"
    )]
    BareArgument {
        /// Which one, from 1; those of the client's defaults come first.
        position: usize,
    },
    /// The spool is the raw log.
    #[error("the spool transport needs a raw log: set `raw_log`")]
    SpoolWithoutLog,
    /// A system prompt file could not be read.
    #[error("cannot read the system prompt: check the path: `{}`", path.display())]
    SystemPromptFile {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

fn version_or_unknown(version: Option<Version>) -> String {
    version.map_or_else(|| "of unknown version".to_owned(), |version| version.to_string())
}
