//! `SpawnError`: why a child could not be started.

use std::io;
use std::path::PathBuf;

/// Why [`spawn`](crate::spawn) failed. No process is left running.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The program does not exist.
    #[error("program not found: install it or give its full path: `{}`", program.display())]
    NotFound {
        /// The program as requested.
        program: PathBuf,
    },
    /// The program exists but cannot be executed.
    #[error("program is not executable: check its mode (`chmod +x`) and format: `{}`", program.display())]
    NotExecutable {
        /// The file that was found.
        program: PathBuf,
        /// The system's error, if there was one.
        source: Option<io::Error>,
    },
    /// The program exists, but not the interpreter that a script names in its first line, or the loader that a binary
    /// was built for.
    #[error(
        "the program's interpreter or loader is missing: check the first line of a script, or install a build for \
         this system: `{}`",
        program.display()
    )]
    InterpreterMissing {
        /// The file that was found.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The working directory does not exist, is not a directory or is not accessible.
    #[error("cannot start in the working directory: create it or choose another: `{}`", cwd.display())]
    BadWorkingDirectory {
        /// The directory as requested.
        cwd: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Arguments and environment exceed the system's limits (on Linux 128 KiB per string, about 2 MiB in total).
    #[error("arguments and environment are too long for the system: pass large values by stdin or a file")]
    ArgumentsTooLong,
    /// The limit on open files is reached.
    #[error("too many open files: raise the limit (`ulimit -n`) or run fewer agents at once")]
    TooManyOpenFiles,
    /// The limit on processes is reached.
    #[error(
        "the system cannot start another process: raise the limit (`ulimit -u`) or run fewer agents at once"
    )]
    TooManyProcesses {
        /// The system's error.
        source: io::Error,
    },
    /// The system is out of memory.
    #[error("not enough memory while {step}: close other programs or run fewer agents at once")]
    OutOfMemory {
        /// The operation that failed.
        step: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// A string contains a NUL byte, which no system can pass to a program.
    #[error("{what} contains a NUL byte, which cannot be passed to a program")]
    NulByte {
        /// The part of the request.
        what: &'static str,
    },
    /// A log file could not be created.
    #[error("cannot create the log file (it must not exist yet; its directory must): `{}`", path.display())]
    Log {
        /// The log file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// [`StdoutMode::Spool`](crate::StdoutMode::Spool) without a raw log.
    #[error("the spool transport needs a raw log: set `raw_log`")]
    SpoolWithoutLog,
    /// The system or this build does not support the request.
    #[error("not supported here: {what}")]
    Unsupported {
        /// What was requested, and why it is not supported.
        what: &'static str,
        /// The system's error, if there was one.
        source: Option<io::Error>,
    },
    /// The guard process did not start or died at once.
    #[error("the guard process did not start")]
    Guard {
        /// The system's error.
        source: io::Error,
    },
    /// Any other error of the system.
    #[error("cannot start the program: {step} failed")]
    Io {
        /// The operation that failed.
        step: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

impl SpawnError {
    /// Classifies an error of a set-up step that starts no process.
    pub(crate) fn at(step: &'static str, source: io::Error) -> Self {
        match source.raw_os_error() {
            #[cfg(unix)]
            Some(libc::EMFILE | libc::ENFILE) => Self::TooManyOpenFiles,
            #[cfg(unix)]
            Some(libc::ENOMEM) => Self::OutOfMemory { step, source },
            _ => Self::Io { step, source },
        }
    }

    /// Classifies the system's "not found" for a program that was there when it was looked up.
    pub(crate) fn not_found_at_exec(program: PathBuf, source: io::Error) -> Self {
        if cfg!(unix) && program.exists() {
            Self::InterpreterMissing { program, source }
        } else {
            Self::NotFound { program }
        }
    }

    /// Classifies an error of a step that starts a process: only there does EAGAIN mean the limit on processes.
    pub(crate) fn at_fork(step: &'static str, source: io::Error) -> Self {
        match source.raw_os_error() {
            #[cfg(unix)]
            Some(libc::EAGAIN) => Self::TooManyProcesses { source },
            _ => Self::at(step, source),
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::SpawnError;
    use std::io;

    #[test]
    fn only_a_failed_fork_blames_the_limit_on_processes() {
        let again = || io::Error::from_raw_os_error(libc::EAGAIN);
        let memory = || io::Error::from_raw_os_error(libc::ENOMEM);
        let forked = SpawnError::at_fork("forking", again());
        assert!(
            matches!(forked, SpawnError::TooManyProcesses { .. }),
            "{forked:?}"
        );
        let full_socket = SpawnError::at("preparing the child's streams", again());
        assert_eq!(
            full_socket.to_string(),
            "cannot start the program: preparing the child's streams failed"
        );
        for error in [
            SpawnError::at("opening stdout", memory()),
            SpawnError::at_fork("opening stdout", memory()),
        ] {
            assert_eq!(
                error.to_string(),
                "not enough memory while opening stdout: close other programs or run fewer agents at once"
            );
        }
    }
}
