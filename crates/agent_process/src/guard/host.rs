//! The runner's side of a guard.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::time::Duration;

use rustix::net::SendFlags;
use rustix::process::Signal;
use tokio::io::{AsyncReadExt, Interest};
use tokio::net::UnixStream;

use super::family::{self, Member};
use super::wire::{self, ChildSpec, FailedStep, Order, REPORT_BYTES, Report};
use super::zygote::{self, Source};
use crate::error::SpawnError;
use crate::spec::Isolation;

/// How long a guard may take to start its child: fork, namespaces and exec are a matter of milliseconds.
const START_LIMIT: Duration = Duration::from_secs(20);

/// A child behind its guard.
#[derive(Debug)]
pub(crate) struct Guarded {
    control: UnixStream,
    pub(crate) pid: i32,
    /// Agent and guard as the system knows them, to find them again should the guard fail.
    members: Vec<Member>,
    frame: [u8; REPORT_BYTES],
    filled: usize,
    /// A guard that was started as a program is our child and wants to be reaped.
    process: Option<tokio::process::Child>,
}

/// What to start, resolved, as the guard's caller has it.
pub(crate) struct Resolved<'a> {
    pub(crate) program: &'a Path,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: &'a Path,
    pub(crate) isolation: Isolation,
    pub(crate) orphan_grace: Duration,
}

/// Starts the child behind a new guard. The descriptors become its stdin, stdout and stderr.
pub(crate) async fn spawn_guarded(
    source: Source,
    resolved: Resolved<'_>,
    descriptors: [BorrowedFd<'_>; 3],
) -> Result<Guarded, SpawnError> {
    let spec = child_spec(&resolved)?;
    let guard = |source| SpawnError::Guard { source };
    let (control, process) =
        zygote::new_guard(source).map_err(|error| SpawnError::at("starting the guard", error))?;
    control.set_nonblocking(true).map_err(guard)?;
    let control = UnixStream::from_std(control).map_err(guard)?;
    let mut guarded = Guarded {
        control,
        pid: 0,
        members: Vec::new(),
        frame: [0; REPORT_BYTES],
        filled: 0,
        process,
    };
    let report = tokio::time::timeout(START_LIMIT, guarded.start(&spec, descriptors))
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        .map_err(guard)?;
    match report {
        Report::Started { pid, guard } => {
            guarded.pid = pid;
            guarded.members = [pid, guard].into_iter().filter_map(family::member).collect();
            Ok(guarded)
        }
        Report::Failed { step, error } => {
            guarded.reap().await;
            Err(failure(step, io::Error::from_raw_os_error(error), &resolved))
        }
        Report::Exited { .. } | Report::Gone { .. } => Err(guard(io::ErrorKind::InvalidData.into())),
    }
}

impl Guarded {
    /// Tells a new guard what to start and waits for what came of it.
    async fn start(&mut self, spec: &ChildSpec, descriptors: [BorrowedFd<'_>; 3]) -> io::Result<Report> {
        let sent = self.send(spec, descriptors).await;
        match self.next_report().await {
            Ok(report) => Ok(report),
            // A guard that could not be forked says so and hangs up, maybe before it was told anything.
            Err(error) => Err(sent.err().unwrap_or(error)),
        }
    }

    async fn send(&self, spec: &ChildSpec, descriptors: [BorrowedFd<'_>; 3]) -> io::Result<()> {
        let body = spec.encode();
        let header = wire::header(&body)?;
        let control = &self.control;
        control
            .async_io(Interest::WRITABLE, || {
                wire::send_descriptors(control, &header, &descriptors)
            })
            .await?;
        let mut rest = body.as_slice();
        while !rest.is_empty() {
            let sent = control
                .async_io(Interest::WRITABLE, || send_some(control, rest))
                .await?;
            rest = rest.get(sent..).unwrap_or_default();
        }
        Ok(())
    }

    /// The guard's next report. Cancelling the wait loses nothing. An end of the stream is an error: the guard
    /// was killed.
    pub(crate) async fn next_report(&mut self) -> io::Result<Report> {
        loop {
            let rest = self.frame.get_mut(self.filled..).unwrap_or_default();
            match self.control.read(rest).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => self.filled += read,
            }
            if self.filled == REPORT_BYTES {
                self.filled = 0;
                return Report::decode(self.frame).ok_or_else(|| io::ErrorKind::InvalidData.into());
            }
        }
    }

    /// Sends a signal to the child's process group.
    pub(crate) fn signal(&self, signal: i32) {
        self.order(Order::Signal(signal));
    }

    /// Has the child and all its descendants killed.
    pub(crate) fn kill_all(&self) {
        self.order(Order::KillAll);
    }

    /// The guard was killed or does not answer: ends the agent and the guard, if they are still the same processes.
    pub(crate) fn kill_orphan(&self) {
        for member in &self.members {
            family::signal_member(member, Signal::KILL);
        }
    }

    /// Orders are a few bytes in an otherwise empty socket: they always fit. A guard that is gone reports itself.
    fn order(&self, order: Order) {
        let control = &self.control;
        let _ = control.try_io(Interest::WRITABLE, || send_some(control, &order.encode()));
    }

    /// Waits for a guard that is our own child; it has nothing left to do.
    pub(crate) async fn reap(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.wait().await;
        }
    }
}

/// Sends what fits. Unlike a plain write it raises no SIGPIPE when the guard is gone.
fn send_some(control: &UnixStream, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(
        control,
        bytes,
        SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
    )?)
}

