//! What can go wrong while the CLI runs.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use agent_process::{Exit, SpawnError};

use super::captured::Captured;
use super::request::RequestError;
use crate::input::UnsuitableInput;
use crate::probe::ProbeError;
use crate::usage::TokenCount;

/// Why a call failed. A process that ran and exited with an error is not one: its exit status says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request was refused; nothing was started.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The CLI did not say which version it is.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// The process could not be started.
    #[error(transparent)]
    Spawn(SpawnError),
    /// A file that the process needs could not be written.
    #[error("cannot write a temporary file: free some space, or set `TMPDIR`")]
    TemporaryFile {
        /// What the system said.
        source: io::Error,
    },
    /// The time was up, and the process and all it started were stopped.
    #[error("the time was up: allow more than {} seconds, or ask for less", .timeout.as_secs_f64())]
    TimedOut {
        /// How long it was allowed to take.
        timeout: Duration,
        /// The end of what it wrote to stderr.
        stderr_tail: Captured,
    },
    /// The process ended without saying how its turn ended.
    #[error(transparent)]
    NoResult(Box<NoResult>),
    /// The session no longer takes messages: it was closed, or its process is gone.
    #[error("the session is closed: start another one, or resume it by its id")]
    Closed,
    /// A tool's input cannot be sent back.
    #[error(transparent)]
    UnsuitableInput(#[from] UnsuitableInput),
    /// A message without content.
    #[error("the message is empty: say something")]
    EmptyMessage,
    /// The CLI did not do what a control request asked.
    #[error("the CLI refused the control request `{subtype}`{}", Code(.code.as_deref()))]
    Refused {
        /// What was asked.
        subtype: String,
        /// Why, in the CLI's words.
        message: Captured,
        /// Why, as a code, for example `unsupported_request`.
        code: Option<String>,
    },
    /// The CLI did not answer a control request. Versions before 2.1.83 do not answer what they do not know.
    #[error("no answer to the control request `{subtype}` within {} seconds: the CLI is busy or too old for it", .deadline.as_secs_f64())]
    Unanswered {
        /// What was asked.
        subtype: String,
        /// How long was waited.
        deadline: Duration,
    },
}

impl From<SpawnError> for Error {
    fn from(error: SpawnError) -> Self {
        match error {
            // The reader of this message wants to know what to install.
            SpawnError::NotFound { program } => Self::Probe(ProbeError::NotFound { program }),
            other => Self::Spawn(other),
        }
    }
}

/// A process that ended without a `result`. What it did say is kept.
#[derive(Debug, thiserror::Error)]
#[error("the run ended without a result ({exit}): read its log `{}`", raw_log.display())]
#[non_exhaustive]
pub struct NoResult {
    /// The whole output.
    pub raw_log: PathBuf,
    /// How the process ended.
    pub exit: Exit,
    /// The text that the model had written until then.
    pub stream_text: Captured,
    /// The session, if it got so far; it can be resumed.
    pub session_id: Option<String>,
    /// The tokens it used until then: a low estimate, because nobody added them up. What it cost is not known.
    pub usage: TokenCount,
    /// The end of what it wrote to stderr; [`Captured::last_line`] often says what is wrong.
    pub stderr_tail: Captured,
}

struct Code<'a>(Option<&'a str>);

impl fmt::Display for Code<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |code| write!(formatter, ": {code}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, NoResult};
    use crate::usage::TokenCount;
    use agent_process::Exit;
    use std::time::Duration;

    #[test]
    fn a_missing_result_names_the_log_and_quotes_nothing() {
        let error = Error::NoResult(Box::new(NoResult {
            raw_log: "/logs/1.ndjson".into(),
            exit: Exit::Code(1),
            stream_text: "secret answer".to_owned().into(),
            session_id: None,
            usage: TokenCount::default(),
            stderr_tail: "secret key refused".to_owned().into(),
        }));
        insta::assert_snapshot!(
            error,
            @"the run ended without a result (exited with code 1): read its log `/logs/1.ndjson`"
        );
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        let timed_out = Error::TimedOut {
            timeout: Duration::from_secs(1),
            stderr_tail: "secret".to_owned().into(),
        };
        assert!(!format!("{timed_out} {timed_out:?}").contains("secret"));
    }

    #[test]
    fn messages_say_what_to_do_next() {
        let timed_out = Error::TimedOut {
            timeout: Duration::from_millis(1500),
            stderr_tail: String::new().into(),
        };
        insta::assert_snapshot!(timed_out, @"the time was up: allow more than 1.5 seconds, or ask for less");
        let refused = Error::Refused {
            subtype: "nosuch".into(),
            message: "Unsupported control request subtype: nosuch".to_owned().into(),
            code: Some("unsupported_request".into()),
        };
        insta::assert_snapshot!(refused, @"the CLI refused the control request `nosuch`: unsupported_request");
        let missing = Error::from(agent_process::SpawnError::NotFound {
            program: "claude".into(),
        });
        insta::assert_snapshot!(missing, @"Claude Code is not installed: run `npm install -g @anthropic-ai/claude-code`, or give the full path of its program: `claude`");
    }
}
