//! `RequestError`: why a request was rejected before anything was started.

use std::path::PathBuf;

use crate::capabilities::Feature;
use agent_client::Version;

/// Why a request was rejected before anything was started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The CLI would exit with an error.
    #[error("the prompt is empty")]
    EmptyPrompt,
    /// The CLI takes no more by stdin.
    #[error(
        "the prompt is too long: put its bulk into a file and name the file in the prompt: {bytes} of {limit} bytes"
    )]
    PromptTooLong {
        /// Its length.
        bytes: usize,
        /// The longest possible one.
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
    /// The argument is too long for the system, and this version of the CLI cannot read it from a file.
    #[error(
        "a value is too long for the command line: shorten it or update Claude Code (`claude update`): `{option}`, {bytes} of {limit} bytes"
    )]
    ArgumentTooLong {
        /// For which option.
        option: &'static str,
        /// The length of option and value.
        bytes: usize,
        /// The longest possible one.
        limit: usize,
    },
    /// The installed CLI is too old.
    #[error("{feature} needs Claude Code {since} or newer: run `claude update`; installed is {}", version_or_unknown(*.version), since = .feature.since())]
    Unsupported {
        /// The missing feature.
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
    /// An extra argument that is not an option. The CLI could take it for part of the prompt.
    #[error(
        "an extra argument is not an option: write `--option=value` as one argument: argument {position}"
    )]
    BareArgument {
        /// Its position from 1; those of the client's defaults come first.
        position: usize,
    },
    /// A session id that is not a UUID.
    #[error("a session id of Claude Code is a UUID, and this one is not: check the id")]
    InvalidSessionId,
    /// A setting by name that Claude Code does not have.
    #[error("unknown extension `{key}`: Claude Code has none, set the option instead")]
    UnknownExtension {
        /// The unknown key.
        key: String,
    },
    /// The spool is the raw log.
    #[error("the spool transport needs a raw log: set `raw_log`")]
    SpoolWithoutLog,
    /// A system prompt file could not be read.
    #[error("cannot read the system prompt: check the path: `{}`", path.display())]
    SystemPromptFile {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

fn version_or_unknown(version: Option<Version>) -> String {
    version.map_or_else(|| "of unknown version".to_owned(), |version| version.to_string())
}
