//! Command line → process.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_process::{Control, Process, SpawnSpec, StdinMode, StdinWriter};
use tempfile::TempPath;

use super::events::Reader;
use super::handle::Completion;
use crate::argv::{self, AnyRequest, Argument, Argv, Input, MAX_ARGUMENT_BYTES, Note};
use crate::capabilities::Capabilities;
use crate::error::{Error, RequestError};
use crate::request::Options;

/// Files that the process reads. They are removed when nobody holds them any more.
pub type PromptFiles = Arc<[TempPath]>;

/// A CLI that is ready to be started: for those who start and read it by themselves.
#[derive(Debug)]
pub struct Prepared {
    /// The process.
    pub spec: SpawnSpec,
    /// Must be held until the process has exited.
    pub files: PromptFiles,
    /// What was asked for and cannot be had in full.
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

fn prepared(binary: &Path, argv: Argv, options: &Options) -> Result<Prepared, Error> {
    let (args, files) = materialise(&argv.arguments, options.cwd.as_deref())?;
    let isolation = options.isolation.unwrap_or_default();
    let mut limits = options.limits.clone().unwrap_or_default();
    limits.timeout = options.timeout;
    let mut spec = SpawnSpec::new(binary);
    spec.args = args;
    spec.cwd.clone_from(&options.cwd);
    spec.env = options.environment.policy(isolation);
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

/// A running CLI, in parts.
pub(crate) struct Launched {
    pub(crate) reader: Reader,
    pub(crate) stdin: Option<StdinWriter>,
    pub(crate) control: Control,
    pub(crate) completion: Completion,
    pub(crate) files: PromptFiles,
    pub(crate) notes: Vec<Note>,
}

/// Starts the CLI.
pub(crate) async fn launch(binary: &Path, argv: Argv, options: &Options) -> Result<Launched, Error> {
    let Prepared { spec, files, notes } = prepared(binary, argv, options)?;
    let max_line_bytes = spec.limits.max_line_bytes;
    let Process {
        output,
        stdin,
        control,
        exit,
        ..
    } = agent_process::spawn(spec).await?;
    Ok(Launched {
        reader: Reader::new(output, max_line_bytes),
        stdin,
        control,
        completion: Completion::new(exit, options.timeout, files.clone()),
        files,
        notes,
    })
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
