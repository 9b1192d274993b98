//! Why a child could not be started.

use std::io;
use std::path::PathBuf;

/// Why [`spawn`](crate::spawn) failed. No child is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// No such program.
    #[error("program not found: install it or give its full path: `{}`", program.display())]
    NotFound {
        /// As it was asked for.
        program: PathBuf,
    },
    /// It exists but cannot be executed.
    #[error("program is not executable: check its mode (`chmod +x`) and format: `{}`", program.display())]
    NotExecutable {
        /// The file that was found.
        program: PathBuf,
        /// What the system said, where it was asked.
        source: Option<io::Error>,
    },
    /// The working directory is missing, not a directory, or closed to us.
    #[error("cannot start in the working directory: create it or choose another: `{}`", cwd.display())]
    BadWorkingDirectory {
        /// As it was asked for.
        cwd: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Arguments and environment exceed what the system takes (one string 128 KiB, all together about 2 MiB).
    #[error("arguments and environment are too long for the system: pass large values by stdin or a file")]
    ArgumentsTooLong,
    /// Out of file descriptors.
    #[error("too many open files: raise the limit (`ulimit -n`) or run fewer agents at once")]
    TooManyOpenFiles,
    /// Out of processes or memory.
    #[error(
        "the system cannot start another process: raise the limit (`ulimit -u`) or run fewer agents at once"
    )]
    TooManyProcesses {
        /// What the system said.
        source: io::Error,
    },
    /// A string holds a NUL byte.
    #[error("a NUL byte in {what}: no program can be given one")]
    NulByte {
        /// Which part of the request.
        what: &'static str,
    },
    /// A log file could not be created.
    #[error("cannot create the log (it must not exist yet, and its folder must): `{}`", path.display())]
    Log {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// [`StdoutMode::Spool`](crate::StdoutMode::Spool) without a raw log.
    #[error("the spool transport needs a raw log: set `raw_log`")]
    SpoolWithoutLog,
    /// Something this system or build cannot do.
    #[error("not possible here: {what}")]
    Unsupported {
        /// What was asked for and why it cannot be.
        what: &'static str,
        /// What the system said, where it was asked.
        source: Option<io::Error>,
    },
    /// The guard process did not start or died at once.
    #[error("the guard process did not start")]
    Guard {
        /// What went wrong.
        source: io::Error,
    },
    /// Anything else the system said while setting up the child.
    #[error("cannot start the program: {step}")]
    Io {
        /// What was being done.
        step: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl SpawnError {
    /// Gives an error of a set-up step its kind.
    pub(crate) fn at(step: &'static str, source: io::Error) -> Self {
        match source.raw_os_error() {
            #[cfg(unix)]
            Some(libc::EMFILE | libc::ENFILE) => Self::TooManyOpenFiles,
            #[cfg(unix)]
            Some(libc::EAGAIN | libc::ENOMEM) => Self::TooManyProcesses { source },
            _ => Self::Io { step, source },
        }
    }
}
