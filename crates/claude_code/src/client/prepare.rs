//! `prepare`: turns a request into a process to start, with the files it reads.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_client::{Environment, RunOptions};
use agent_process::{Isolation, SpawnSpec, StdinMode};
use tempfile::TempPath;

use crate::argv::{self, AnyRequest, Argument, Argv, Input, MAX_ARGUMENT_BYTES, Note};
use crate::capabilities::Capabilities;
use crate::error::{Error, RequestError};

/// Set by the CLI for its own children.
const NESTED_SESSION: &str = "CLAUDECODE";
/// Tells the CLI that there is a sandbox.
const SANDBOX: &str = "IS_SANDBOX";

/// Files that the process reads. They are removed when the last holder drops them.
pub type PromptFiles = Arc<[TempPath]>;

/// A CLI that is ready to be started, for callers that start and read it themselves.
#[derive(Debug)]
pub struct Prepared {
    /// The process.
    pub spec: SpawnSpec,
    /// Must be held until the process has exited.
    pub files: PromptFiles,
    /// Parts of the request that this version of the CLI cannot fully carry out.
    pub notes: Vec<Note>,
}

/// Turns a request into a process, for a CLI that can do this much. The request's options are all that counts.
///
/// A conversation has a pipe as its input; its messages are written with [`crate::input`].
///
/// # Errors
/// When the request cannot be carried out.
pub fn prepare<'a>(
    binary: &Path,
    request: impl Into<AnyRequest<'a>>,
    capabilities: &Capabilities,
) -> Result<Prepared, Error> {
    let request = request.into();
    let argv = argv::build(request, capabilities)?;
    prepared(binary, argv, request.options())
}

pub(super) fn prepared(binary: &Path, argv: Argv, options: &RunOptions) -> Result<Prepared, Error> {
    let (args, files) = materialise(&argv.arguments, options.cwd.as_deref())?;
    let isolation = options.isolation.unwrap_or_default();
    let mut limits = options.limits.clone().unwrap_or_default();
    limits.timeout = options.timeout;
    let mut spec = SpawnSpec::new(binary);
    spec.args = args;
    spec.cwd.clone_from(&options.cwd);
    spec.env = child_environment(&options.environment, isolation).policy();
    spec.stdin = match argv.input {
        Input::Prompt(prompt) => StdinMode::Bytes(prompt),
        Input::Messages => StdinMode::Piped,
    };
    spec.stdout = options.transport.unwrap_or_default();
    spec.raw_log.clone_from(&options.raw_log);
    spec.stderr_log.clone_from(&options.stderr_log);
    spec.limits = limits;
    spec.isolation = isolation;
    spec.marker.clone_from(&options.marker);
    Ok(Prepared {
        spec,
        files: PromptFiles::from(files),
        notes: argv.notes,
    })
}

/// The environment that the CLI gets. It never sees the mark of a surrounding session, because it would behave as if
/// it ran inside that session. `IS_SANDBOX` lets root bypass permissions; it is set only if there is a sandbox and the
/// caller did not decide otherwise.
pub(crate) fn child_environment(environment: &Environment, isolation: Isolation) -> Environment {
    let mut environment = environment.clone().remove(NESTED_SESSION);
    if isolation != Isolation::None {
        let sandbox = environment.changes.entry(SANDBOX.into());
        sandbox.or_insert_with(|| Some("1".into()));
    }
    environment
}

/// Writes and reads the files that the command line stands for.
fn materialise(arguments: &[Argument], cwd: Option<&Path>) -> Result<(Vec<OsString>, Vec<TempPath>), Error> {
    let mut args = Vec::with_capacity(arguments.len());
    let mut files = Vec::new();
    for argument in arguments {
        let (option, value) = match argument {
            Argument::Plain(argument) => {
                args.push(argument.clone());
                continue;
            }
            Argument::TextByFile { option, text } => {
                let file = write_private(text).map_err(|source| Error::TemporaryFile { source })?;
                let path = file.as_os_str().to_owned();
                files.push(file);
                (option, path)
            }
            Argument::FileByText { option, path } => (option, read_text(option, path, cwd)?.into()),
        };
        let mut argument = OsString::from(option);
        argument.push("=");
        argument.push(value);
        args.push(argument);
    }
    Ok((args, files))
}

/// A file that only this user can read.
fn write_private(text: &str) -> io::Result<TempPath> {
    let mut file = tempfile::Builder::new()
        .prefix("claude-prompt-")
        .suffix(".md")
        .tempfile()?;
    file.write_all(text.as_bytes())?;
    Ok(file.into_temp_path())
}

/// The text of a file, if one argument can hold it.
fn read_text(option: &'static str, path: &Path, cwd: Option<&Path>) -> Result<String, Error> {
    let place: PathBuf = cwd.map_or_else(|| path.to_path_buf(), |cwd| cwd.join(path));
    let room = MAX_ARGUMENT_BYTES - option.len() - "=".len();
    let unreadable = |source| RequestError::SystemPromptFile {
        path: path.to_path_buf(),
        source,
    };
    let mut bytes = Vec::new();
    std::fs::File::open(&place)
        .and_then(|file| file.take(room as u64 + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    // First the length: the cut may go through a character.
    if bytes.len() > room {
        let bytes = option.len() + "=".len() + bytes.len();
        return Err(RequestError::ArgumentTooLong {
            option,
            bytes,
            limit: MAX_ARGUMENT_BYTES,
        }
        .into());
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error.utf8_error())))?;
    if text.contains('\0') {
        return Err(RequestError::NulByte { what: option }.into());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::child_environment;
    use agent_client::Environment;
    use agent_process::{EnvPolicy, Isolation};

    fn policy(environment: &Environment, isolation: Isolation) -> EnvPolicy {
        child_environment(environment, isolation).policy()
    }

    fn set(name: &str, value: &str) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
        vec![(name.into(), value.into())]
    }

    #[test]
    fn the_mark_of_a_surrounding_session_never_reaches_the_child() {
        let nested = Environment::default().set("CLAUDECODE", "1").set("A", "1");
        let remove = vec!["CLAUDECODE".into()];
        assert_eq!(
            policy(&nested, Isolation::None),
            EnvPolicy::Inherit {
                set: set("A", "1"),
                remove
            }
        );
        let cleared = Environment::clear().set("CLAUDECODE", "1");
        assert_eq!(
            policy(&cleared, Isolation::None),
            EnvPolicy::Clear { set: vec![] }
        );
    }

    #[test]
    fn a_sandbox_is_announced_only_if_there_is_one_and_the_caller_did_not_decide() {
        let clear = Environment::clear();
        assert_eq!(policy(&clear, Isolation::None), EnvPolicy::Clear { set: vec![] });
        let announced = EnvPolicy::Clear {
            set: set("IS_SANDBOX", "1"),
        };
        assert_eq!(policy(&clear, Isolation::PidNamespace), announced);
        let decided = clear.clone().set("IS_SANDBOX", "0");
        let removed = clear.remove("IS_SANDBOX");
        for isolation in [Isolation::None, Isolation::PidNamespace] {
            let kept = EnvPolicy::Clear {
                set: set("IS_SANDBOX", "0"),
            };
            assert_eq!(policy(&decided, isolation), kept);
            assert_eq!(policy(&removed, isolation), EnvPolicy::Clear { set: vec![] });
        }
    }
}
