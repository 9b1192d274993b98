//! `Portable` on Windows: a job object.

use std::fs::OpenOptions;
use std::io;
use std::process::Stdio;

use process_wrap::tokio::{ChildWrapper, CommandWrap, JobObject, KillOnDrop};
use tokio::process::Command;

use crate::child::{ChildEvent, ChildSignal, spawn_failure};
use crate::error::SpawnError;
use crate::exit::WaitStatus;
use crate::follow::FileFollower;
use crate::spec::{SpawnSpec, StdinMode, StdoutMode};
use crate::streams::{OurEnds, OutputSource};

/// A child in a job that the system ends together with this process.
#[derive(Debug)]
pub(crate) struct Portable {
    child: Box<dyn ChildWrapper>,
    exited: bool,
    killing: bool,
}

pub(crate) fn spawn_portable(
    mut command: Command,
    spec: &SpawnSpec,
) -> Result<(Portable, OurEnds), SpawnError> {
    let input = if matches!(spec.stdin, StdinMode::Null) {
        Stdio::null()
    } else {
        Stdio::piped()
    };
    let (output, spool) = open_stdout(spec)?;
    command.stdin(input).stdout(output).stderr(Stdio::piped());
    let program = command.as_std().get_program().to_owned();
    let mut wrap = CommandWrap::from(command);
    wrap.wrap(KillOnDrop).wrap(JobObject);
    let mut child = wrap
        .spawn()
        .map_err(|error| spawn_failure(error, &Command::new(program)))?;
    let missing = || SpawnError::at("opening the child's streams", io::ErrorKind::NotFound.into());
    let stdout = match spool {
        Some(follower) => OutputSource::Spool {
            follower,
            finished: false,
        },
        None => OutputSource::Stream(Box::pin(child.stdout().take().ok_or_else(missing)?)),
    };
    let ours = OurEnds {
        stdin: child.stdin().take().map(|stdin| Box::pin(stdin) as _),
        stdout,
        stderr: Box::pin(child.stderr().take().ok_or_else(missing)?),
    };
    Ok((
        Portable {
            child,
            exited: false,
            killing: false,
        },
        ours,
    ))
}

/// The child's stdout and, for the spool, its follower.
fn open_stdout(spec: &SpawnSpec) -> Result<(Stdio, Option<FileFollower>), SpawnError> {
    let failed = |error| SpawnError::at("opening stdout", error);
    match spec.stdout {
        StdoutMode::Pipe => Ok((Stdio::piped(), None)),
        StdoutMode::Spool => {
            let path = spec.raw_log.as_deref().ok_or(SpawnError::SpoolWithoutLog)?;
            let theirs = OpenOptions::new().append(true).open(path).map_err(failed)?;
            Ok((theirs.into(), Some(FileFollower::open(path, 0).map_err(failed)?)))
        }
        StdoutMode::Pty { .. } => {
            let what = "a terminal for stdout only, on Windows: use a pipe or the spool";
            Err(SpawnError::Unsupported { what, source: None })
        }
    }
}

impl Portable {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id().unwrap_or_default()
    }

    pub(crate) async fn next_event(&mut self) -> ChildEvent {
        if !self.exited {
            // Waiting on the job would wait for all its processes, not just the child.
            let status = self.child.inner_mut().wait().await;
            self.exited = true;
            return match status {
                Ok(status) => ChildEvent::Exited {
                    status: WaitStatus::Code(status.code().unwrap_or(1)),
                    descendants: None,
                },
                Err(_) => ChildEvent::Lost,
            };
        }
        if !self.killing {
            return std::future::pending().await;
        }
        ChildEvent::Gone {
            killed: 0,
            remaining: 0,
        }
    }

    /// Windows has no signals for a process without a window or a console of ours.
    pub(crate) fn signal(&self, _signal: ChildSignal) {}

    pub(crate) fn kill_all(&mut self) {
        let _ = self.child.start_kill();
        self.killing = true;
    }
}
