//! `Argv`: the CLI's arguments and its input, before any file is written.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use bytes::Bytes;

/// The arguments of the CLI and its input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argv {
    /// The arguments after the program's name.
    pub arguments: Vec<Argument>,
    /// What the CLI gets on stdin.
    pub input: Input,
    /// Parts of the request that this CLI cannot fulfil as asked.
    pub notes: Vec<Note>,
}

/// One argument. `Debug` shows its option but not the value, which may hold secrets.
#[derive(Clone, PartialEq, Eq)]
pub enum Argument {
    /// A plain argument.
    Plain(OsString),
    /// `option=PATH`, where PATH is a temporary file with this text that only this user can read.
    TextByFile {
        /// The option with its dashes.
        option: &'static str,
        /// The content of the file.
        text: String,
    },
    /// `option=TEXT`, where TEXT is what this file holds.
    FileByText {
        /// The option with its dashes.
        option: &'static str,
        /// The file.
        path: PathBuf,
    },
}

impl fmt::Debug for Argument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(argument) => {
                let text = argument.to_string_lossy();
                match text.split_once('=') {
                    _ if !text.starts_with('-') => formatter.write_str("Plain(…)"),
                    Some((option, _)) => write!(formatter, "Plain({option}=…)"),
                    None => write!(formatter, "Plain({text})"),
                }
            }
            Self::TextByFile { option, .. } => write!(formatter, "TextByFile({option}=…)"),
            Self::FileByText { option, path } => write!(formatter, "FileByText({option}={path:?})"),
        }
    }
}

/// What the CLI gets on stdin. `Debug` hides the prompt.
#[derive(Clone, PartialEq, Eq)]
pub enum Input {
    /// These bytes, then end of file.
    Prompt(Bytes),
    /// Messages while the process lives.
    Messages,
}

impl fmt::Debug for Input {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prompt(bytes) => write!(formatter, "Prompt({} bytes)", bytes.len()),
            Self::Messages => formatter.write_str("Messages"),
        }
    }
}

/// A part of a request that this CLI cannot fulfil as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// A system prompt is visible to all users of this machine, because the CLI cannot read it from a file.
    SystemPromptInArguments,
    /// A space was put before the prompt, so that its `/` does not run a command.
    SpaceBeforeSlash,
    /// The CLI will replace `@file` by the file if there is one of that name.
    MentionsExpanded,
    /// The CLI cannot deliver partial messages.
    NoPartialMessages,
    /// The CLI will continue under a new session id.
    NewSessionId,
}

impl Note {
    /// A code for programs.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::SystemPromptInArguments => "system_prompt_in_arguments",
            Self::SpaceBeforeSlash => "space_before_slash",
            Self::MentionsExpanded => "mentions_expanded",
            Self::NoPartialMessages => "no_partial_messages",
            Self::NewSessionId => "new_session_id",
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::SystemPromptInArguments => {
                "this version cannot read a system prompt from a file: everybody on this machine can see it"
            }
            Self::SpaceBeforeSlash => {
                "a space was put before the prompt, so that its `/` does not run a command"
            }
            Self::MentionsExpanded => "this version replaces `@file` in a prompt by the file if there is one",
            Self::NoPartialMessages => "this version does not deliver text while it is generated",
            Self::NewSessionId => "this version continues under a new session id",
        })
    }
}

impl fmt::Display for Argv {
    /// One argument per line; what stands in a file is shown as its size.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for argument in &self.arguments {
            writeln!(formatter, "{argument}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(argument) => write!(formatter, "{}", argument.display()),
            Self::TextByFile { option, text } => {
                write!(formatter, "{option}=<file with {} bytes>", text.len())
            }
            Self::FileByText { option, path } => write!(formatter, "{option}=<text of {}>", path.display()),
        }
    }
}
