//! `Child`: the pump's view of a child process, guarded or not.

use std::io;
use std::path::PathBuf;

use tokio::process::Command;

use crate::error::SpawnError;
use crate::exit::WaitStatus;
#[cfg(target_os = "linux")]
use crate::guard::{Guarded, Report};
use crate::portable::Portable;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChildEvent {
    /// The child exited. `descendants` is how many of them are still alive, if known.
    Exited {
        status: WaitStatus,
        descendants: Option<u32>,
    },
    /// All descendants are gone, except `remaining` ones that could not be killed.
    Gone { killed: u32, remaining: u32 },
    /// The child and its descendants are stopped.
    Frozen,
    /// The guard is gone, so the child's status will never be known.
    Lost,
}

/// A signal for a child. An enum of our own because the numbers differ between systems and Windows has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChildSignal {
    Interrupt,
    Terminate,
    Suspend,
    Continue,
}

#[cfg(unix)]
impl From<ChildSignal> for rustix::process::Signal {
    fn from(signal: ChildSignal) -> Self {
        match signal {
            ChildSignal::Interrupt => Self::INT,
            ChildSignal::Terminate => Self::TERM,
            ChildSignal::Suspend => Self::STOP,
            ChildSignal::Continue => Self::CONT,
        }
    }
}

#[derive(Debug)]
pub(crate) enum Child {
    #[cfg(target_os = "linux")]
    Guarded(Guarded),
    Portable(Portable),
}

impl Child {
    /// Whether the system has signals. Without them the stop ladder has only its last step.
    pub(crate) const HAS_SIGNALS: bool = cfg!(unix);

    pub(crate) fn pid(&self) -> u32 {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(guarded) => guarded.pid.unsigned_abs(),
            Self::Portable(portable) => portable.pid(),
        }
    }

    /// Cancel-safe.
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
                Ok(Report::Frozen) => ChildEvent::Frozen,
                Ok(Report::Started { .. } | Report::Failed { .. }) | Err(_) => ChildEvent::Lost,
            },
            Self::Portable(portable) => portable.next_event().await,
        }
    }

    /// Sends a signal to the child's process group.
    pub(crate) fn signal(&self, signal: ChildSignal) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(guarded) => guarded.signal(signal.into()),
            Self::Portable(portable) => portable.signal(signal),
        }
    }

    /// Stops the child and its descendants by SIGSTOP. Returns whether [`ChildEvent::Frozen`] will follow.
    pub(crate) fn freeze(&self) -> bool {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(guarded) => {
                guarded.freeze();
                true
            }
            Self::Portable(portable) => {
                portable.signal(ChildSignal::Suspend);
                false
            }
        }
    }

    /// Continues what was frozen.
    pub(crate) fn thaw(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(guarded) => guarded.thaw(),
            Self::Portable(portable) => portable.signal(ChildSignal::Continue),
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

    /// Reaps the guard, after the last event.
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

/// Converts an error of the standard library's spawn.
pub(crate) fn spawn_failure(error: io::Error, command: &Command) -> SpawnError {
    let program = || PathBuf::from(command.as_std().get_program());
    match error.kind() {
        io::ErrorKind::NotFound => SpawnError::not_found_at_exec(program(), error),
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
        _ => SpawnError::at_fork("starting the program", error),
    }
}
