//! Process groups.

use std::io;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use tokio::process::Command;
use tokio::task::JoinHandle;

use crate::child::ChildEvent;
use crate::error::SpawnError;
use crate::exit::WaitStatus;
use crate::streams::ChildEnds;

/// A child in a process group of its own.
#[derive(Debug)]
pub(crate) struct Portable {
    child: tokio::process::Child,
    pid: Pid,
    /// Sees the exit without reaping, so that the group's number stays ours until the group was killed.
    exited: Option<JoinHandle<io::Result<WaitStatus>>>,
    killing: bool,
}

pub(crate) fn spawn_portable(mut command: Command, ends: ChildEnds) -> Result<Portable, SpawnError> {
    command
        .stdin(ends.stdin)
        .stdout(ends.stdout)
        .stderr(ends.stderr)
        .process_group(0)
        .kill_on_drop(true);
    let child = command
        .spawn()
        .map_err(|error| super::super::child::spawn_failure(error, &command))?;
    let pid = child
        .id()
        .and_then(|pid| i32::try_from(pid).ok())
        .and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| SpawnError::at("reading the child's id", io::ErrorKind::NotFound.into()))?;
    let exited = Some(tokio::task::spawn_blocking(move || wait_unreaped(pid)));
    Ok(Portable {
        child,
        pid,
        exited,
        killing: false,
    })
}

fn wait_unreaped(pid: Pid) -> io::Result<WaitStatus> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let status = rustix::io::retry_on_intr(|| rustix::process::waitid(WaitId::Pid(pid), options))?;
    let status = status.ok_or(io::ErrorKind::NotFound)?;
    Ok(match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => WaitStatus::Code(code),
        (None, Some(signal)) => WaitStatus::Signal(signal),
        (None, None) => WaitStatus::Signal(0),
    })
}

impl Portable {
    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    pub(crate) async fn next_event(&mut self) -> ChildEvent {
        if let Some(exited) = &mut self.exited {
            let status = exited.await;
            self.exited = None;
            return match status {
                Ok(Ok(status)) => ChildEvent::Exited {
                    status,
                    descendants: None,
                },
                Ok(Err(_)) | Err(_) => ChildEvent::Lost,
            };
        }
        if !self.killing {
            return std::future::pending().await;
        }
        let _ = self.child.wait().await;
        ChildEvent::Gone {
            killed: 0,
            remaining: 0,
        }
    }

    pub(crate) fn signal(&self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal) {
            let _ = rustix::process::kill_process_group(self.pid, signal);
        }
    }

    pub(crate) fn kill_all(&mut self) {
        // The child has not been reaped, so the number still means its group.
        if !self.killing {
            self.signal(libc::SIGKILL);
            self.killing = true;
        }
    }
}