fn child_spec(resolved: &Resolved<'_>) -> Result<ChildSpec, SpawnError> {
    let string = |what: &'static str, text: OsString| {
        CString::new(text.into_vec()).map_err(|_| SpawnError::NulByte { what })
    };
    let program: OsString = resolved.program.into();
    let mut args = vec![string("the program's path", program.clone())?];
    for argument in &resolved.args {
        args.push(string("an argument", argument.clone())?);
    }
    let mut env = Vec::with_capacity(resolved.env.len());
    for (name, value) in &resolved.env {
        let mut pair = name.clone();
        pair.push("=");
        pair.push(value);
        env.push(string("the environment", pair)?);
    }
    Ok(ChildSpec {
        program: string("the program's path", program)?,
        args,
        env,
        cwd: string("the working directory", resolved.cwd.into())?,
        namespace: resolved.isolation == Isolation::PidNamespace,
        orphan_grace_milliseconds: u32::try_from(resolved.orphan_grace.as_millis()).unwrap_or(u32::MAX),
    })
}

fn failure(step: FailedStep, source: io::Error, resolved: &Resolved<'_>) -> SpawnError {
    match step {
        FailedStep::Exec if source.raw_os_error() == Some(libc::E2BIG) => SpawnError::ArgumentsTooLong,
        FailedStep::Exec if source.kind() == io::ErrorKind::NotFound => SpawnError::NotFound {
            program: resolved.program.into(),
        },
        FailedStep::Exec if is_shortage(&source) => SpawnError::at("executing the program", source),
        FailedStep::Namespace if is_shortage(&source) => SpawnError::at("making a namespace", source),
        FailedStep::Exec => SpawnError::NotExecutable {
            program: resolved.program.into(),
            source: Some(source),
        },
        FailedStep::WorkingDirectory => SpawnError::BadWorkingDirectory {
            cwd: resolved.cwd.into(),
            source,
        },
        FailedStep::Namespace => SpawnError::Unsupported {
            what: "a PID namespace: it needs root or unprivileged user namespaces",
            source: Some(source),
        },
        FailedStep::Fork => SpawnError::at("forking", source),
        FailedStep::Setup => SpawnError::at("preparing the child's streams", source),
    }
}

/// Whether the system is short of something, rather than the request wrong.
fn is_shortage(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EMFILE | libc::ENFILE | libc::EAGAIN | libc::ENOMEM)
    )
}
