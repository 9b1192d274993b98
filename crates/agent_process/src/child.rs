//! One interface to a child, guarded or not.

use std::io;
use std::path::PathBuf;

use tokio::process::Command;

use crate::error::SpawnError;
use crate::exit::WaitStatus;
#[cfg(target_os = "linux")]
use crate::guard::{Guarded, Report};
use crate::portable::Portable;

/// What happens to a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChildEvent {
    /// It ended; its descendants may live on. Their number, where it is known.
    Exited {
        status: WaitStatus,
        descendants: Option<u32>,
    },
    /// All descendants are gone, but for `remaining` ones that could not be killed.
    Gone { killed: u32, remaining: u32 },
    /// Whoever watched it is gone; nothing more will be known.
    Lost,
}

/// A running child.
#[derive(Debug)]
pub(crate) enum Child {
    #[cfg(target_os = "linux")]
    Guarded(Guarded),
    Portable(Portable),
}

impl Child {
    pub(crate) fn pid(&self) -> u32 {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(guarded) => guarded.pid.unsigned_abs(),
            Self::Portable(portable) => portable.pid(),
        }
    }

    /// Whether its descendants are certain to be gone when it is reported so.
    pub(crate) fn is_guarded(&self) -> bool {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(_) => true,
            Self::Portable(_) => false,
        }
    }

    /// The next event. Cancelling the wait loses nothing.
    pub(crate) async fn next_event(&mut self) -> ChildEvent {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(guarded) => match guarded.next_report().await {
                Ok(Report::Exited { status, descendants }) => ChildEvent::Exited {
                    status: wait_status(status),
                    descendants: Some(descendants.unsigned_abs()),
                },
                Ok(Report::Gone { killed, remaining }) => ChildEvent::Gone {
                    killed: killed.unsigned_abs(),
                    remaining: remaining.unsigned_abs(),
                },
                Ok(Report::Started { .. } | Report::Failed { .. }) | Err(_) => ChildEvent::Lost,
            },
            Self::Portable(portable) => portable.next_event().await,
        }
    }

    /// Sends a signal to the child's process group.
    pub(crate) fn signal(&self, signal: i32) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(guarded) => guarded.signal(signal),
            Self::Portable(portable) => portable.signal(signal),
        }
    }

    /// Kills the child and its descendants.
    pub(crate) fn kill_all(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(guarded) => guarded.kill_all(),
            Self::Portable(portable) => portable.kill_all(),
        }
    }

    /// Kills a child whose guard is gone.
    #[cfg(target_os = "linux")]
    pub(crate) fn kill_orphan(&self) {
        match self {
            Self::Guarded(guarded) => guarded.kill_orphan(),
            Self::Portable(_) => {}
        }
    }

    /// Cleans up after the last event.
    pub(crate) async fn close(self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(mut guarded) => guarded.reap().await,
            Self::Portable(_) => {}
        }
    }
}

#[cfg(target_os = "linux")]
fn wait_status(status: i32) -> WaitStatus {
    use std::os::unix::process::ExitStatusExt;
    let status = std::process::ExitStatus::from_raw(status);
    match (status.code(), status.signal()) {
        (Some(code), _) => WaitStatus::Code(code),
        (None, signal) => WaitStatus::Signal(signal.unwrap_or_default()),
    }
}

/// Gives an error of the standard library's spawn its kind.
pub(crate) fn spawn_failure(error: io::Error, command: &Command) -> SpawnError {
    let program = || PathBuf::from(command.as_std().get_program());
    match error.kind() {
        io::ErrorKind::NotFound => SpawnError::NotFound { program: program() },
        io::ErrorKind::PermissionDenied => SpawnError::NotExecutable {
            program: program(),
            source: Some(error),
        },
        io::ErrorKind::ArgumentListTooLong => SpawnError::ArgumentsTooLong,
        #[cfg(unix)]
        _ if error.raw_os_error() == Some(libc::ENOEXEC) => SpawnError::NotExecutable {
            program: program(),
            source: Some(error),
        },
        _ => SpawnError::at("starting the program", error),
    }
}
