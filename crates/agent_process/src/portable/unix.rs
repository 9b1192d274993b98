//! Process groups.

use std::io;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use tokio::process::Command;

use crate::child::{ChildEvent, spawn_failure};
use crate::error::SpawnError;
use crate::exit::WaitStatus;
use crate::streams::ChildEnds;

/// A child in a process group of its own.
#[derive(Debug)]
pub(crate) struct Portable {
    child: tokio::process::Child,
    pid: Pid,
    /// Sees the exit without reaping, so that the group's number stays ours until the group was killed.
    exited: Option<ExitWatch>,
    killing: bool,
    reaped: bool,
}

pub(crate) fn spawn_portable(mut command: Command, ends: ChildEnds) -> Result<Portable, SpawnError> {
    command
        .stdin(ends.stdin)
        .stdout(ends.stdout)
        .stderr(ends.stderr)
        .process_group(0)
        .kill_on_drop(true);
    let child = command.spawn().map_err(|error| spawn_failure(error, &command))?;
    let pid = child
        .id()
        .and_then(|pid| i32::try_from(pid).ok())
        .and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| SpawnError::at("reading the child's id", io::ErrorKind::NotFound.into()))?;
    let exited = ExitWatch::new(pid).map_err(|error| SpawnError::at("watching the child", error))?;
    Ok(Portable {
        child,
        pid,
        exited: Some(exited),
        killing: false,
        reaped: false,
    })
}

/// Tells when a process has ended, without reaping it.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct ExitWatch {
    pid: Pid,
    descriptor: tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>,
}

#[cfg(target_os = "linux")]
impl ExitWatch {
    fn new(pid: Pid) -> io::Result<Self> {
        let descriptor = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())?;
        Ok(Self {
            pid,
            descriptor: crate::readiness::register(descriptor)?,
        })
    }

    async fn status(&mut self) -> io::Result<WaitStatus> {
        self.descriptor.readable().await?.retain_ready();
        wait_unreaped(self.pid)
    }
}

/// The same with a thread that waits: at most as many children as the runtime has blocking threads.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
struct ExitWatch {
    waiting: tokio::task::JoinHandle<io::Result<WaitStatus>>,
}

#[cfg(not(target_os = "linux"))]
impl ExitWatch {
    fn new(pid: Pid) -> io::Result<Self> {
        Ok(Self {
            waiting: tokio::task::spawn_blocking(move || wait_unreaped(pid)),
        })
    }

    async fn status(&mut self) -> io::Result<WaitStatus> {
        (&mut self.waiting).await?
    }
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
            let status = exited.status().await;
            self.exited = None;
            return match status {
                Ok(status) => ChildEvent::Exited {
                    status,
                    descendants: None,
                },
                Err(_) => ChildEvent::Lost,
            };
        }
        if !self.killing {
            return std::future::pending().await;
        }
        let _ = self.child.wait().await;
        self.reaped = true;
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

impl Drop for Portable {
    /// The runtime is shut down, or the child was lost sight of: the group goes with it.
    fn drop(&mut self) {
        if !self.reaped {
            self.signal(libc::SIGKILL);
        }
    }
}
