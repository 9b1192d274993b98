//! `Error`: why a call failed. `NoResult`: what is known of a run that ended without a result.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_client::Tokens;
use agent_process::{Exit, SpawnError};

use super::redacted_text::RedactedText;
use super::request::RequestError;
use crate::input::UnsuitableInput;
use crate::probe::ProbeError;

/// Why a call failed. A process that ran and exited with a failure is not an error: see its exit status.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request was rejected, and nothing was started.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The CLI did not report its version.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// The process could not be started.
    #[error(transparent)]
    Spawn(SpawnError),
    /// A file that the process needs could not be written.
    #[error("cannot write a temporary file: free some space, or set `TMPDIR`")]
    TemporaryFile {
        /// The system's error.
        source: io::Error,
    },
    /// The run timed out, and the process and all it started were stopped.
    #[error("timed out after {} seconds: allow more time, or ask for less", .timeout.as_secs_f64())]
    TimedOut {
        /// The time limit.
        timeout: Duration,
        /// The end of stderr.
        stderr_tail: RedactedText,
    },
    /// The process closed its output but did not exit, and was stopped.
    #[error("Claude Code closed its output without exiting and was stopped: run it by hand to see why")]
    Lingered {
        /// The end of stderr.
        stderr_tail: RedactedText,
    },
    /// The run was lost because its runtime was shut down.
    #[error("the run was lost: its runtime was shut down")]
    Lost,
    /// The process ended without reporting the result of its turn.
    #[error(transparent)]
    NoResult(Box<NoResult>),
    /// The session no longer takes messages: it was closed, or its process is gone.
    #[error("the session is closed: start another one, or resume it by its id")]
    Closed,
    /// A tool's input cannot be sent back.
    #[error(transparent)]
    UnsuitableInput(#[from] UnsuitableInput),
    /// A message without content.
    #[error("the message is empty")]
    EmptyMessage,
    /// The CLI did not do what a control request asked.
    #[error("the CLI refused the control request `{subtype}`{}", Code(.code.as_deref()))]
    Refused {
        /// The subtype of the request.
        subtype: String,
        /// The reason, as the CLI words it.
        message: RedactedText,
        /// The reason as a code, for example `unsupported_request`.
        code: Option<String>,
    },
    /// The CLI did not answer a control request. Versions before 2.1.83 do not answer what they do not know.
    #[error("no answer to the control request `{subtype}` within {} seconds: the CLI is busy or too old for it", .deadline.as_secs_f64())]
    Unanswered {
        /// The subtype of the request.
        subtype: String,
        /// The time limit for an answer.
        deadline: Duration,
    },
    /// The CLI did not read a message or an answer. It does not read while no one takes its events.
    #[error("the CLI did not read what was sent within {} seconds: take its events meanwhile, or stop it", .deadline.as_secs_f64())]
    Unread {
        /// The time limit for reading.
        deadline: Duration,
    },
}

impl From<SpawnError> for Error {
    fn from(error: SpawnError) -> Self {
        match error {
            // The message should say what to install.
            SpawnError::NotFound { program } => Self::Probe(ProbeError::NotFound { program }),
            other => Self::Spawn(other),
        }
    }
}

/// A process that ended without a `result`, and what it wrote until then.
#[derive(Debug, thiserror::Error)]
#[error("the run ended without a result ({exit}){}", Log(.raw_log.as_deref()))]
#[non_exhaustive]
pub struct NoResult {
    /// The file with the whole output, if one was asked for.
    pub raw_log: Option<PathBuf>,
    /// How the process ended.
    pub exit: Exit,
    /// The text that the model had written until then.
    pub stream_text: RedactedText,
    /// The session, if it started. It can be resumed.
    pub session_id: Option<String>,
    /// The tokens it used until then, as a low estimate. The cost is not known.
    pub usage: Tokens,
    /// The end of stderr; [`RedactedText::last_line`] often says what is wrong.
    pub stderr_tail: RedactedText,
}

struct Log<'a>(Option<&'a Path>);

impl fmt::Display for Log<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(path) => write!(formatter, ": read its log `{}`", path.display()),
            None => formatter.write_str(": set `raw_log` to keep its output"),
        }
    }
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
    use agent_client::Tokens;
    use agent_process::Exit;
    use std::time::Duration;

    #[test]
    fn a_missing_result_names_the_log_and_quotes_nothing() {
        let error = Error::NoResult(Box::new(NoResult {
            raw_log: Some("/logs/1.ndjson".into()),
            exit: Exit::Code(1),
            stream_text: "secret answer".to_owned().into(),
            session_id: None,
            usage: Tokens::default(),
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
        insta::assert_snapshot!(timed_out, @"timed out after 1.5 seconds: allow more time, or ask for less");
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
